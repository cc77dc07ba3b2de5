// A result against the reference's.
#ifndef TIM_VX_CHECK_COMPARE_H_
#define TIM_VX_CHECK_COMPARE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/tensor_desc.h"
#include "tim/vx/custom_op_check.h"

namespace tim::vx::check {

struct Difference {
  int64_t element = 0;  ///< The first one.
  std::string actual;
  std::string expected;
  int64_t count = 0;  ///< Number of elements that differ.
};

/// Nothing where all elements of two dense tensors agree.
std::optional<Difference> FindDifference(const ir::TensorDesc& desc,
                                         const void* actual,
                                         const void* expected,
                                         const Tolerance& tolerance);

/// The distance of `value` from the next number of a float type.
double UlpOf(double value, ir::DataType type);

/// Where an element is, fastest-varying dimension first.
std::vector<uint32_t> PositionOf(int64_t element, const ShapeType& shape);

}  // namespace tim::vx::check

#endif  // TIM_VX_CHECK_COMPARE_H_
