#include "ops/convolution/simt_convolution.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/checked_math.h"
#include "base/str_cat.h"
#include "ops/convolution/nchw16c.h"

namespace tim::ops {
namespace {

// Registers of one work-item for the rows that its strip spans.
constexpr int64_t kMaxSpan = 32;

// Output rows of one work-item.
int64_t StripOf(const ConvAxis& axis) {
  return axis.output >= 4 && SpanOf(axis, 4) <= kMaxSpan ? 4 : 1;
}

void WriteTaps(const Conv2dShape& shape, int64_t channels, int32_t* out) {
  for (int64_t ic = 0; ic < shape.group.channels; ic += channels) {
    for (int64_t kh = 0; kh < shape.h.kernel; ++kh) {
      for (int64_t kw = 0; kw < shape.w.kernel; ++kw, out += 4) {
        const int64_t dx = kw * shape.w.dilation;
        const int64_t dy = kh * shape.h.dilation;
        out[0] = static_cast<int32_t>(
            (ic * shape.h.input + dy) * shape.w.input + dx);
        out[1] = static_cast<int32_t>(dx);
        out[2] = static_cast<int32_t>(dy);
        out[3] =
            static_cast<int32_t>(std::min(channels, shape.group.channels - ic));
      }
    }
  }
}

}  // namespace

int64_t SimtTerms(const Conv2dShape& shape, int64_t channels) {
  return shape.w.kernel * shape.h.kernel *
         CeilDiv(shape.group.channels, channels);
}

SimtProduct SimtProductOf(const Conv2dShape& shape, int64_t channels) {
  return {.rows = shape.group.outputs,
          .columns = shape.w.output * shape.h.output * shape.batch,
          .depth = SimtTerms(shape, channels),
          .count = shape.channels / shape.group.channels};
}

ir::PackedConstant SimtTaps(const Conv2dShape& shape, int64_t channels) {
  return {
      .id = StrCat("conv2d_simt taps ", shape.w.kernel, " x ", shape.h.kernel,
                   " x ", shape.group.channels, " by ", channels, " dilation ",
                   shape.w.dilation, " ", shape.h.dilation, " input ",
                   shape.w.input, " x ", shape.h.input),
      .sources = {},
      .bytes = SimtTerms(shape, channels) * 4 * int64_t{sizeof(int32_t)},
      .pack = [shape, channels](std::span<std::byte> out) {
        WriteTaps(shape, channels, reinterpret_cast<int32_t*>(out.data()));
        return OkStatus();
      }};
}

Status CheckDepthwiseStrip(const Conv2dShape& shape) {
  if (shape.group.channels != 1) {
    return Unimplemented("a group must have one input channel, not ",
                         shape.group.channels);
  }
  const int64_t span = SpanOf(shape.h, StripOf(shape.h));
  if (span <= kMaxSpan) return OkStatus();
  return Unimplemented("a pixel spans ", span, " input rows, at most ",
                       kMaxSpan, " are kept");
}

void AddDepthwiseStrip(const Conv2dShape& shape, Launch* launch) {
  const int64_t strip = StripOf(shape.h);
  launch->Option(StrCat("-DSTRIP=", strip))
      .Option(StrCat("-DKERNEL_H=", shape.h.kernel))
      .Option(StrCat("-DSTRIDE_H=", shape.h.stride))
      .Option(StrCat("-DDILATION_H=", shape.h.dilation))
      .Items(shape.w.output * CeilDiv(shape.h.output, strip) *
             shape.group.out_channels * shape.batch);
}

}  // namespace tim::ops
