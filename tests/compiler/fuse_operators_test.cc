// Sums, normalisations, products and reductions: which become one node, and
// which stay apart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "compiler/compiler.h"
#include "ops/builtin.h"
#include "tests/support/data/network.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::ValueId;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using Ints = std::vector<int64_t>;

constexpr char kNormOfSum[] = "Add+LayerNormalization";

ir::Plan Compiled(Network& net,
                  ir::DeviceClass device = ir::DeviceClass::kCpu) {
  compiler::CompileOptions options;
  options.devices = {ir::DeviceInfo(), TestDevice(device)};
  options.devices[0].runs_eval = true;
  auto plan = compiler::Compile(net.graph(), ops::BuiltinOperators(), options);
  EXPECT_OK(plan);
  return plan.ok() ? *std::move(plan) : ir::Plan();
}

std::vector<std::string> Nodes(Network& net,
                               ir::DeviceClass device = ir::DeviceClass::kCpu) {
  std::vector<std::string> names;
  for (const ir::Decision& decision : Compiled(net, device).decisions) {
    if (decision.chosen.rfind("recognized", 0) == 0) continue;
    names.push_back(decision.node);
  }
  return names;
}

// Why `kernel` refused node `name`.
std::string Refusal(Network& net, const std::string& name,
                    const std::string& kernel) {
  for (const ir::Decision& decision : Compiled(net).decisions) {
    if (decision.node != name) continue;
    for (const std::string& refused : decision.refused) {
      if (refused.find(kernel) != std::string::npos) return refused;
    }
  }
  return "";
}

ValueId Input(Network& net, const Ints& shape,
              DataType type = DataType::kFloat32) {
  return net.Input(Desc(type, shape));
}

ValueId LayerNorm(Network& net, ValueId x, int64_t count,
                  DataType type = DataType::kFloat32) {
  return net.Op("LayerNormalization", {{"axis", int64_t{0}}, {"eps", 1e-5}},
                {x, net.Constant(F32({count})), net.Constant(F32({count}))},
                type);
}

ValueId Reduce(Network& net, const std::string& op, ValueId x, const Ints& axes,
               DataType type = DataType::kFloat32) {
  return net.Op(op, {{"axis", axes}, {"keep_dims", false}}, {x}, type);
}

TEST(FuseNorms, TakeTheSumBeforeThem) {
  for (const auto device : {ir::DeviceClass::kCpu, ir::DeviceClass::kGpu}) {
    Network net;
    const ValueId sum =
        net.Op("Add", {}, {Input(net, {64, 100}), Input(net, {64, 100})});
    net.Output(LayerNorm(net, sum, 64));
    EXPECT_THAT(Nodes(net, device), ElementsAre(kNormOfSum));
  }
}

TEST(FuseNorms, TakeTheSumOfARecognizedOne) {
  Network net;
  const ValueId x =
      net.Op("Add", {}, {Input(net, {64, 100}), Input(net, {64, 100})});
  const auto mean = [&](ValueId of) {
    return net.Op("ReduceMean", {{"axis", Ints{0}}, {"keep_dims", true}}, {of});
  };
  const ValueId centered = net.Op("Sub", {}, {x, mean(x)});
  const ValueId squares = mean(net.Op("Square", {}, {centered}));
  const ValueId root =
      net.Op("Sqrt", {}, {net.Op("Add", {}, {squares, net.Scalar(1e-5f)})});
  const ValueId scaled =
      net.Op("Multiply", {},
             {net.Op("Div", {}, {centered, root}), net.Constant(F32({64}))});
  net.Output(net.Op("Add", {}, {scaled, net.Constant(F32({64}))}));
  const ir::Plan plan = Compiled(net);
  ASSERT_FALSE(plan.decisions.empty());
  EXPECT_THAT(plan.decisions[0].chosen, HasSubstr("layernormalization_sum"));
}

TEST(FuseNorms, LeaveASumThatOthersRead) {
  Network shared;
  const ValueId sum = shared.Op(
      "Add", {}, {Input(shared, {64, 100}), Input(shared, {64, 100})});
  shared.Output(LayerNorm(shared, sum, 64));
  shared.Output(shared.Op("Exp", {}, {sum}));
  EXPECT_THAT(Nodes(shared),
              UnorderedElementsAre("Add", "LayerNormalization", "Exp"));
  Network output;
  const ValueId kept = output.Op(
      "Add", {}, {Input(output, {64, 100}), Input(output, {64, 100})});
  output.Output(kept);
  output.Output(LayerNorm(output, kept, 64));
  EXPECT_THAT(Nodes(output), ElementsAre("Add", "LayerNormalization"));
}

// A convolution adds the residual before it stores its result.
TEST(FuseNorms, LeaveAConvolutionItsResidual) {
  Network net;
  const ValueId image = Input(net, {64, 10, 16, 1});
  const ValueId convolved = net.Op(
      "Conv2d", {},
      {image, net.Constant(F32({1, 1, 16, 16})), net.Constant(F32({16}))});
  net.Output(LayerNorm(net, net.Op("Add", {}, {convolved, image}), 64));
  EXPECT_THAT(Nodes(net), ElementsAre("Conv2d+Add", "LayerNormalization"));
}

TEST(FuseNorms, TakeTheResidualOfAProduct) {
  Network net;
  const ValueId product =
      net.Op("FullyConnected", {{"axis", int64_t{0}}, {"weights", int64_t{64}}},
             {Input(net, {32, 100}), net.Constant(F32({32, 64}))});
  const ValueId sum = net.Op("Add", {}, {product, Input(net, {64, 100})});
  net.Output(LayerNorm(net, sum, 64));
  EXPECT_THAT(Nodes(net), ElementsAre("FullyConnected", kNormOfSum));
}

TEST(FuseNorms, LeaveSumsOfOtherTypes) {
  const DataType half = DataType::kFloat16;
  Network net;
  const ValueId sum =
      net.Op("Add", {},
             {Input(net, {64, 100}, half), Input(net, {64, 100}, half)}, half);
  net.Output(LayerNorm(net, sum, 64, half));
  EXPECT_THAT(Nodes(net), ElementsAre("Add", "LayerNormalization"));
}

TEST(FuseNorms, TakeWhatFollows) {
  for (const auto device : {ir::DeviceClass::kCpu, ir::DeviceClass::kGpu}) {
    Network net;
    const ValueId image =
        net.Op("InstanceNormalization", {{"eps", 1e-5}},
               {Input(net, {20, 20, 64, 1}), net.Constant(F32({64})),
                net.Constant(F32({64}))});
    net.Output(net.Op("Relu", {}, {image}));
    const ValueId sum =
        net.Op("Add", {}, {Input(net, {64, 100}), Input(net, {64, 100})});
    net.Output(net.Op("Swish", {}, {LayerNorm(net, sum, 64)}));
    EXPECT_THAT(Nodes(net, device),
                UnorderedElementsAre("InstanceNormalization+Relu",
                                     "Add+LayerNormalization+Swish"));
  }
}

TEST(FuseReductions, TakeTheProductBeforeThem) {
  for (const auto device : {ir::DeviceClass::kCpu, ir::DeviceClass::kGpu}) {
    for (const std::string op : {"ReduceSum", "ReduceMean"}) {
      Network net;
      const ValueId product =
          net.Op("Multiply", {},
                 {Input(net, {20, 30, 16, 2}), Input(net, {1, 1, 16, 2})});
      net.Output(Reduce(net, op, product, {0, 1}));
      EXPECT_THAT(Nodes(net, device), ElementsAre("Multiply+" + op));
    }
  }
}

TEST(FuseReductions, LeaveAProductThatOthersRead) {
  Network net;
  const ValueId product =
      net.Op("Multiply", {}, {Input(net, {64, 100}), Input(net, {64, 100})});
  net.Output(Reduce(net, "ReduceSum", product, {0}));
  net.Output(Reduce(net, "ReduceSum", product, {1}));
  EXPECT_THAT(Nodes(net),
              UnorderedElementsAre("Multiply", "ReduceSum", "ReduceSum"));
}

TEST(FuseReductions, LeaveWhatWouldChangeBits) {
  const DataType half = DataType::kFloat16;
  Network net;
  const ValueId product =
      net.Op("Multiply", {},
             {Input(net, {64, 100}, half), Input(net, {64, 100}, half)}, half);
  net.Output(Reduce(net, "ReduceSum", product, {0}, half));
  EXPECT_THAT(Nodes(net), ElementsAre("Multiply", "ReduceSum"));
  EXPECT_THAT(Refusal(net, "Multiply", "reduce_product"),
              HasSubstr("takes a product with the ReduceSum or ReduceMean"));
  Network largest;
  const ValueId of_largest = largest.Op(
      "Multiply", {}, {Input(largest, {64, 100}), Input(largest, {64, 100})});
  largest.Output(Reduce(largest, "ReduceMax", of_largest, {0}));
  EXPECT_THAT(Nodes(largest), ElementsAre("Multiply", "ReduceMax"));
}

}  // namespace
}  // namespace tim::testing
