// RoiPool: the greatest element of every bin, or 0 of an empty one.  One
// work-item makes one element.
//
// -DWORD=U32   unsigned type of the result's size
// further -Ds  of ops/region/rois.clh, ops/pooling/greatest.clh,
//              ops/elements/convert.clh

#include "ops/elements/convert.clh"
#include "ops/pooling/greatest.clh"
#include "ops/region/rois.clh"

#ifndef WORD
#define WORD U32
#endif

static inline long corner(float coordinate, float scale) {
  const float at = round(coordinate * scale);
  return (long)clamp(isnan(at) ? 0.0f : at, -0x1p30f, 0x1p30f);
}

// [begin, end) of bin i of `bins` along an axis of the features.
static inline int2 bin_range(long from, long to, int i, int bins, int extent) {
  const long length = max(to - from + 1, 1L);
  const long begin = i * length / bins + from;
  const long end = ((i + 1) * length + bins - 1) / bins + from;
  return (int2)((int)clamp(begin, 0L, (long)extent),
                (int)clamp(end, 0L, (long)extent));
}

__kernel void roipool(__global const TIM_STORAGE(CELL) * x, int x_offset,
                      __global const TIM_STORAGE(ROI) * rois, int rois_offset,
                      __global TIM_STORAGE(OUT) * y, int y_offset,
                      TIM_ROI_PARAMETERS, float spatial_scale, long zero_bits,
                      TIM_CONVERT_PARAMETERS) {
  const int index = get_global_id(0);
  const int4 bin = tim_roi_bin(index, out_w, out_h, channels);
  if (bin.w >= roi_count) return;
  rois += rois_offset + 5 * bin.w;
  y += y_offset;
  const float batch_real = TIM_ROI(rois, 0);
  const int batch = convert_int_sat_rtz(isnan(batch_real) ? -1.0f : batch_real);
  int best = -1;
  if (batch >= 0 && batch < batches) {
    const int2 across =
        bin_range(corner(TIM_ROI(rois, 1), spatial_scale),
                  corner(TIM_ROI(rois, 3), spatial_scale), bin.x, out_w, w);
    const int2 down =
        bin_range(corner(TIM_ROI(rois, 2), spatial_scale),
                  corner(TIM_ROI(rois, 4), spatial_scale), bin.y, out_h, h);
    const int plane = (batch * channels + bin.z) * h;
    x += x_offset;
    TIM_CELL greatest = 0;
    for (int iy = down.x; iy < down.y; ++iy) {
      for (int ix = across.x; ix < across.y; ++ix) {
        const int at = (plane + iy) * w + ix;
        const TIM_CELL cell = TIM_LOAD_CELL(x, at);
        if (best >= 0 && !TIM_CELL_EXCEEDS(cell, greatest)) continue;
        greatest = cell;
        best = at;
      }
    }
  }
  if (best >= 0) {
    __global const TIM_STORAGE(IN0)* from = (__global const TIM_STORAGE(IN0)*)x;
    TIM_CONVERT(y, index, from, best);
  } else {
    ((__global TIM_STORAGE(WORD)*)y)[index] = (TIM_STORAGE(WORD))zero_bits;
  }
}
