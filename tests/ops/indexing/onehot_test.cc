#include <cmath>

#include "tests/ops/indexing/eval_and_kernels.h"

namespace tim::testing {
namespace {

using ir::DataType;
using Dims = std::vector<int64_t>;

ir::TensorDesc I32(const Dims& shape) { return Desc(DataType::kInt32, shape); }

Result<TestNode> OneHot(const ir::TensorDesc& indices, int64_t depth,
                        int64_t axis, ir::TensorDesc output) {
  output.shape = ir::Shape();
  return MakeNode("tim.OneHot",
                  {{"depth", depth},
                   {"on_value", 6.0},
                   {"off_value", -1.0},
                   {"axis", axis}},
                  {indices}, {output});
}

TEST(OneHot, ByHand) {
  const auto indices = I32({3});
  const auto x = MakeTensor<int32_t>(indices, {0, -1, 2});
  const auto f32 = Desc(DataType::kFloat32, {});
  ExpectResults<float>(OneHot(indices, 3, 0, f32), {x},
                       {6, -1, -1, -1, -1, -1, -1, -1, 6});
  ExpectResults<float>(OneHot(indices, 2, 1, f32), {x},
                       {6, -1, -1, -1, -1, -1});
  ExpectResults<float>(OneHot(indices, 1, -1, f32), {x}, {6, -1, -1});
}

TEST(OneHot, ValuesAreQuantized) {
  const auto indices = I32({2});
  const auto x = MakeTensor<int32_t>(indices, {1, 5});
  ExpectResults<uint8_t>(
      OneHot(indices, 2, 0, Desc(DataType::kUint8, {}, 0.5f, 10)), {x},
      {8, 22, 8, 8});
  // -1 is no uint8.
  ExpectResults<uint8_t>(OneHot(indices, 2, 0, Desc(DataType::kUint8, {})), {x},
                         {0, 6, 0, 0});
}

TEST(OneHot, RealIndicesAreTruncatedAndNaNTurnsNothingOn) {
  const auto indices = Desc(DataType::kFloat32, {4});
  ExpectResults<int8_t>(
      OneHot(indices, 2, 0, Desc(DataType::kInt8, {})),
      {MakeTensor<float>(indices, {1.9f, -0.9f, std::nanf(""), 2.0f})},
      {-1, 6, 6, -1, -1, -1, -1, -1});
}

TEST(OneHot, BothDeviceClasses) {
  std::mt19937 rng = SeededRng(63);
  for (const int64_t axis : {0, 1, 2}) {
    const auto indices = I32({5, 7});
    const auto node = OneHot(indices, 1500, axis, Desc(DataType::kFloat16, {}));
    ASSERT_OK(node);
    std::vector<int32_t> values(35);
    for (int32_t& value : values) value = static_cast<int32_t>(rng() % 1500);
    ExpectSameBits(node, "onehot", {MakeTensor<int32_t>(indices, values)});
  }
}

TEST(OneHot, InfersItsType) {
  const auto node = OneHot(I32({ir::kUnknownDim, 3}), 4, 1, ir::TensorDesc());
  ASSERT_OK(node);
  EXPECT_EQ(node->output(), Desc(DataType::kFloat32, {ir::kUnknownDim, 4, 3}));
}

}  // namespace
}  // namespace tim::testing
