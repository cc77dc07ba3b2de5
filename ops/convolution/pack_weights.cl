// Float32 weights of convolutions in blocks of 16 channels, packed in every
// run: those that are no constants.  Weights are dense [Kw, Kh, Ic, Oc].
//   pack_weights  [lanes oc, IC_BLOCK ic, Kw, Kh, blocks of ic, tiles of oc],
//                 the taps of a row in the order 0, phases, 2 * phases, ..., 1,
//                 1 + phases, ...
//   pack_taps     [16 oc, Kw, Ic, Kh, blocks of oc]
// Both write 0 where there is no channel.
// pack_weights: one work-item = a block of input channels of a tile; dimension
// 0 = block, dimension 1 = tile.
// pack_taps: one work-item = a block of channels; dimension 0 = block.

__kernel void pack_weights(__global const float* weights, int weights_offset,
                           __global float* packed, int packed_offset,
                           int out_channels, int channels, int kernel_w,
                           int kernel_h, int lanes, int ic_block, int in_blocks,
                           int tiles, int phases) {
  const int block = get_global_id(0);
  const int tile = get_global_id(1);
  if (block >= in_blocks || tile >= tiles) return;
  const int taps = kernel_w * kernel_h;
  const int first_ic = block * ic_block;
  __global float* out = packed + packed_offset +
                        (tile * in_blocks + block) * taps * ic_block * lanes;
  for (int lane = 0; lane < lanes; ++lane) {
    const int oc = tile * lanes + lane;
    __global const float* from =
        weights + weights_offset + (oc * channels + first_ic) * taps;
    for (int ic = 0; ic < ic_block; ++ic) {
      const int exists = oc < out_channels && first_ic + ic < channels;
      for (int kh = 0; kh < kernel_h; ++kh) {
        for (int kw = 0; kw < kernel_w; ++kw) {
          const int phase = kw % phases;
          const int place = kh * kernel_w + phase * (kernel_w / phases) +
                            min(phase, kernel_w % phases) + kw / phases;
          out[(place * ic_block + ic) * lanes + lane] =
              exists ? from[ic * taps + kh * kernel_w + kw] : 0.0f;
        }
      }
    }
  }
}

__kernel void pack_taps(__global const float* weights, int weights_offset,
                        __global float* packed, int packed_offset, int channels,
                        int group, int kernel_w, int kernel_h, int blocks) {
  const int block = get_global_id(0);
  if (block >= blocks) return;
  weights = weights + weights_offset;
  packed = packed + packed_offset + block * kernel_h * group * kernel_w * 16;
  for (int lane = 0; lane < 16; ++lane) {
    const int oc = block * 16 + lane;
    for (int ic = 0; ic < group; ++ic) {
      for (int kh = 0; kh < kernel_h; ++kh) {
        for (int kw = 0; kw < kernel_w; ++kw) {
          const int at = ((oc * group + ic) * kernel_h + kh) * kernel_w + kw;
          packed[((kh * group + ic) * kernel_w + kw) * 16 + lane] =
              oc < channels ? weights[at] : 0.0f;
        }
      }
    }
  }
}
