// Public types to those of the inside.
#ifndef TIM_VX_TENSOR_TYPE_CONVERT_H_
#define TIM_VX_TENSOR_TYPE_CONVERT_H_

#include <optional>

#include "ir/tensor_desc.h"
#include "tim/vx/tensor.h"

namespace tim::vx {

/// Nothing for a number that is no DataType.
std::optional<ir::DataType> ToIr(DataType type);
/// UNKNOWN for the types that the public API does not have.
DataType ToVx(ir::DataType type);

ir::Quantization ToIr(const Quantization& quantization);
/// One that stands for the same values.
Quantization ToVx(const ir::Quantization& quantization);

/// Type, declared shape and quantization; quantization of float tensors is
/// dropped.  Fails on an illegal type only: the rest is checked where it is
/// used.
Result<ir::TensorDesc> ToIr(const TensorSpec& spec);

}  // namespace tim::vx

#endif  // TIM_VX_TENSOR_TYPE_CONVERT_H_
