// Attributes and descs of convolutions for their tests.
#ifndef TIM_TESTS_SUPPORT_DATA_CONV2D_ATTRIBUTES_H_
#define TIM_TESTS_SUPPORT_DATA_CONV2D_ATTRIBUTES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "ir/attribute.h"
#include "tests/support/data/test_tensor.h"

namespace tim::testing {

/// Values of `padding`.
inline constexpr int kAuto = 0;
inline constexpr int kValid = 1;
inline constexpr int kSame = 2;

inline ir::AttributeMap Conv2dAttributes(
    int64_t padding, std::vector<int64_t> pad = {0, 0, 0, 0},
    std::vector<int64_t> stride = {1, 1},
    std::vector<int64_t> dilation = {1, 1}, int64_t multiplier = 0) {
  return {{"padding", padding},
          {"pad", pad},
          {"stride", stride},
          {"dilation", dilation},
          {"multiplier", multiplier}};
}

inline ir::TensorDesc F32(std::vector<int64_t> shape) {
  return Desc(ir::DataType::kFloat32, std::move(shape));
}
/// Of a shape that is to be inferred.
inline ir::TensorDesc Inferred(ir::DataType type = ir::DataType::kFloat32) {
  ir::TensorDesc desc = Desc(type, {});
  desc.shape = ir::Shape();
  return desc;
}

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_DATA_CONV2D_ATTRIBUTES_H_
