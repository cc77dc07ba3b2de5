// Weights of 8-bit codes of the phases of a transposed convolution, see
// ops/deconvolution/deconv_phases.h: [w_taps, h_taps, Ic, phases_w * phases_h *
// phase_channels], from dense [Kw, Kh, Ic, Oc]; zero points where a phase has
// no tap or no channel.  C++ twin: PhaseNodeOf().
// Tap (w, h) of phase (i, j) is tap (first_w + i - w * phases_w,
// first_h + j - h * phases_h), where there is one.  Word 1 of the 5 that a
// channel of the phases has in `rules` is its weights' zero point.
// One work-item = an input channel of a channel of the phases; dimension 0 =
// input channel, dimension 1 = channel of the phases.

#define RULE_WORDS 5

__kernel void phase_weights(__global const uchar* weights, int weights_offset,
                            __global const int* rules, int rules_offset,
                            __global uchar* phased, int phased_offset,
                            int in_channels, int out_channels, int kernel_w,
                            int kernel_h, int phase_channels, int phases_w,
                            int phases_h, int first_w, int first_h, int w_taps,
                            int h_taps) {
  const int ic = get_global_id(0);
  const int c = get_global_id(1);
  if (ic >= in_channels || c >= phases_w * phases_h * phase_channels) return;
  const int phase = c / phase_channels;
  const int oc = c % phase_channels;
  const int last_w = first_w + phase % phases_w;
  const int last_h = first_h + phase / phases_w;
  const uchar zero = (uchar)rules[rules_offset + c * RULE_WORDS + 1];
  weights += weights_offset + (min(oc, out_channels - 1) * in_channels + ic) *
                                  kernel_h * kernel_w;
  phased += phased_offset + (c * in_channels + ic) * h_taps * w_taps;
  for (int h = 0; h < h_taps; ++h) {
    const int kh = last_h - h * phases_h;
    const int row = oc < out_channels && kh >= 0 && kh < kernel_h;
    for (int w = 0; w < w_taps; ++w) {
      const int kw = last_w - w * phases_w;
      const int exists = row && kw >= 0 && kw < kernel_w;
      phased[h * w_taps + w] = exists ? weights[kh * kernel_w + kw] : zero;
    }
  }
}
