// The rows that one head of TinyYolov4Postprocess makes: one work-item makes
// the confidences y and the box of a cell and an anchor.  `anchors` has the
// bits of {width, height} of each anchor.
//
// -DIN0=U8 -DGRID=U8 -DOUT=U8 -DBOX=U8  types of head, grid, confidences and
//                                       boxes (kernels/elements.clh)

#include "kernels/elements.clh"
#include "kernels/exact_exp.clh"

#ifndef IN0
#define IN0 F32
#endif
#ifndef GRID
#define GRID F32
#endif
#ifndef OUT
#define OUT F32
#endif
#ifndef BOX
#define BOX F32
#endif

#define CLASSES 80
#define CHANNELS 85
// Channel c of the cell and the anchor.
#define T(c) TIM_LOAD_REAL(IN0, x, (c)*cells, x_scale, x_zero)
#define STORE_BOX(k, value) \
  TIM_STORE_REAL(BOX, box, k, value, box_scale, box_inverse, box_zero)

static inline float center(float t, float at, float cell_size) {
  return (tim_sigmoid_float(t) * 1.05f - 0.025f + at) * cell_size;
}

__kernel void tiny_yolov4_head(
    __global const TIM_STORAGE(IN0) * x, int x_offset,
    __global const TIM_STORAGE(GRID) * grid, int grid_offset,
    __global const int* anchors, int anchors_offset,
    __global TIM_STORAGE(OUT) * y, int y_offset,
    __global TIM_STORAGE(BOX) * box, int box_offset, int cells, int first_row,
    float cell_size, float x_scale, int x_zero, float grid_scale, int grid_zero,
    float y_scale, float y_inverse, int y_zero, float box_scale,
    float box_inverse, int box_zero) {
  const int row = get_global_id(0);
  const int anchor = row / cells;
  if (anchor >= 3) return;
  const int cell = row - anchor * cells;
  x += x_offset + anchor * CHANNELS * cells + cell;
  grid += grid_offset;
  anchors += anchors_offset + 2 * anchor;
  y += y_offset + (first_row + row) * CLASSES;
  box += box_offset + (first_row + row) * 4;
  const float objectness = tim_sigmoid_float(T(4));
  for (int c = 0; c < CLASSES; ++c) {
    const float confidence = objectness * tim_sigmoid_float(T(5 + c));
    TIM_STORE_REAL(OUT, y, c, confidence, y_scale, y_inverse, y_zero);
  }
  const float grid_x = TIM_LOAD_REAL(GRID, grid, cell, grid_scale, grid_zero);
  const float grid_y =
      TIM_LOAD_REAL(GRID, grid, cells + cell, grid_scale, grid_zero);
  STORE_BOX(0, center(T(0), grid_x, cell_size));
  STORE_BOX(1, center(T(1), grid_y, cell_size));
  STORE_BOX(2, tim_exp_float(T(2)) * as_float(anchors[0]));
  STORE_BOX(3, tim_exp_float(T(3)) * as_float(anchors[1]));
}
