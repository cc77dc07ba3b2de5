// Elements that a strided slice takes of each axis.
#ifndef TIM_MODELS_TFLITE_SLICE_PLAN_H_
#define TIM_MODELS_TFLITE_SLICE_PLAN_H_

#include <vector>

#include "base/status.h"
#include "models/tflite/node.h"

namespace tim::models::tflite {

/// Element i along axis a is element begins[a] + i * strides[a] of the input,
/// i < counts[a]; all of them lie in it.
struct SlicePlan {
  std::vector<int64_t> begins;
  std::vector<int64_t> strides;  ///< Not 0.
  Dims counts;                   ///< Elements, from 1 on, of the input's rank.
  Dims dims;  ///< Extents of the result: axes dropped and added.
};

/// The plan of a STRIDED_SLICE, by its masks.
Result<SlicePlan> PlanStridedSlice(Node& node);
/// A SLICE may have no element, where loops cut off what stands before their
/// first step and behind their last one.  \param dims its extents.
Result<bool> IsEmptySlice(Node& node, Dims* dims);
/// The plan of a SLICE that has elements.
Result<SlicePlan> PlanSlice(Node& node);

}  // namespace tim::models::tflite

#endif  // TIM_MODELS_TFLITE_SLICE_PLAN_H_
