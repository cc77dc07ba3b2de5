// Data as C++14.
#ifndef TIM_VX_CHECK_LITERALS_H_
#define TIM_VX_CHECK_LITERALS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "ir/tensor_desc.h"
#include "tim/vx/ops/custom_base.h"
#include "tim/vx/tensor.h"

namespace tim::vx::check {

std::string Int64Literal(int64_t value);

/// A raw string, with a delimiter that `text` does not have.
std::string RawString(const std::string& text);

/// The C++ type of elements: bits of FLOAT16, bytes of the 4-bit types.
const char* ElementType(ir::DataType type);

/// "{1.0f, 2.0f}" over several lines: the elements of that type.
std::string Elements(ir::DataType type, const void* data, size_t bytes);

/// "DataType::FLOAT32".
std::string TypeLiteral(DataType type);
/// "{3, 2}".
std::string ShapeLiteral(const ShapeType& shape);
/// "Quantization(QuantType::ASYMMETRIC, 0.5f, 3)".
std::string QuantizationLiteral(const Quantization& quantization);

/// The arguments of std::make_tuple() for param_transform(): one per scalar, a
/// vector is a std::array.
std::vector<std::string> ScalarLiterals(const std::vector<ops::Param>& scalars);

}  // namespace tim::vx::check

#endif  // TIM_VX_CHECK_LITERALS_H_
