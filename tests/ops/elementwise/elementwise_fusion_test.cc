// Binary operators with a fused operator that sets limits.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/op_schema.h"
#include "tests/support/data/binary_reference.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using Dims = std::vector<int64_t>;

struct Op {
  const char* name;
  const char* kernel;
};
const Op kOps[] = {
    {"tim.Add", "add"},           {"tim.Sub", "sub"},
    {"tim.Multiply", "multiply"}, {"tim.Div", "div"},
    {"tim.Minimum", "minimum"},   {"tim.Maximum", "maximum"},
};

const ir::AttributeMap kWrap = {{ir::kOverflowPolicy, int64_t{0}}};
const ir::AttributeMap kToZero = {{ir::kRoundingPolicy, int64_t{0}}};

void ExpectFusionMatchesEval(const Op& op, const std::string& activation,
                             const std::string& type, std::mt19937& rng) {
  const Dims shape = RandomShape(4, rng, 3000);
  const auto y = DescOf(type, shape, rng);
  const auto node = MakeBinary(op.name, DescOf(type, shape, rng),
                               DescOf(type, Shrink(shape, rng), rng), y);
  ASSERT_OK(node);
  const auto fused = Fuse(*node, activation, {}, {}, y);
  ASSERT_OK(fused);
  EXPECT_OK(Supports(*fused, op.kernel));
  EXPECT_OK(CheckKernels(*fused, rng)) << op.name << activation << type;
}

TEST(FusedBinary, MatchesEval) {
  std::mt19937 rng = SeededRng(31);
  Sample sample(3);
  for (const Op& op : kOps) {
    const bool all = op.name == kOps[0].name;
    for (const std::string activation :
         {"tim.Relu", "tim.Relu1", "tim.Relu6"}) {
      for (const std::string type :
           {"f32", "u8a", "i32", "f16", "i8a", "i16a", "i8d", "i16d", "u8"}) {
        const bool common = type == "f32" || type == "u8a" || type == "i32";
        if (!all && !common) continue;
        for (int repeat = 0; repeat < 4; ++repeat) {
          if (!sample.Takes()) continue;
          ExpectFusionMatchesEval(op, activation, type, rng);
        }
      }
    }
  }
}

// NaN is stored as code 0, whose real value the activation then limits.
TEST(FusedBinary, NanIsLimitedAsTheCodeThatItBecomes) {
  Sample sample(5);
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const auto f32 = Desc(DataType::kFloat32, {33});
  std::vector<float> a(33, kInf);
  std::vector<float> b(33, kInf);
  a[1] = NAN;
  b[2] = 0;
  const std::vector<TensorData> inputs = {MakeTensor<float>(f32, a),
                                          MakeTensor<float>(f32, b)};
  for (const auto& y :
       {Desc(DataType::kUint8, {33}, 0.25f, 7), f32,
        Desc(DataType::kInt8, {33}, 0.25f, -7), Desc(DataType::kInt32, {33}),
        Desc(DataType::kInt16, {33}, 0.5f, -20)}) {
    for (const std::string activation :
         {"tim.Relu", "tim.Relu1", "tim.Relu6"}) {
      for (const std::string op : {"tim.Sub", "tim.Div"}) {
        if (!sample.Takes()) continue;
        const auto node = MakeBinary(op, f32, f32, y);
        ASSERT_OK(node);
        const auto fused = Fuse(*node, activation, {}, {}, y);
        ASSERT_OK(fused);
        EXPECT_OK(CheckKernels(*fused, inputs)) << op << y.ToString();
      }
    }
  }
}

TEST(FusedBinary, Refusals) {
  const auto f32 = Desc(DataType::kFloat32, {4});
  const auto u8 = Desc(DataType::kUint8, {4}, 0.5f, 3);
  const auto i32 = Desc(DataType::kInt32, {4}, 0.5f, 3);
  const auto other = Desc(DataType::kUint8, {4}, 0.5f, 4);
  for (const Op& op : kOps) {
    const auto refusal = [&](const ir::TensorDesc& desc,
                             const std::string& next,
                             const ir::TensorDesc& result,
                             const ir::AttributeMap& policy = {}) {
      const auto node = MakeBinary(op.name, desc, desc, desc, policy);
      const std::vector<ir::TensorDesc> others(next == "tim.Add" ? 1 : 0, desc);
      return Supports(*Fuse(*node, next, {}, others, result), op.kernel);
    };
    EXPECT_ERROR(refusal(f32, "tim.Add", f32), "no formula of one input");
    EXPECT_ERROR(refusal(u8, "tim.Tanh", u8), "a fused Tanh of uint8");
    EXPECT_ERROR(refusal(u8, "tim.Relu", other),
                 "must keep the type and quantization");
    EXPECT_ERROR(refusal(u8, "tim.Relu", u8, kWrap),
                 "needs the policies saturate");
    EXPECT_ERROR(refusal(u8, "tim.Relu6", u8, kToZero),
                 "needs the policies saturate");
    EXPECT_ERROR(refusal(i32, "tim.Relu", i32), "of quantized int32");
    const auto relu =
        Fuse(*MakeBinary(op.name, f32, f32, f32), "tim.Relu", {}, {}, f32);
    EXPECT_ERROR(Supports(*Fuse(*relu, "tim.Relu6", {}, {}, f32), op.kernel),
                 "only one operator is fused, not also Relu6");
  }
}

}  // namespace
}  // namespace tim::testing
