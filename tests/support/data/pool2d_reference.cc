#include "tests/support/data/pool2d_reference.h"

#include <algorithm>
#include <cmath>

namespace tim::testing {
namespace {

double PoolWindow(PoolKind type, const PoolAxis& w, const PoolAxis& h,
                  int64_t ox, int64_t oy, const double* plane, double lowest) {
  double largest = lowest;
  double sum = 0;
  double squares = 0;
  int64_t inside = 0;
  int64_t padded = 0;
  for (int64_t ky = 0; ky < h.kernel; ++ky) {
    for (int64_t kx = 0; kx < w.kernel; ++kx) {
      const int64_t x = ox * w.stride - w.front + kx;
      const int64_t y = oy * h.stride - h.front + ky;
      if (x < w.input + w.back && y < h.input + h.back) ++padded;
      if (x < 0 || y < 0 || x >= w.input || y >= h.input) continue;
      const double value = plane[y * w.input + x];
      largest = inside == 0 ? value : std::max(largest, value);
      sum += value;
      squares += value * value;
      ++inside;
    }
  }
  const double cells = static_cast<double>(std::max<int64_t>(inside, 1));
  switch (type) {
    case kMax:
      return largest;
    case kAvg:
      return sum / static_cast<double>(w.kernel * h.kernel);
    case kAvgAndroid:
      return sum / cells;
    case kAvgPadded:
      return sum / static_cast<double>(std::max<int64_t>(padded, 1));
    case kL2:
      return std::sqrt(squares / cells);
  }
  return 0;
}

}  // namespace

std::vector<double> PoolReference(PoolKind type, const PoolAxis& w,
                                  const PoolAxis& h,
                                  const std::vector<double>& input,
                                  double lowest) {
  std::vector<double> out;
  const int64_t plane = w.input * h.input;
  for (int64_t p = 0; p * plane < static_cast<int64_t>(input.size()); ++p) {
    for (int64_t y = 0; y < h.output; ++y) {
      for (int64_t x = 0; x < w.output; ++x) {
        out.push_back(PoolWindow(type, w, h, x, y, &input[p * plane], lowest));
      }
    }
  }
  return out;
}

ir::AttributeMap PoolAttributes(PoolKind type,
                                const std::vector<int64_t>& ksize,
                                const std::vector<int64_t>& stride,
                                const std::vector<int64_t>& pad) {
  return {{"type", type}, {"ksize", ksize}, {"stride", stride}, {"pad", pad}};
}

ir::TensorDesc Undeclared(ir::TensorDesc desc) {
  desc.shape = ir::Shape();
  return desc;
}

}  // namespace tim::testing
