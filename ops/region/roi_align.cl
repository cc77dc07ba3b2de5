// RoiAlign: the mean of the samples of every bin; those outside add 0.  One
// work-item makes a bin of up to CHANNELS channels: where its samples lie is
// the same for all.
//
// -DCHANNELS=16        on CPUs; 1 where many work-items run at once
// -DIN0=F32 -DOUT=F32  types of features and result (kernels/elements.clh)
// further -Ds          of ops/region/rois.clh, ops/indexing/indices.clh

#include "ops/indexing/indices.clh"
#include "ops/region/roi_samples.clh"
#include "ops/region/rois.clh"
#include "ops/resize/blend.clh"

#ifndef IN0
#define IN0 F32
#endif
#ifndef OUT
#define OUT F32
#endif
#ifndef CHANNELS
#define CHANNELS 1
#endif

__kernel void roialign(__global const TIM_STORAGE(IN0) * x, int x_offset,
                       __global const TIM_STORAGE(ROI) * rois, int rois_offset,
                       __global const TIM_STORAGE(INDEX) * batch_of,
                       int batch_of_offset, __global TIM_STORAGE(OUT) * y,
                       int y_offset, TIM_ROI_PARAMETERS, float index_scale,
                       int index_zero, float width_ratio, float width_inverse,
                       float height_ratio, float height_inverse,
                       float out_w_inverse, float out_h_inverse,
                       int width_samples, int height_samples, float x_scale,
                       int x_zero, float y_scale, float y_inverse, int y_zero) {
  const int chunks = (channels + CHANNELS - 1) / CHANNELS;
  const int4 bin = tim_roi_bin(get_global_id(0), out_w, out_h, chunks);
  if (bin.w >= roi_count) return;
  const int first = bin.z * CHANNELS;
  const int made = min(CHANNELS, channels - first);
  rois += rois_offset + 4 * bin.w;
  const int batch =
      tim_index(batch_of + batch_of_offset, bin.w, index_scale, index_zero);
  float sums[CHANNELS];
  for (int c = 0; c < CHANNELS; ++c) sums[c] = 0.0f;
  float count = 1.0f;
  if (batch >= 0 && batch < batches) {
    x += x_offset + (batch * channels + first) * h * w;
    const tim_roi_samples across = tim_roi_samples_of(
        TIM_ROI(rois, 0), TIM_ROI(rois, 2), width_ratio, width_inverse, bin.x,
        out_w, out_w_inverse, width_samples, w);
    const tim_roi_samples down = tim_roi_samples_of(
        TIM_ROI(rois, 1), TIM_ROI(rois, 3), height_ratio, height_inverse, bin.y,
        out_h, out_h_inverse, height_samples, h);
    const int x_begin = tim_roi_first_beyond(across, 0);
    const int x_end = tim_roi_first_beyond(across, 1);
    const int y_end = tim_roi_first_beyond(down, 1);
    for (int iy = tim_roi_first_beyond(down, 0); iy < y_end; ++iy) {
      const float at_y = tim_roi_sample_at(down, iy);
      if (!tim_roi_is_inside(down, at_y)) continue;
      const int2 rows = tim_roi_neighbours(down, at_y) * w;
      for (int ix = x_begin; ix < x_end; ++ix) {
        const float at_x = tim_roi_sample_at(across, ix);
        if (!tim_roi_is_inside(across, at_x)) continue;
        const int2 columns = tim_roi_neighbours(across, at_x);
        const float right = tim_roi_weight(across, at_x);
        const float below = tim_roi_weight(down, at_y);
        int4 at = (int4)(rows.x + columns.x, rows.x + columns.y,
                         rows.y + columns.x, rows.y + columns.y);
        for (int c = 0; c < made; ++c, at += h * w) {
          sums[c] += tim_blend(TIM_LOAD_REAL(IN0, x, at.x, 1.0f, x_zero),
                               TIM_LOAD_REAL(IN0, x, at.y, 1.0f, x_zero),
                               TIM_LOAD_REAL(IN0, x, at.z, 1.0f, x_zero),
                               TIM_LOAD_REAL(IN0, x, at.w, 1.0f, x_zero), right,
                               below);
        }
      }
    }
    count = (float)across.count * (float)down.count;
  }
  const float inverse = tim_reciprocal(count);
  int to =
      y_offset + ((bin.w * channels + first) * out_h + bin.y) * out_w + bin.x;
  for (int c = 0; c < made; ++c, to += out_h * out_w) {
    const float mean = tim_divide(sums[c], count, inverse);
    TIM_STORE_REAL(OUT, y, to, mean * x_scale, y_scale, y_inverse, y_zero);
  }
}
