// Constants of a model in other types, orders and shapes.
#ifndef TIM_MODELS_BUILD_CONSTANT_VALUES_H_
#define TIM_MODELS_BUILD_CONSTANT_VALUES_H_

#include <optional>
#include <vector>

#include "base/status.h"
#include "models/build/value.h"

namespace tim::models {

/// INT64 as INT32; fails, with the element, where one does not fit.
Result<HostArray> Narrowed(const HostArray& array);

/// An integer or BOOL8 array in another of these types; nothing where an
/// element does not fit, and for other types.  To BOOL8: is not 0.
std::optional<HostArray> CastOf(const HostArray& array, vx::DataType type);

/// Whether it is worth while to move the elements when a model is read, so
/// that they stay known; the graph moves those of larger ones.
bool IsSmall(const HostArray& array);
/// Result axis i is axis permutation[i].  Of whole bytes per element.
HostArray Transposed(const HostArray& array,
                     const std::vector<int>& permutation);

/// The value's quantization where its elements have the extents `dims`; fails
/// where it is per channel and no axis has the same channels any more.
Result<vx::Quantization> QuantizationInDims(const Value& value,
                                            const Dims& dims);

}  // namespace tim::models

#endif  // TIM_MODELS_BUILD_CONSTANT_VALUES_H_
