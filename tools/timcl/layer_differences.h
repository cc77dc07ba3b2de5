// Two runs of a network, layer by layer.
#ifndef TIM_TOOLS_TIMCL_LAYER_DIFFERENCES_H_
#define TIM_TOOLS_TIMCL_LAYER_DIFFERENCES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/timcl/recorded_run.h"

namespace tim::tool {

struct Tolerances {
  /// Share of the greatest magnitude in the layer; nothing: 1e-3 for float32
  /// and float64, 2e-2 where a narrower or quantized type is compared with
  /// another.
  std::optional<double> relative = {};
  int64_t codes = 0;  ///< The most that codes of one type may lie apart.
};

/// One layer in two runs, the second of which is the reference.
struct LayerDifference {
  const RecordedValue* first = nullptr;
  const RecordedValue* second = nullptr;
  bool same_size = true;  ///< Else nothing else is known.
  double absolute = 0;    ///< Greatest difference of real values.
  double relative = 0;    ///< The same, of the greatest magnitude in `second`.
  double equal = 1;       ///< Share of elements that are equal.
  std::optional<int64_t> codes;  ///< Greatest difference, of equal types.
  int64_t first_nans = 0;
  int64_t second_nans = 0;
  bool differs = false;  ///< The tolerances are exceeded.
};

struct Comparison {
  std::vector<LayerDifference> layers;  ///< In the order of the first run.
  /// Values that only one has: the other fused them away, or moves no elements.
  std::vector<const RecordedValue*> only_first;
  std::vector<const RecordedValue*> only_second;

  /// Null where none differs.
  const LayerDifference* FirstDifferent() const;
};

/// Values are paired by name and by the last of the nodes that made them; those
/// whose names are in one run only, by that node where it has one value.  The
/// runs must outlive the result.
Comparison Compare(const RecordedRun& first, const RecordedRun& second,
                   const Tolerances& tolerances);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_LAYER_DIFFERENCES_H_
