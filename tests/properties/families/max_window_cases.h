// What the descriptions of operators over windows' greatest cells share.
#ifndef TIM_TESTS_PROPERTIES_FAMILIES_MAX_WINDOW_CASES_H_
#define TIM_TESTS_PROPERTIES_FAMILIES_MAX_WINDOW_CASES_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/properties/families/pool_axis.h"
#include "tests/properties/operator_cases.h"

namespace tim::testing {

/// Windows over an image [W, H, (D,) C, (N)].
struct MaxWindowCase {
  std::vector<int64_t> input;
  std::vector<int64_t> output;
  ir::AttributeMap attributes = {};
};

inline MaxWindowCase RandomMaxWindows(int axes, CaseRng& rng) {
  using Ints = std::vector<int64_t>;
  MaxWindowCase out;
  const int64_t padding = rng.Pick<int64_t>({kAuto, kSame, kValid, kNone});
  const bool ceiling = rng.OneIn(2);
  Ints ksize, stride, pad;
  for (int i = 0; i < axes; ++i) {
    PoolCaseAxis axis = RandomPoolAxis(rng);
    if (axes == 3) {
      axis.input = std::min<int64_t>(axis.input, 9);
      axis.kernel = std::min(axis.kernel, axis.input);
    }
    out.input.push_back(axis.input);
    out.output.push_back(axis.Output(padding, ceiling));
    ksize.push_back(axis.kernel);
    stride.push_back(axis.stride);
    pad.insert(pad.end(), {axis.front, axis.back});
  }
  out.attributes = {{"ksize", ksize},
                    {"stride", stride},
                    {"pad", pad},
                    {"padding", padding},
                    {"round_type", int64_t{ceiling ? 0 : 1}}};
  Ints planes = {axes == 3 ? rng.Int(1, 5) : rng.Extent(17)};
  if (rng.OneIn(2)) planes.push_back(rng.Int(1, 2));
  out.input.insert(out.input.end(), planes.begin(), planes.end());
  out.output.insert(out.output.end(), planes.begin(), planes.end());
  return out;
}

/// Cells that a window has inside the image, at most.
inline double CellsOfWindow(const NodeCase& node) {
  const std::vector<int64_t>& ksize = node.attributes.Ints("ksize");
  double cells = 1;
  for (size_t i = 0; i < ksize.size(); ++i) {
    const int64_t extent = node.inputs[0]->shape[static_cast<int>(i)];
    cells *= static_cast<double>(std::min(ksize[i], extent));
  }
  return cells;
}

}  // namespace tim::testing

#endif  // TIM_TESTS_PROPERTIES_FAMILIES_MAX_WINDOW_CASES_H_
