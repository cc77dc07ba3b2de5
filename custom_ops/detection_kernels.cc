#include "custom_ops/detection_kernels.h"

#include "custom_ops/box_selection.h"

namespace tim {
namespace custom_ops {
namespace {

// Behind that of BoxSelectionSource().
const char kSource[] = R"(
#ifdef QUANTIZED
#define ELEMENT uchar
#define VALUE(code, operand) \
  ((code - TIM_ZERO_POINT_##operand) * TIM_SCALE_##operand)
#else
#define ELEMENT float
#define VALUE(code, operand) code
#endif
#define VALUE_OF(code, operand) VALUE(code, operand)
#define ENCODING(code) VALUE_OF(code, ENCODINGS)
#define SCORE(code) VALUE_OF(code, SCORES)
#define ANCHOR(code) VALUE_OF(code, INPUT2)

#if defined(cl_khr_fp64) && !defined(DECODE_IN_FLOAT)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
#else
typedef float real;
#endif

float4 decode(__global const ELEMENT* encoding, __global const ELEMENT* anchor,
              float4 scales) {
  const real ay = ANCHOR(anchor[0]);
  const real ax = ANCHOR(anchor[1]);
  const real ah = ANCHOR(anchor[2]);
  const real aw = ANCHOR(anchor[3]);
  const float yc = (float)(ENCODING(encoding[0]) / (real)scales.x * ah + ay);
  const float xc = (float)(ENCODING(encoding[1]) / (real)scales.y * aw + ax);
  const real height = exp(ENCODING(encoding[2]) / (real)scales.z);
  const real width = exp(ENCODING(encoding[3]) / (real)scales.w);
  const float half_height = (float)((real)0.5f * height * ah);
  const float half_width = (float)((real)0.5f * width * aw);
  return (float4)(yc - half_height, xc - half_width, yc + half_height,
                  xc + half_width);
}

// One item = one anchor, or one key of those that fill a list up.
#define PREPARE                                                           \
  const int n = get_global_id(0);                                         \
  const int image = get_global_id(1);                                     \
  const int at = image * anchors + n;                                     \
  bool competes = n < anchors;                                            \
  if (competes) {                                                         \
    const float4 box =                                                    \
        decode(encodings + at * columns, given_anchors + n * 4, scales);  \
    boxes[at] = box;                                                      \
    competes = is_selectable(box);                                        \
  }                                                                       \
  __global const ELEMENT* row = scores + at * score_columns + background;

__kernel void prepare_fast(__global const ELEMENT* encodings,
                           __global const ELEMENT* scores,
                           __global const ELEMENT* given_anchors,
                           __global float4* boxes, __global uint* keys,
                           int anchors, int columns, int score_columns,
                           int background, int classes, int padded,
                           uint least_key, float4 scales) {
  PREPARE
  uint best = 0;
  if (competes) {
    for (int c = 0; c < classes; ++c) {
      best = max(best, score_key(SCORE(row[c])));
    }
  }
  keys[image * padded + n] = best >= least_key ? best : 0;
}

__kernel void prepare_regular(__global const ELEMENT* encodings,
                              __global const ELEMENT* scores,
                              __global const ELEMENT* given_anchors,
                              __global float4* boxes, __global uint* keys,
                              int anchors, int columns, int score_columns,
                              int background, int classes, int padded,
                              uint least_key, float4 scales) {
  PREPARE
  for (int c = 0; c < classes; ++c) {
    const uint key = competes ? score_key(SCORE(row[c])) : 0;
    keys[(image * classes + c) * padded + n] = key >= least_key ? key : 0;
  }
}

void write_row(__global float4* boxes, __global LABEL* labels,
               __global float* scores, int row, bool is_used, float4 box,
               int label, float score) {
  boxes[row] = is_used ? box : (float4)(0);
  labels[row] = is_used ? (LABEL)label : 0;
  scores[row] = is_used ? score : 0;
}

// One item = one detection of fast NMS: an anchor with its highest classes.
__kernel void write_fast(__global const ELEMENT* scores,
                         __global const float4* boxes,
                         __global const int* kept, __global const int* numbers,
                         __global float4* row_boxes, __global LABEL* row_labels,
                         __global float* row_scores, __global LABEL* detections,
                         int anchors, int score_columns, int background,
                         int classes, int list_limit, int rows,
                         int best_classes, int first_label) {
  const int detection = get_global_id(0);
  const int image = get_global_id(1);
  const bool is_used = detection < numbers[image];
  const int anchor = is_used ? kept[image * list_limit + detection] : 0;
  const int at = image * anchors + anchor;
  __global const ELEMENT* own = scores + at * score_columns + background;
  uint key = UINT_MAX;  // of the class before
  int label = -1;
  for (int r = 0; r < best_classes; ++r) {
    uint best = 0;
    int best_label = 0;
    for (int c = 0; is_used && c < classes; ++c) {
      const uint k = score_key(SCORE(own[c]));
      const bool is_next = k < key || (k == key && c > label);
      if (!is_next || k <= best) continue;
      best = k;
      best_label = c;
    }
    write_row(row_boxes, row_labels, row_scores,
              image * rows + detection * best_classes + r, best != 0,
              boxes[at], best_label + first_label, SCORE(own[best_label]));
    key = best;
    label = best_label;
  }
  if (detection == 0) detections[image] = numbers[image];
}

// One item = one box that NMS may have kept of a class: its key, so that the
// image's best are found among those of all classes.
__kernel void gather_keys(__global const uint* keys, __global const int* kept,
                          __global const int* numbers,
                          __global uint* kept_keys, int padded, int lists,
                          int list_limit, int kept_padded) {
  const int i = get_global_id(0);
  const int image = get_global_id(1);
  const int list = image * lists + i / list_limit;
  const int rank = i % list_limit;
  uint key = 0;
  if (i < lists * list_limit && rank < numbers[list]) {
    key = keys[list * padded + kept[list * list_limit + rank]];
  }
  kept_keys[image * kept_padded + i] = key;
}

// One group = one image.
__kernel void write_regular(
    __global const ELEMENT* scores, __global const float4* boxes,
    __global const int* kept, __global const uint* kept_keys,
    __global int* taken, __global float4* row_boxes, __global LABEL* row_labels,
    __global float* row_scores, __global LABEL* detections, int anchors,
    int score_columns, int background, int lists, int list_limit,
    int kept_padded, int image_limit, int rows, int first_label) {
  __local Selection s;
  const int image = get_group_id(0);
  __global int* own = taken + image * image_limit;
  take_first(kept_keys + image * kept_padded, kept_padded, image_limit, own,
             &s);
  const int used = s.kept;
  for (int row = get_local_id(0); row < rows; row += GROUP) {
    const int i = row < used ? own[row] : 0;
    const int label = i / list_limit;
    const int anchor =
        row < used ? kept[image * lists * list_limit + i] : 0;
    const int at = image * anchors + anchor;
    write_row(row_boxes, row_labels, row_scores, image * rows + row,
              row < used, boxes[at], label + first_label,
              SCORE(scores[at * score_columns + background + label]));
  }
  if (get_local_id(0) == 0) detections[image] = used;
}
)";

}  // namespace

std::string DetectionSource() { return BoxSelectionSource() + kSource; }

}  // namespace custom_ops
}  // namespace tim
