// Operators of one input fused into convolutions, matrix products and binary
// operators: the bits of the two one after the other.
#include "ops/launch/activation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "ir/op_registry.h"
#include "ops/builtin.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::TensorDesc;
using Ints = std::vector<int64_t>;

TensorDesc F32(Ints shape) { return Desc(DataType::kFloat32, shape); }

// Every operator of one input, with other parameters than zero.
struct Formula {
  const ir::OpSchema* schema;
  ir::AttributeMap attributes;

  std::string op() const { return "tim." + schema->name; }
  TensorData Of(TensorData x) const {
    const ir::Pointwise& f = *schema->pointwise;
    const ir::PointwiseParameters parameters = f.ParametersOf(attributes);
    std::vector<float> values = Values<float>(x);
    for (float& value : values) value = f.unary(value, parameters);
    return MakeTensor(x.desc, values);
  }
};

std::vector<Formula> Formulas() {
  std::vector<Formula> out;
  for (const ir::OpSchema* schema : ops::BuiltinOperators().Schemas()) {
    if (!schema->pointwise || schema->pointwise->arity != 1) continue;
    Formula formula{schema, {}};
    double value = -0.75;
    for (const ir::AttributeSpec& spec : schema->attributes) {
      if (spec.type != ir::AttributeType::kFloat) continue;
      formula.attributes.Set(spec.name, value);
      value += 2;
    }
    EXPECT_OK(ir::CompleteAttributes(*schema, &formula.attributes));
    const bool of_floats =
        MakeNode(formula.op(), formula.attributes, {F32({4})}, {F32({4})}).ok();
    if (!of_floats) continue;
    out.push_back(std::move(formula));
  }
  return out;
}

// A program per formula, kernel and device takes time: only the long suite
// makes all of them, others those of one formula, and each further one in its
// turn.
class Turns {
 public:
  bool Has(const Formula& formula) {
    if (RunsLongTests() || formula.schema->name == "Sigmoid") return true;
    return count_++ % kTurns == 0;
  }

 private:
  static constexpr int kTurns = 151;
  int count_ = 0;
};

bool SameBits(const TensorData& a, const TensorData& b) {
  const std::vector<float> x = Values<float>(a);
  const std::vector<float> y = Values<float>(b);
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i]) && std::isnan(y[i])) continue;
    if (std::memcmp(&x[i], &y[i], sizeof(float)) != 0) return false;
  }
  return x.size() == y.size();
}

const ir::DeviceInfo kDevices[] = {TestDevice(ir::DeviceClass::kCpu),
                                   TestDeviceOfLanes(8), TestDeviceOfLanes(4),
                                   TestDevice(ir::DeviceClass::kGpu)};

// All kernels that take the node, in all layouts, with and without `formula`.
// Returns how many take it with the formula.
int ExpectSameBits(const TestNode& plain, const Formula& formula,
                   std::mt19937& rng, Turns& turns) {
  const auto fused =
      Fuse(plain, formula.op(), formula.attributes, {}, plain.output());
  EXPECT_OK(fused);
  if (!fused.ok()) return 0;
  const std::vector<TensorData> inputs = RandomInputs(plain, rng);
  int count = 0;
  const ir::Node& node = plain.graph.node(plain.node);
  const std::string op = "tim." + node.schema->name;
  for (const ir::KernelDef* kernel : plain.registry->Kernels(op, "opencl")) {
    for (const ir::DeviceInfo& device : kDevices) {
      if (!Supports(*fused, kernel->name, device).ok()) continue;
      SCOPED_TRACE(StrCat(kernel->name, " ", formula.op()));
      ++count;
      if (!turns.Has(formula)) continue;
      const int layouts = LayoutCount(*fused, kernel->name);
      EXPECT_GE(LayoutCount(plain, kernel->name), layouts);
      for (int layout = 0; layout < layouts; ++layout) {
        const auto sums =
            RunKernel(plain, kernel->name, layout, inputs, device);
        const auto results =
            RunKernel(*fused, kernel->name, layout, inputs, device);
        EXPECT_OK(sums);
        EXPECT_OK(results);
        if (!sums.ok() || !results.ok()) continue;
        EXPECT_TRUE(SameBits(formula.Of((*sums)[0]), (*results)[0]));
      }
    }
  }
  return count;
}

Result<TestNode> Conv2d(Ints input, Ints weights, Ints pad,
                        int64_t multiplier = 0) {
  std::mt19937 rng = SeededRng(3);
  const int64_t channels = multiplier > 0 ? input[2] * multiplier : weights[3];
  const Ints output = {input[0], input[1], channels, input[3]};
  ir::AttributeMap attributes = {{"pad", pad}};
  if (multiplier != 0) attributes.Set("multiplier", multiplier);
  return MakeNode("tim.Conv2d", std::move(attributes),
                  {F32(input), F32(weights), F32({channels})}, {F32(output)},
                  {{1, RandomTensor(F32(weights), rng)}});
}

TEST(FusedFormula, HasTheBitsOfTheOperatorInConvolutions) {
  std::mt19937 rng = SeededRng(41);
  Turns turns;
  const Result<TestNode> nodes[] = {
      Conv2d({9, 7, 5, 2}, {3, 3, 5, 20}, {1, 1, 1, 1}),
      Conv2d({9, 5, 18, 1}, {1, 1, 18, 33}, {0, 0, 0, 0}),
  };
  for (const Result<TestNode>& node : nodes) {
    ASSERT_OK(node);
    for (const Formula& formula : Formulas()) {
      EXPECT_GE(ExpectSameBits(*node, formula, rng, turns), 5) << formula.op();
    }
  }
}

TEST(FusedFormula, HasTheBitsOfTheOperatorInDepthwiseConvolutions) {
  std::mt19937 rng = SeededRng(42);
  Turns turns;
  const auto node =
      Conv2d({11, 6, 20, 2}, {3, 3, 20, 1}, {1, 1, 1, 1}, /*multiplier=*/1);
  for (const Formula& formula : Formulas()) {
    ASSERT_OK(node);
    EXPECT_GE(ExpectSameBits(*node, formula, rng, turns), 3) << formula.op();
  }
}

TEST(FusedFormula, HasTheBitsOfTheOperatorInMatrixProducts) {
  std::mt19937 rng = SeededRng(43);
  Turns turns;
  for (const Formula& formula : Formulas()) {
    for (const int64_t rows : {1, 13}) {
      const auto dense = MakeNode("tim.FullyConnected", {{"axis", int64_t{0}}},
                                  {F32({24, rows}), F32({24, 37}), F32({37})},
                                  {F32({37, rows})});
      ASSERT_OK(dense);
      EXPECT_GE(ExpectSameBits(*dense, formula, rng, turns), 4) << formula.op();
    }
    const auto matmul = MakeNode("tim.Matmul", {}, {F32({9, 14}), F32({40, 9})},
                                 {F32({40, 14})});
    ASSERT_OK(matmul);
    EXPECT_GE(ExpectSameBits(*matmul, formula, rng, turns), 4) << formula.op();
  }
}

TEST(FusedFormula, HasTheBitsOfTheOperatorInBinaryOperators) {
  std::mt19937 rng = SeededRng(44);
  Turns turns;
  for (const Formula& formula : Formulas()) {
    for (const int64_t channels : {17, 32}) {
      const TensorDesc desc = F32({3, 5, channels, 2});
      for (const char* op : {"tim.Add", "tim.Multiply"}) {
        const auto node = MakeNode(op, {}, {desc, desc}, {desc});
        ASSERT_OK(node);
        EXPECT_GE(ExpectSameBits(*node, formula, rng, turns), 1)
            << formula.op();
      }
    }
  }
}

// Lanes beyond the last channel would not stay 0.
TEST(FusedFormula, TailLanesOfABinaryOperatorStayZero) {
  for (const int64_t channels : {17, 32}) {
    const TensorDesc desc = F32({3, 5, channels, 2});
    const auto node = MakeNode("tim.Add", {}, {desc, desc}, {desc});
    ASSERT_OK(node);
    EXPECT_EQ(LayoutCount(*node, "add"), 2);
    const auto tanh = Fuse(*node, "tim.Tanh", {}, {}, desc);
    const auto sigmoid = Fuse(*node, "tim.Sigmoid", {}, {}, desc);
    EXPECT_EQ(LayoutCount(*tanh, "add"), 2);
    EXPECT_EQ(LayoutCount(*sigmoid, "add"), channels == 32 ? 2 : 1);
  }
}

// What fusion reads is the formula.
TEST(FusedFormula, NeedsNoNameThatKernelsKnow) {
  ir::OpRegistry registry(&ops::BuiltinOperators());
  ir::OpSchema bend = *registry.Find("tim.Tanh");
  bend.name = "Bend";
  registry.Add(bend);
  ir::OpSchema more = *registry.Find("tim.Add");
  more.name = "More";
  registry.Add(more);
  const auto conv =
      MakeNode("tim.Conv2d", {}, {F32({5, 5, 3, 1}), F32({3, 3, 3, 4})},
               {F32({3, 3, 4, 1})}, {}, registry);
  ASSERT_OK(conv);
  const TensorDesc y = conv->output();
  const auto sum = Fuse(*conv, "tim.More", {}, {F32({1, 1, 4})}, y);
  ASSERT_OK(sum);
  EXPECT_OK(Supports(*sum, "conv2d"));
  const auto bent = Fuse(*sum, "tim.Bend", {}, {}, y);
  ASSERT_OK(bent);
  EXPECT_OK(Supports(*bent, "conv2d"));
  std::mt19937 rng = SeededRng(45);
  EXPECT_OK(CheckKernels(*bent, rng, {1e-4, 1e-5}));

  ir::OpSchema opaque = *registry.Find("tim.Tanh");
  opaque.name = "Opaque";
  opaque.pointwise.reset();
  registry.Add(opaque);
  const auto closed = Fuse(*conv, "tim.Opaque", {}, {}, y);
  ASSERT_OK(closed);
  EXPECT_ERROR(Supports(*closed, "conv2d"),
               "a fused Opaque, which has no formula of one input");
}

TEST(FusedFormula, IsOfFloat32UnlessItSetsLimits) {
  for (const TensorDesc& y :
       {Desc(DataType::kFloat16, {3, 3, 4, 1}),
        Desc(DataType::kUint8, {3, 3, 4, 1}, 0.1f, 100)}) {
    TensorDesc x = y;
    x.shape = ir::Shape({5, 5, 3, 1});
    TensorDesc w = y;
    w.shape = ir::Shape({3, 3, 3, 4});
    const auto conv = MakeNode("tim.Conv2d", {}, {x, w}, {y});
    ASSERT_OK(conv);
    EXPECT_ERROR(Supports(*Fuse(*conv, "tim.Tanh", {}, {}, y), "conv2d"),
                 StrCat("a fused Tanh of ", ir::ToString(y.type)));
    EXPECT_OK(Supports(*Fuse(*conv, "tim.Relu1", {}, {}, y), "conv2d"));
    const auto add = MakeNode("tim.Add", {}, {y, y}, {y});
    ASSERT_OK(add);
    EXPECT_ERROR(Supports(*Fuse(*add, "tim.Tanh", {}, {}, y), "add"),
                 StrCat("a fused Tanh of ", ir::ToString(y.type)));
    EXPECT_OK(Supports(*Fuse(*add, "tim.Relu1", {}, {}, y), "add"));
  }
}

}  // namespace
}  // namespace tim::testing
