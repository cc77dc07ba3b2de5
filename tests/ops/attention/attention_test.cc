// Attention in one kernel against the operators that it stands for, and the
// rule that puts it in their place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/compiler.h"
#include "ops/builtin.h"
#include "tests/support/data/network.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/recognized.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::ValueId;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using Form = std::function<ValueId(Network& net, ValueId x)>;
using Ints = std::vector<int64_t>;
using Names = std::vector<std::string>;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
// A kernel, and a device that it is made for.
struct Kernel {
  std::string name;
  ir::DeviceInfo device;
};

// \param lanes of the vectors that the one for CPUs is made for.
std::vector<Kernel> Kernels(int lanes = 16) {
  std::vector<Kernel> kernels = {
      {"attention_simt", TestDevice(ir::DeviceClass::kGpu)}};
  // Takes minutes to compile elsewhere.
  if (TestDevice().device_class == ir::DeviceClass::kCpu) {
    kernels.push_back({"attention", TestDeviceOfLanes(lanes)});
  }
  return kernels;
}

struct Sizes {
  int64_t heads = 1;
  int64_t queries = 1;
  int64_t keys = 1;
  int64_t depth = 1;
  int64_t columns = 1;
  bool keys_by_depth = false;
  Ints mask = {};    ///< Empty: none.
  float spread = 1;  ///< Of the queries.
};

float ScaleOf(const Sizes& sizes) {
  return 1.0f / std::sqrt(static_cast<float>(sizes.depth));
}

std::vector<ir::TensorDesc> DescsOf(const Sizes& sizes) {
  const auto [heads, queries, keys, depth, columns, by_depth, mask, spread] =
      sizes;
  std::vector<ir::TensorDesc> descs = {
      F32({depth, queries, heads}),
      by_depth ? F32({keys, depth, heads}) : F32({depth, keys, heads}),
      F32({columns, keys, heads})};
  if (!mask.empty()) descs.push_back(F32(mask));
  return descs;
}

Result<TestNode> NodeOf(const Sizes& sizes) {
  const std::vector<ir::TensorDesc> descs = DescsOf(sizes);
  return MakeNode("tim.Attention",
                  {{"scale", static_cast<double>(ScaleOf(sizes))},
                   {"keys_by_depth", sizes.keys_by_depth}},
                  {descs.begin(), descs.end()}, {ir::TensorDesc()});
}

// Results of the operators apart.
Result<std::vector<TensorData>> Apart(const Sizes& sizes,
                                      const std::vector<TensorData>& inputs) {
  Network net;
  std::vector<ir::ValueId> in;
  for (const TensorData& input : inputs) in.push_back(net.Input(input.desc));
  ir::ValueId x =
      net.Op("Matmul", {{"transpose_b", !sizes.keys_by_depth}}, {in[0], in[1]});
  x = net.Op("Multiply", {}, {x, net.Scalar(ScaleOf(sizes))});
  if (in.size() > 3) x = net.Op("Add", {}, {x, in[3]});
  x = net.Op("Softmax", {{"beta", 1.0}, {"axis", int64_t{0}}}, {x});
  net.Output(net.Op("Matmul", {}, {x, in[2]}));
  TIM_RETURN_IF_ERROR(
      compiler::InferGraph(&net.graph(), ops::BuiltinOperators()));
  return Evaluated(net.graph(), inputs);
}

std::vector<TensorData> InputsOf(const Sizes& sizes, std::mt19937& rng) {
  std::vector<TensorData> inputs;
  for (const ir::TensorDesc& desc : DescsOf(sizes)) {
    inputs.push_back(RandomTensor(desc, rng));
  }
  std::vector<float> queries = Values<float>(inputs[0]);
  for (float& each : queries) each *= sizes.spread;
  inputs[0] = MakeTensor(inputs[0].desc, queries);
  return inputs;
}

// 1e-5 of the range of the values.
Tolerance ToleranceFor(const TensorData& values) {
  float greatest = 0;
  for (const float value : Values<float>(values)) {
    greatest = std::max(greatest, std::fabs(value));
  }
  return {.absolute = 1e-5 * greatest};
}

Status Check(const Sizes& sizes, const std::vector<TensorData>& inputs,
             int lanes = 16) {
  TIM_ASSIGN_OR_RETURN(const TestNode node, NodeOf(sizes));
  TIM_ASSIGN_OR_RETURN(const auto expected, Apart(sizes, inputs));
  TIM_ASSIGN_OR_RETURN(const auto evaluated, Eval(node, inputs));
  TIM_RETURN_IF_ERROR(
      CompareTensors(expected[0], evaluated[0]).WithContext("eval"));
  for (const Kernel& kernel : Kernels(lanes)) {
    TIM_ASSIGN_OR_RETURN(const auto actual, RunKernel(node, kernel.name, 0,
                                                      inputs, kernel.device));
    TIM_RETURN_IF_ERROR(
        CompareTensors(expected[0], actual[0], ToleranceFor(inputs[2]))
            .WithContext(kernel.name));
  }
  return OkStatus();
}

TEST(Attention, EqualsItsPieces) {
  std::mt19937 rng = SeededRng(1);
  for (const Sizes& sizes : std::vector<Sizes>{
           {.heads = 2, .queries = 31, .keys = 65, .depth = 33, .columns = 17},
           {.heads = 3,
           .queries = 50,
           .keys = 33,
           .depth = 96,
           .columns = 64,
           .keys_by_depth = true,
           .mask = {33, 50}},
           {.heads = 2,
           .queries = 13,
           .keys = 130,
           .depth = 127,
           .columns = 128,
           .mask = {130, 1, 2}},
           {.heads = 4,
           .queries = 1,
           .keys = 200,
           .depth = 64,
           .columns = 64,
           .keys_by_depth = true,
           .mask = {1, 1, 4}},
       }) {
    EXPECT_OK(Check(sizes, InputsOf(sizes, rng)))
        << sizes.queries << " queries, " << sizes.keys << " keys of "
        << sizes.depth;
  }
}

TEST(Attention, EqualsItsPiecesInShorterVectors) {
  std::mt19937 rng = SeededRng(4);
  const Sizes sizes = {.heads = 2,
                       .queries = 13,
                       .keys = 75,
                       .depth = 9,
                       .columns = 17,
                       .mask = {75, 13, 2}};
  EXPECT_OK(Check(sizes, InputsOf(sizes, rng), 8));
}

// One key has nearly all of the weight, and e^x alone would be infinite.
TEST(Attention, GreatScoresAreNoInfiniteOnes) {
  std::mt19937 rng = SeededRng(2);
  const Sizes sizes = {.heads = 2,
                       .queries = 9,
                       .keys = 100,
                       .depth = 16,
                       .columns = 16,
                       .spread = 500};
  EXPECT_OK(Check(sizes, InputsOf(sizes, rng)));
}

// Infinite masks leave keys out, at the beginning too; a query without keys
// makes NaN, as Softmax does.
TEST(Attention, InfiniteMasksLeaveKeysOut) {
  std::mt19937 rng = SeededRng(3);
  const Sizes sizes = {.heads = 2,
                       .queries = 9,
                       .keys = 100,
                       .depth = 16,
                       .columns = 16,
                       .mask = {100, 9}};
  std::vector<TensorData> inputs = InputsOf(sizes, rng);
  std::vector<float> mask = Values<float>(inputs[3]);
  for (int64_t n = 0; n < 100; ++n) {
    if (n < 80) mask[100 + n] = -kInfinity;
    if (n % 3 != 0) mask[200 + n] = -kInfinity;
    mask[300 + n] = -kInfinity;
  }
  inputs[3] = MakeTensor(inputs[3].desc, mask);
  EXPECT_OK(Check(sizes, inputs));
  const auto node = NodeOf(sizes);
  ASSERT_OK(node);
  for (const Kernel& kernel : Kernels()) {
    const auto made = RunKernel(*node, kernel.name, 0, inputs, kernel.device);
    ASSERT_OK(made);
    EXPECT_TRUE(std::isnan(Values<float>((*made)[0])[3 * 16])) << kernel.name;
  }
}

// Sums of no products, and results without elements.
TEST(Attention, OfNoKeysAndOfNoQueries) {
  std::mt19937 rng = SeededRng(5);
  for (const Sizes& sizes : std::vector<Sizes>{
           {.heads = 2, .queries = 3, .keys = 0, .depth = 4, .columns = 5},
           {.heads = 2, .queries = 0, .keys = 3, .depth = 4, .columns = 5}}) {
    const auto node = NodeOf(sizes);
    ASSERT_OK(node);
    const auto made = Eval(*node, InputsOf(sizes, rng));
    ASSERT_OK(made);
    EXPECT_EQ(
        Values<float>((*made)[0]),
        std::vector<float>(static_cast<size_t>(2 * 5 * sizes.queries), 0.0f));
  }
}

TEST(Attention, RefusesWithReason) {
  const auto wide = NodeOf({.keys = 2, .depth = 129});
  ASSERT_OK(wide);
  const auto node = NodeOf({.keys = 2, .depth = 64});
  ASSERT_OK(node);
  for (const Kernel& kernel : Kernels()) {
    EXPECT_ERROR(Supports(*wide, kernel.name, kernel.device),
                 "heads of 129 elements, more than 128");
    const bool simt = kernel.name == "attention_simt";
    EXPECT_ERROR(Supports(*node, kernel.name,
                          TestDevice(simt ? ir::DeviceClass::kCpu
                                          : ir::DeviceClass::kGpu)),
                 simt ? "for GPU devices" : "for CPU devices");
  }
  ir::DeviceInfo small = TestDevice(ir::DeviceClass::kGpu);
  small.local_memory_bytes = 4096;
  EXPECT_ERROR(Supports(*node, "attention_simt", small),
               "bytes of local memory, the device has 4096");
  small.max_work_group_size = 32;
  EXPECT_ERROR(Supports(*node, "attention_simt", small),
               "needs work-groups of 64 items, the device has 32");
}

// Attention of 2 x 3 heads: 5 queries, 7 keys of 8 elements, 6 columns.
struct AttentionForm {
  ir::AttributeMap product = {{"transpose_b", true}};
  ir::AttributeMap softmax = {{"beta", 1.0}, {"axis", int64_t{0}}};
  Form of_queries = nullptr;
  Form of_keys = nullptr;
  Form of_scores = nullptr;
  Form of_weights = nullptr;
};

ValueId Applied(const Form& form, Network& net, ValueId x) {
  return form ? form(net, x) : x;
}

Network AttentionNetwork(const AttentionForm& form) {
  Network net;
  const bool by_depth = form.product.Find("transpose_b") == nullptr;
  const ValueId queries = net.Input(F32({8, 5, 3, 2}));
  const ValueId keys =
      net.Input(by_depth ? F32({7, 8, 3, 2}) : F32({8, 7, 3, 2}));
  const ValueId values = net.Input(F32({6, 7, 3, 2}));
  const ValueId scores = net.Op("Matmul", form.product,
                                {Applied(form.of_queries, net, queries),
                                 Applied(form.of_keys, net, keys)});
  const ValueId weights =
      net.Op("Softmax", form.softmax, {Applied(form.of_scores, net, scores)});
  net.Output(
      net.Op("Matmul", {}, {Applied(form.of_weights, net, weights), values}));
  return net;
}

Names RecognizedAttention(const AttentionForm& form,
                          const compiler::CompileOptions& options = {}) {
  return Recognized(AttentionNetwork(form), options);
}

ValueId Eighth(Network& net, ValueId x) {
  return net.Op("Multiply", {}, {x, net.Scalar(0.125f)});
}

TEST(AttentionRule, TakesAScaleAnywhere) {
  const Form quotient = [](Network& net, ValueId x) {
    return net.Op("Div", {}, {x, net.Scalar(2.828427f)});
  };
  const Form line = [](Network& net, ValueId x) {
    return net.Op("Linear", {{"a", 0.25}, {"b", 0.0}}, {x});
  };
  for (const Form& scale : {Form(), Form(Eighth), quotient, line}) {
    EXPECT_THAT(RecognizedAttention({.of_queries = scale}),
                ElementsAre("Attention"));
    EXPECT_THAT(RecognizedAttention({.of_queries = scale, .of_keys = scale}),
                ElementsAre("Attention"));
    EXPECT_THAT(RecognizedAttention({.product = {}, .of_scores = scale}),
                ElementsAre("Attention"));
  }
}

// Queries [8, 3, 5] and keys that are transposed before the product.
Names RecognizedWithTransposedKeys(const Ints& perm, const Ints& keys,
                                   bool transpose_b) {
  Network net;
  const ValueId queries = net.Input(F32({8, 3, 5}));
  const ValueId transposed =
      net.Op("Transpose", {{"perm", perm}}, {net.Input(F32(keys))});
  const ValueId scores =
      net.Op("Matmul", {{"transpose_b", transpose_b}}, {queries, transposed});
  const ValueId weights =
      net.Op("Softmax", {{"beta", 1.0}, {"axis", int64_t{0}}}, {scores});
  net.Output(net.Op("Matmul", {}, {weights, net.Input(F32({6, 7, 5}))}));
  return Recognized(std::move(net));
}

// The kernel reads keys either way, but not heads in any order.
TEST(AttentionRule, TakesTransposedKeys) {
  EXPECT_THAT(RecognizedWithTransposedKeys({1, 0, 2}, {8, 7, 5}, false),
              ElementsAre("Attention"));
  EXPECT_THAT(RecognizedWithTransposedKeys({1, 0, 2}, {7, 8, 5}, true),
              ElementsAre("Attention"));
  EXPECT_THAT(RecognizedWithTransposedKeys({0, 2, 1}, {8, 5, 7}, true),
              ElementsAre("Transpose", "Attention"));
}

TEST(AttentionRule, TakesAMask) {
  for (const Ints& shape :
       std::vector<Ints>{{7}, {7, 5}, {1, 5}, {7, 1, 1, 2}, {7, 5, 3, 2}}) {
    const AttentionForm form = {
        .softmax = {{"beta", 1.0}, {"axis", int64_t{-4}}},
        .of_scores = [&](Network& net, ValueId x) {
          return net.Op("Add", {}, {net.Input(F32(shape)), Eighth(net, x)});
        }};
    EXPECT_THAT(RecognizedAttention(form), ElementsAre("Attention"));
  }
}

TEST(AttentionRule, LeavesWhatIsNoAttention) {
  const auto stays = [](const AttentionForm& form) {
    EXPECT_THAT(RecognizedAttention(form), Not(Contains("Attention")));
  };
  stays({.softmax = {{"beta", 2.0}, {"axis", int64_t{0}}}});
  stays({.softmax = {{"beta", 1.0}, {"axis", int64_t{1}}}});
  stays({.of_scores = [](Network& net, ValueId x) {
    return net.Op("Multiply", {}, {x, net.Constant(F32({7}))});
  }});
  stays({.of_scores = [](Network& net, ValueId x) {
    return net.Op("Linear", {{"a", 0.25}, {"b", 1.0}}, {x});
  }});
  stays({.of_scores = [](Network& net, ValueId x) {
    return net.Op("Add", {}, {x, net.Input(F32({7, 5, 3, 2, 4}))});
  }});
  // Others read what would be computed no more.
  const Form output = [](Network& net, ValueId x) {
    net.Output(x);
    return x;
  };
  stays({.of_scores = output});
  stays({.of_weights = output});
}

// Kernels are for heads that private or local memory has room for.
TEST(AttentionRule, LeavesWhatNoKernelTakes) {
  const auto options = [](ir::DeviceClass device_class) {
    compiler::CompileOptions out;
    out.devices = {ir::DeviceInfo(), TestDevice(device_class)};
    return out;
  };
  for (const auto device_class :
       {ir::DeviceClass::kCpu, ir::DeviceClass::kGpu}) {
    EXPECT_THAT(RecognizedAttention({}, options(device_class)),
                ElementsAre("Attention"));
  }
  Network wide;
  const ValueId x = wide.Input(F32({300, 20}));
  const ValueId weights =
      wide.Op("Softmax", {{"beta", 1.0}, {"axis", int64_t{0}}},
              {wide.Op("Matmul", {{"transpose_b", true}}, {x, x})});
  wide.Output(wide.Op("Matmul", {}, {weights, x}));
  EXPECT_THAT(Recognized(std::move(wide), options(ir::DeviceClass::kCpu)),
              ElementsAre("Matmul", "Softmax", "Matmul"));
}

}  // namespace
}  // namespace tim::testing
