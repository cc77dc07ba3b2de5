#include "custom_ops/box_selection.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace tim {
namespace custom_ops {
namespace {

const char kSource[] = R"(
#pragma OPENCL FP_CONTRACT OFF

#define PIECE 16    // keys that an item reads together
#define LANES 64    // candidates that are judged together
#define CHUNK 1024  // candidates that are sorted together, at most
#define BUCKETS 256

// What the items of a group share.
typedef struct {
  ulong chunk[CHUNK];   // candidates in order
  uint size;            // of chunk
  ulong next, last;     // those that remain lie between
  uint left;            // how many they are
  ulong cut;            // the last one of the next chunk
  int cut_is_known;
  uint kept;
  ulong low[GROUP], high[GROUP];
  uint found[GROUP];
  uint counts[BUCKETS];
  float4 boxes[LANES];
  uint dropped[LANES];
  ulong overlaps[LANES];  // bit j: with the candidate j before it
} Selection;

uint score_key(float score) {
  if (isnan(score)) return 0;
  uint bits = as_uint(score);
  if (bits == 0x80000000u) bits = 0;
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

bool is_selectable(float4 box) {
  return box.x <= box.z && box.y <= box.w;
}

// Candidates in order: ascending, each another number.
ulong place_of(uint key, int index) {
  return ((ulong)~key << 32) | (uint)index;
}
int index_of(ulong place) { return (int)(uint)place; }

bool overlap(float4 a, float4 b, float threshold, float half_step) {
  const float2 a_size = a.zw - a.xy;
  const float2 b_size = b.zw - b.xy;
  const float a_area = a_size.x * a_size.y;
  const float b_area = b_size.x * b_size.y;
  if (a_area <= 0 || b_area <= 0) return false;
  const float2 both = fmax(fmin(a.zw, b.zw) - fmax(a.xy, b.xy), 0.0f);
  const float common = both.x * both.y;
  const float all = a_area + b_area - common;
  return fma(-threshold, all, common) > half_step * all;
}

#define FOR_EACH_CANDIDATE(key, i)                                         \
  for (int piece = get_local_id(0); piece < count / PIECE; piece += GROUP) \
    for (int i = piece * PIECE; i < (piece + 1) * PIECE; ++i)              \
      for (uint key = keys[i]; key != 0; key = 0)

void start(__global const uint* keys, int count, __local Selection* s) {
  const int item = get_local_id(0);
  ulong low = ULONG_MAX;
  ulong high = 0;
  uint found = 0;
  FOR_EACH_CANDIDATE(key, i) {
    const ulong place = place_of(key, i);
    low = min(low, place);
    high = max(high, place);
    ++found;
  }
  s->low[item] = low;
  s->high[item] = high;
  s->found[item] = found;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item == 0) {
    for (int j = 1; j < GROUP; ++j) {
      low = min(low, s->low[j]);
      high = max(high, s->high[j]);
      found += s->found[j];
    }
    s->next = low;
    s->last = high;
    s->left = found;
    s->kept = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

// What one item does while the others wait stays a call: inlined into loops
// with barriers PoCL 3 leaves it out.
#define ONE_ITEM __attribute__((noinline)) void

// By one item: the cut behind as many whole buckets as hold at most `most`
// candidates, or, if the first of them holds more, the range of that one.
ONE_ITEM choose_cut(ulong low, ulong high, uint shift, uint most,
                    __local Selection* s) {
  uint taken = 0;
  uint bucket = 0;
  while (bucket < BUCKETS && taken + s->counts[bucket] <= most) {
    taken += s->counts[bucket++];
  }
  const ulong start_of_bucket = low + ((ulong)bucket << shift);
  if (taken > 0) {
    s->cut = start_of_bucket - 1;
    s->cut_is_known = 1;
  } else {
    s->low[0] = start_of_bucket;
    s->high[0] = min(high, start_of_bucket + (((ulong)1 << shift) - 1));
  }
}

// The range of the next candidates, at least one and at most `most`.
void find_cut(__global const uint* keys, int count, uint most,
              __local Selection* s) {
  const int item = get_local_id(0);
  if (item == 0) {
    s->cut = s->last;
    s->cut_is_known = s->left <= most;
    s->low[0] = s->next;
    s->high[0] = s->last;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  while (!s->cut_is_known) {
    const ulong low = s->low[0];
    const ulong high = s->high[0];
    const int bits = 64 - (int)clz(high - low);
    const uint shift = max(bits - 8, 0);
    for (int i = item; i < BUCKETS; i += GROUP) s->counts[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_EACH_CANDIDATE(key, i) {
      const ulong place = place_of(key, i);
      if (place >= low && place <= high) {
        atomic_inc(&s->counts[(place - low) >> shift]);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) choose_cut(low, high, shift, most, s);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// Bitonic; sizes that are no power of two are filled up.
void sort_chunk(__local Selection* s) {
  const int item = get_local_id(0);
  const int size = s->size;
  int padded = 2;
  while (padded < size) padded *= 2;
  for (int i = size + item; i < padded; i += GROUP) s->chunk[i] = ULONG_MAX;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int run = 2; run <= padded; run *= 2) {
    for (int step = run / 2; step > 0; step /= 2) {
      for (int pair = item; pair < padded / 2; pair += GROUP) {
        const int i = 2 * pair - (pair & (step - 1));
        const ulong a = s->chunk[i];
        const ulong b = s->chunk[i + step];
        const bool ascends = (i & run) == 0;
        s->chunk[i] = ascends ? min(a, b) : max(a, b);
        s->chunk[i + step] = ascends ? max(a, b) : min(a, b);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
}

void next_chunk(__global const uint* keys, int count, uint most,
                __local Selection* s) {
  find_cut(keys, count, most, s);
  const int item = get_local_id(0);
  if (item == 0) s->size = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const ulong next = s->next;
  const ulong cut = s->cut;
  FOR_EACH_CANDIDATE(key, i) {
    const ulong place = place_of(key, i);
    if (place >= next && place <= cut) {
      s->chunk[atomic_inc(&s->size)] = place;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  sort_chunk(s);
  if (item == 0) {
    s->next = cut + 1;
    s->left -= s->size;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

// By one item: of candidates base to base + width those that are kept.
ONE_ITEM keep(uint base, uint width, uint limit, __global int* kept,
              __local Selection* s) {
  uint count = s->kept;
  ulong here = 0;
  for (uint c = 0; c < width && count < limit; ++c) {
    if (s->dropped[c] || (s->overlaps[c] & here)) continue;
    here |= (ulong)1 << c;
    kept[count++] = index_of(s->chunk[base + c]);
  }
  s->kept = count;
}

// Of the chunk's candidates those that overlap none kept before.
void judge_chunk(__global const float4* boxes, uint limit, float threshold,
                 float half_step, __global int* kept, __local Selection* s) {
  const uint item = get_local_id(0);
  for (uint base = 0; base < s->size && s->kept < limit; base += LANES) {
    const uint width = min((uint)LANES, s->size - base);
    const uint before = s->kept;
    for (uint c = item; c < width; c += GROUP) {
      s->boxes[c] = boxes[index_of(s->chunk[base + c])];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint c = item; c < width; c += GROUP) {
      const float4 box = s->boxes[c];
      bool drop = false;
      for (uint k = 0; k < before && !drop; ++k) {
        drop = overlap(box, boxes[kept[k]], threshold, half_step);
      }
      ulong overlaps = 0;
      for (uint j = 0; j < c && !drop; ++j) {
        if (overlap(box, s->boxes[j], threshold, half_step)) {
          overlaps |= (ulong)1 << j;
        }
      }
      s->dropped[c] = drop;
      s->overlaps[c] = overlaps;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) keep(base, width, limit, kept, s);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
}

// The first `limit` of a list: positions in `taken`, their number in s->kept.
void take_first(__global const uint* keys, int count, uint limit,
                __global int* taken, __local Selection* s) {
  start(keys, count, s);
  while (s->left > 0 && s->kept < limit) {
    next_chunk(keys, count, CHUNK, s);
    const uint before = s->kept;
    const uint added = min(s->size, limit - before);
    for (uint i = get_local_id(0); i < added; i += GROUP) {
      taken[before + i] = index_of(s->chunk[i]);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0) s->kept = before + added;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// One group = one list of `padded` keys; `lists` of them share the `count`
// boxes of an image.  kept: `limit` indices per list, numbers: how many count.
__kernel void select_boxes(__global const uint* keys,
                           __global const float4* boxes, __global int* kept,
                           __global int* numbers, int padded, int count,
                           int lists, int limit, float threshold,
                           float half_step) {
  __local Selection s;
  const int list = get_group_id(0);
  __global const uint* own_keys = keys + list * padded;
  __global const float4* own_boxes = boxes + list / lists * count;
  __global int* own_kept = kept + list * limit;
  start(own_keys, padded, &s);
  uint most = clamp(2 * (uint)limit, (uint)LANES, (uint)CHUNK);
  while (s.left > 0 && s.kept < (uint)limit) {
    next_chunk(own_keys, padded, most, &s);
    judge_chunk(own_boxes, limit, threshold, half_step, own_kept, &s);
    most = CHUNK;
  }
  if (get_local_id(0) == 0) numbers[list] = s.kept;
}
)";

// As the kernels': operands and order of operations.
bool Overlap(const CornerBox& a, const CornerBox& b, float threshold) {
  const float a_area = (a.ymax - a.ymin) * (a.xmax - a.xmin);
  const float b_area = (b.ymax - b.ymin) * (b.xmax - b.xmin);
  if (a_area <= 0 || b_area <= 0) return false;
  const float height =
      std::fmax(std::fmin(a.ymax, b.ymax) - std::fmax(a.ymin, b.ymin), 0.0f);
  const float width =
      std::fmax(std::fmin(a.xmax, b.xmax) - std::fmax(a.xmin, b.xmin), 0.0f);
  const float common = height * width;
  return common / (a_area + b_area - common) > threshold;
}

}  // namespace

std::string BoxSelectionSource() {
  return "#define GROUP " + std::to_string(kSelectionGroup) + kSource;
}

uint32_t ScoreKey(float score) {
  if (std::isnan(score)) return 0;
  uint32_t bits = 0;
  std::memcpy(&bits, &score, sizeof(bits));
  const uint32_t sign = 0x80000000u;
  if (bits == sign) bits = 0;
  return bits & sign ? ~bits : bits | sign;
}

uint32_t LeastKeyFrom(float threshold) { return ScoreKey(threshold); }

uint32_t LeastKeyAbove(float threshold) {
  const bool is_lowest = threshold == -std::numeric_limits<float>::infinity();
  return ScoreKey(threshold) + (is_lowest ? 0 : 1);
}

float HalfStep(float threshold) {
  const float above =
      std::nextafter(threshold, std::numeric_limits<float>::infinity());
  return (above - threshold) / 2;
}

bool IsSelectable(const CornerBox& box) {
  return box.ymin <= box.ymax && box.xmin <= box.xmax;
}

std::vector<std::size_t> FirstByKey(const std::vector<uint32_t>& keys,
                                    std::size_t limit) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] != 0) order.push_back(i);
  }
  std::stable_sort(
      order.begin(), order.end(),
      [&](std::size_t a, std::size_t b) { return keys[a] > keys[b]; });
  order.resize(std::min(order.size(), limit));
  return order;
}

std::vector<std::size_t> SelectBoxes(const std::vector<uint32_t>& keys,
                                     const CornerBox* boxes, std::size_t limit,
                                     float iou_threshold) {
  std::vector<std::size_t> kept;
  for (const std::size_t i : FirstByKey(keys, keys.size())) {
    if (kept.size() == limit) break;
    const bool overlaps =
        std::any_of(kept.begin(), kept.end(), [&](std::size_t k) {
          return Overlap(boxes[i], boxes[k], iou_threshold);
        });
    if (!overlaps) kept.push_back(i);
  }
  return kept;
}

std::size_t CheckedProduct(const char* operator_name, const char* tensor,
                           const std::vector<std::size_t>& factors) {
  const std::size_t most = 0x7fffffff;
  std::size_t product = 1;
  std::string text;
  for (const std::size_t factor : factors) {
    text += (text.empty() ? "" : " * ") + std::to_string(factor);
    const bool exceeds = factor != 0 && product > most / factor;
    product = exceeds ? most + 1 : product * factor;
  }
  if (product <= most) return product;
  throw std::invalid_argument(std::string(operator_name) + ": " + tensor +
                              " would have " + text +
                              " elements, more than 2^31 - 1");
}

}  // namespace custom_ops
}  // namespace tim
