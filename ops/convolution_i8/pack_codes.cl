// Weights of convolutions of 8-bit codes, packed in every run: those that are
// no constants, dense [taps, group_channels, channels].
//   packed [4 ic, lanes oc, ic_block / 4, taps, read_blocks, tiles of oc]
// holds p of ops/elements/byte_sum.h with the zp of `table`, which code_table
// made; zp where a channel has no weight, 0 where there is no channel.
// Word 1 of the 5 that a channel has in `rules` is its weights' zero point.
// C++ twin: PackedCodeWeights(); `in_blocks` and which blocks a tile reads are
// those of conv2d_nchw16c_i8.cl.
// pack_codes, for CPUs: one work-item = a block of input channels of 16 output
// channels; dimension 0 = 16 channels, dimension 1 = block.
// pack_codes_words, for GPUs: one work-item = a word; dimension 0 = channel of
// the tile, dimension 1 = word of the channel, dimension 2 = tile.
//
// -DIN1=U8  type of the weights: U8 or I8

#include "kernels/memory16.clh"
#include "ops/convolution_i8/weight_bytes.clh"

#define RULE_WORDS 5

// Four bytes each, all alike.
typedef struct {
  uint shift;  // of signed bytes
  uint zero;   // zp
} channel_bytes;

static inline channel_bytes load_channel(__global const int* rules,
                                         __global const int* table, int oc) {
  const int zero = table[oc / 16 * 48 + oc % 16 + 32];
  const int weight_zero = rules[oc * RULE_WORDS + 1] - WEIGHT_MIDDLE;
  const channel_bytes out = {(uint)(weight_zero - zero & 0xff) * 0x01010101u,
                             (uint)(zero & 0xff) * 0x01010101u};
  return out;
}

// The word of channels `first` to first + 3 of a group, whose weights begin at
// `tap`.
static inline uint word_of(__global const uchar* tap, int first, int channels,
                           int taps, channel_bytes bytes) {
  uint word = 0;
  for (int i = 0; i < 4; ++i) {
    const int ic = first + i;
    uint byte = bytes.zero;
    if (ic >= 0 && ic < channels) {
      byte = (uint)signed_weight(tap[ic * taps]) - (bytes.shift & 0xff);
    }
    word |= (byte & 0xff) << (8 * i);
  }
  return word;
}

// The first input channel, of its group, of output channel `oc`, that block
// `block` of a tile has.
static inline int first_of_block(int oc, int tile, int block, int lanes,
                                 int ic_block, int in_blocks, int read_blocks,
                                 int group_channels, int group_outputs) {
  const int channel = tile * lanes / group_outputs * group_channels;
  const int first_block = min(channel / ic_block, in_blocks - read_blocks);
  return (first_block + block) * ic_block - oc / group_outputs * group_channels;
}

typedef struct {
  uint word;
} __attribute__((packed, aligned(1))) word_in_memory;

// Four bytes of each of 16 channels, `step` apart.
static inline uint16 gather_words(__global const uchar* p, int step) {
  uint lanes[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    lanes[i] = ((__global const word_in_memory*)(p + i * step))->word;
  }
  return vload16(0, lanes);
}

// Bytes, each less its own of `shift`.
static inline uint16 shifted(uint16 words, uint16 shift) {
  const uint16 bytes = words ^ WEIGHT_FLIP;
  return ((bytes | 0x80808080u) - (shift & 0x7f7f7f7fu)) ^
         ((bytes ^ ~shift) & 0x80808080u);
}

// Four words of one input channel, which hold four taps, become words of one
// tap, which hold four channels: those of tap i are stored at out + i * step.
static inline void store_taps(uint16 a, uint16 b, uint16 c, uint16 d,
                              uint16 shift, __global uint* out, int step) {
  const uint even = 0x00ff00ffu;
  const uint16 ab_even = (a & even) | ((b & even) << 8);
  const uint16 ab_odd = ((a >> 8) & even) | (b & ~even);
  const uint16 cd_even = (c & even) | ((d & even) << 8);
  const uint16 cd_odd = ((c >> 8) & even) | (d & ~even);
  const uint low = 0xffffu;
  TIM_VSTORE16(shifted((ab_even & low) | (cd_even << 16), shift), 0, out, uint);
  TIM_VSTORE16(shifted((ab_odd & low) | (cd_odd << 16), shift), 0, out + step,
               uint);
  TIM_VSTORE16(shifted((ab_even >> 16) | (cd_even & ~low), shift), 0,
               out + 2 * step, uint);
  TIM_VSTORE16(shifted((ab_odd >> 16) | (cd_odd & ~low), shift), 0,
               out + 3 * step, uint);
}

// All taps of four input channels of 16 output channels, `terms` apart, which
// have these weights: 1 tap, or 4 and more.
static inline void pack_whole(__global const uchar* weights, int terms,
                              int taps, uint16 shift, __global uint* out,
                              int step) {
  if (taps == 1) {
    TIM_VSTORE16(shifted(gather_words(weights, terms), shift), 0, out, uint);
    return;
  }
  for (int first = 0; first < taps; first += 4) {
    // The last ones move back, so that nothing behind the weights is read.
    const int tap = min(first, taps - 4);
    __global const uchar* from = weights + tap;
    store_taps(gather_words(from, terms), gather_words(from + taps, terms),
               gather_words(from + 2 * taps, terms),
               gather_words(from + 3 * taps, terms), shift, out + tap * step,
               step);
  }
}

__kernel void pack_codes(__global const uchar* weights, int weights_offset,
                         __global const int* rules, int rules_offset,
                         __global const int* table, int table_offset,
                         __global uint* packed, int packed_offset, int channels,
                         int taps, int group_channels, int group_outputs,
                         int lanes, int ic_block, int in_blocks,
                         int read_blocks, int tiles) {
  const int first_oc = get_global_id(0) * 16;
  const int block = get_global_id(1);
  if (first_oc >= tiles * lanes || block >= read_blocks) return;
  const int tile = first_oc / lanes;
  const int terms = taps * group_channels;
  const int groups_of_4 = ic_block / 4;
  const int step = groups_of_4 * lanes;
  weights += weights_offset;
  rules += rules_offset;
  table += table_offset;
  packed += packed_offset + (tile * read_blocks + block) * taps * step +
            first_oc % lanes;
  const int alike = first_oc + 16 <= channels &&
                    first_oc / group_outputs == (first_oc + 15) / group_outputs;
  const int first_ic =
      first_of_block(first_oc, tile, block, lanes, ic_block, in_blocks,
                     read_blocks, group_channels, group_outputs);
  uint shifts[16];
  for (int i = 0; i < 16; ++i) {
    const int oc = first_oc + i;
    shifts[i] = oc < channels ? load_channel(rules, table, oc).shift : 0;
  }
  for (int g = 0; g < groups_of_4; ++g) {
    const int ic = first_ic + 4 * g;
    __global uint* out = packed + g * lanes;
    if (alike && ic >= 0 && ic + 4 <= group_channels &&
        (taps == 1 || taps >= 4)) {
      pack_whole(weights + first_oc * terms + ic * taps, terms, taps,
                 vload16(0, shifts), out, step);
      continue;
    }
    for (int i = 0; i < 16; ++i) {
      const int oc = first_oc + i;
      const int exists = oc < channels;
      const channel_bytes bytes =
          load_channel(rules, table, min(oc, channels - 1));
      const int own =
          first_of_block(oc, tile, block, lanes, ic_block, in_blocks,
                         read_blocks, group_channels, group_outputs) +
          4 * g;
      for (int tap = 0; tap < taps; ++tap) {
        out[tap * step + i] = exists ? word_of(weights + oc * terms + tap, own,
                                               group_channels, taps, bytes)
                                     : 0;
      }
    }
  }
}

__kernel void pack_codes_words(__global const uchar* weights,
                               int weights_offset, __global const int* rules,
                               int rules_offset, __global const int* table,
                               int table_offset, __global uint* packed,
                               int packed_offset, int channels, int taps,
                               int group_channels, int group_outputs, int lanes,
                               int ic_block, int in_blocks, int read_blocks,
                               int tiles) {
  const int lane = get_global_id(0);
  const int word = get_global_id(1);
  const int tile = get_global_id(2);
  const int groups_of_4 = ic_block / 4;
  const int words = read_blocks * taps * groups_of_4;
  if (lane >= lanes || word >= words || tile >= tiles) return;
  const int oc = tile * lanes + lane;
  const int tap = word / groups_of_4 % taps;
  const int block = word / groups_of_4 / taps;
  uint value = 0;
  if (oc < channels) {
    const int first =
        first_of_block(oc, tile, block, lanes, ic_block, in_blocks, read_blocks,
                       group_channels, group_outputs) +
        word % groups_of_4 * 4;
    value =
        word_of(weights + weights_offset + oc * group_channels * taps + tap,
                first, group_channels, taps,
                load_channel(rules + rules_offset, table + table_offset, oc));
  }
  packed[packed_offset + (tile * words + word) * lanes + lane] = value;
}
