// Float32 weights of convolutions in blocks of 16 channels, packed in every
// run: those that are no constants.  Weights are dense [Kw, Kh, Ic, Oc].
//   pack_weights  [lanes oc, IC_BLOCK ic, Kw, Kh, blocks of ic, tiles of oc],
//                 the taps of a row in the order 0, phases, 2 * phases, ..., 1,
//                 1 + phases, ...
//   pack_taps     [16 oc, Kw, Ic, Kh, blocks of oc]
// Both write 0 where there is no channel.
// pack_weights: one work-item = a channel of a tile and a block of input
// channels; dimension 0 = channel of the tile, dimension 1 = block, dimension 2
// = tile.
// pack_taps: one work-item = a block of channels; dimension 0 = block.

__kernel void pack_weights(__global const float* weights, int weights_offset,
                           __global float* packed, int packed_offset,
                           int out_channels, int channels, int kernel_w,
                           int kernel_h, int lanes, int ic_block, int in_blocks,
                           int tiles, int phases) {
  const int lane = get_global_id(0);
  const int block = get_global_id(1);
  const int tile = get_global_id(2);
  if (lane >= lanes || block >= in_blocks || tile >= tiles) return;
  const int taps = kernel_w * kernel_h;
  const int oc = tile * lanes + lane;
  const int first_ic = block * ic_block;
  const int existing =
      oc < out_channels ? min(ic_block, channels - first_ic) : 0;
  __global const float* from =
      weights + weights_offset + (oc * channels + first_ic) * taps;
  __global float* out = packed + packed_offset +
                        (tile * in_blocks + block) * taps * ic_block * lanes +
                        lane;
  for (int tap = 0; tap < taps; ++tap) {
    const int kw = tap % kernel_w;
    const int phase = kw % phases;
    const int place = tap - kw + phase * (kernel_w / phases) +
                      min(phase, kernel_w % phases) + kw / phases;
    __global float* to = out + place * ic_block * lanes;
    for (int ic = 0; ic < existing; ++ic)
      to[ic * lanes] = from[ic * taps + tap];
    for (int ic = existing; ic < ic_block; ++ic) to[ic * lanes] = 0.0f;
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
