// Element types of ONNX files as those of graphs.
#ifndef TIM_MODELS_ONNX_ELEMENT_TYPE_H_
#define TIM_MODELS_ONNX_ELEMENT_TYPE_H_

#include <cstdint>
#include <string>

#include "base/status.h"
#include "tim/vx/types.h"

namespace tim::models::onnx {

/// The type with TensorProto's number `type`, as in the attributes `to` and
/// `dtype`.  kUnimplemented, with the type's name, for those that tensors of
/// graphs do not have: float64, bfloat16, float8, uint64, strings, complex.
Result<vx::DataType> DataTypeOf(int64_t type);
/// "float32", "bfloat16", "type 99".
std::string TypeName(int64_t type);

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_ELEMENT_TYPE_H_
