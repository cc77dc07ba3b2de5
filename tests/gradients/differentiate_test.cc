// Differentiation of whole graphs: sums, zeros, what is cut off, what is
// missing, and what is left in the graph.
#include "compiler/differentiate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "compiler/compiler.h"
#include "compiler/module.h"
#include "compiler/passes/passes.h"
#include "ir/inferred_node.h"
#include "ops/builtin.h"
#include "tests/gradients/gradient_check.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;
using ir::Shape;
using ir::ValueId;

// Adds nodes whose shapes are inferred at once.
class Net {
 public:
  ValueId Input(Shape shape, ir::DataType type = ir::DataType::kFloat32) {
    ir::TensorDesc desc;
    desc.type = type;
    desc.shape = std::move(shape);
    const ValueId id = graph_.AddValue(desc, ir::Role::kInput,
                                       StrCat("x", graph_.inputs().size()));
    graph_.AddInput(id);
    return id;
  }
  ValueId Op(const std::string& op, std::vector<ValueId> inputs,
             ir::AttributeMap attributes = {},
             ir::DataType type = ir::DataType::kUnknown) {
    ir::TensorDesc output;
    output.type = type;
    const auto added = ir::AddInferredNode({.op = "tim." + op,
                                            .name = "",
                                            .inputs = std::move(inputs),
                                            .attributes = std::move(attributes),
                                            .outputs = {output}},
                                           ops::BuiltinOperators(), &graph_);
    EXPECT_OK(added);
    return added.ok() ? graph_.node(*added).outputs[0] : ir::kNone;
  }
  ValueId Sum(ValueId x) {
    Ints axes;
    for (int i = 0; i < graph_.value(x).desc.shape.rank(); ++i) {
      axes.push_back(i);
    }
    return Op("ReduceSum", {x}, {{"axis", axes}, {"keep_dims", false}});
  }
  void Output(ValueId value) { graph_.AddOutput(value); }
  ir::Graph& graph() { return graph_; }

  Result<ir::Graph> Differentiate(const std::vector<int>& wrt) const {
    return compiler::Differentiate(graph_, ops::BuiltinOperators(), wrt);
  }

 private:
  ir::Graph graph_{"net"};
};

TEST(Differentiate, OutputsAreFollowedByGradients) {
  Net net;
  const ValueId x = net.Input({3});
  const ValueId y = net.Input({3});
  net.Output(net.Sum(net.Op("Multiply", {x, y})));
  net.Output(net.Op("Neg", {x}));
  const auto graph = net.Differentiate({1, 0});
  ASSERT_OK(graph);
  ASSERT_EQ(graph->inputs().size(), 2u);
  EXPECT_THAT(EvaluateFloats(*graph, {{1, 2, 3}, {4, 5, 6}}),
              ElementsAre(Floats{32}, Floats{-1, -2, -3}, Floats{1, 2, 3},
                          Floats{4, 5, 6}));
}

TEST(Differentiate, AValueThatIsUsedThriceGetsTheSum) {
  Net net;
  const ValueId x = net.Input({2});
  const ValueId square = net.Op("Square", {x});
  net.Output(net.Sum(net.Op(
      "Add", {net.Op("Multiply", {square, x}), net.Op("Add", {square, x})})));
  const auto graph = net.Differentiate({0});
  ASSERT_OK(graph);
  EXPECT_THAT(EvaluateFloats(*graph, {{2, -3}})[1], ElementsAre(17, 22));
}

// 3 + 2^-11 + 2^-11 is 3 in float16 where it is rounded after each sum.
TEST(Differentiate, ManySumsAccumulateInFloat32) {
  Net net;
  const ValueId x = net.Input({1}, ir::DataType::kFloat32);
  const ValueId half = net.Op("DataConvert", {x}, {}, ir::DataType::kFloat16);
  ValueId sum = net.Op("Linear", {half}, {{"a", 3.0}});
  for (int i = 0; i < 4; ++i) {
    const ValueId small =
        net.Op("Linear", {half}, {{"a", 0x1p-11 + i * 0.0}, {"b", double(i)}});
    sum = net.Op("Add", {sum, small});
  }
  net.Output(net.Op("DataConvert", {sum}, {}, ir::DataType::kFloat32));
  const auto graph = net.Differentiate({0});
  ASSERT_OK(graph);
  EXPECT_THAT(EvaluateFloats(*graph, {{1}})[1], ElementsAre(3 + 0x1p-9f));
}

TEST(Differentiate, GradientOfAGradientOfACubic) {
  Net net;
  const ValueId x = net.Input({1});
  net.Output(net.Op("Multiply", {net.Op("Square", {x}), x}));
  const auto once = net.Differentiate({0});
  ASSERT_OK(once);
  ir::Graph slope = *once;
  slope.SetGraphOutput(0, slope.outputs()[1]);
  const auto twice =
      compiler::Differentiate(slope, ops::BuiltinOperators(), {0});
  ASSERT_OK(twice);
  const auto found = EvaluateFloats(*twice, {{3}});
  EXPECT_THAT(found[0], ElementsAre(27));
  EXPECT_THAT(found[2], ElementsAre(18));
}

TEST(Differentiate, WhatDoesNotCountHasZeros) {
  Net net;
  const ValueId x = net.Input({2});
  net.Input({70, 50});
  net.Output(net.Sum(net.Op("Square", {x})));
  const auto graph = net.Differentiate({1, 0});
  ASSERT_OK(graph);
  const auto found = EvaluateFloats(*graph, {{1, 2}, Floats(3500, 1)});
  EXPECT_EQ(found[1], Floats(3500, 0));
  EXPECT_THAT(found[2], ElementsAre(2, 4));
}

TEST(Differentiate, StopGradientCuts) {
  Net net;
  const ValueId x = net.Input({2});
  const ValueId cut = net.Op("StopGradient", {net.Op("Square", {x})});
  net.Output(net.Sum(net.Op("Multiply", {x, cut})));
  const auto graph = net.Differentiate({0});
  ASSERT_OK(graph);
  EXPECT_THAT(EvaluateFloats(*graph, {{2, 3}})[1], ElementsAre(4, 9));
}

TEST(Differentiate, AnOperatorWithoutARuleIsNamed) {
  Net net;
  const ValueId x = net.Input({4, 3});
  const ValueId sums = net.Op("CumSum", {x}, {{"axis", int64_t{0}}});
  net.Output(net.Sum(sums));
  const auto graph = net.Differentiate({0});
  EXPECT_ERROR(graph, "the gradient of x0 cannot be made");
  EXPECT_ERROR(graph, "operator tim.CumSum has no gradient rule");
  EXPECT_ERROR(graph, "CumSum#0");
  EXPECT_ERROR(graph, "StopGradient");
  EXPECT_ERROR(graph, "Replace");
}

TEST(Differentiate, AModeWithoutARuleIsNamed) {
  Net net;
  const ValueId x = net.Input({4, 3});
  net.Output(net.Sum(net.Op("Pad", {x},
                            {{"front_size", Ints{1, 0}},
                             {"back_size", Ints{0, 0}},
                             {"pad_mode", int64_t{1}}})));
  EXPECT_ERROR(net.Differentiate({0}),
               "only pad_mode constant has a gradient rule");
}

TEST(Differentiate, AMissingRuleThatIsCutOffDoesNotMatter) {
  Net net;
  const ValueId x = net.Input({4});
  const ValueId cut = net.Op("StopGradient", {net.Op("Square", {x})});
  const ValueId sums = net.Op("CumSum", {cut}, {{"axis", int64_t{0}}});
  net.Output(net.Sum(net.Op("Multiply", {sums, x})));
  const auto graph = net.Differentiate({0});
  ASSERT_OK(graph);
  EXPECT_THAT(EvaluateFloats(*graph, {{1, 1, 1, 1}})[1],
              ElementsAre(1, 2, 3, 4));
}

TEST(Differentiate, IntegersHaveNoCotangents) {
  Net net;
  const ValueId x = net.Input({2});
  const ValueId whole = net.Op("Cast", {x}, {}, ir::DataType::kInt32);
  const ValueId back = net.Op("Cast", {whole}, {}, ir::DataType::kFloat32);
  net.Output(net.Sum(net.Op("Multiply", {back, x})));
  const auto graph = net.Differentiate({0});
  ASSERT_OK(graph);
  EXPECT_THAT(EvaluateFloats(*graph, {{2.5f, 3.5f}})[1], ElementsAre(2, 3));
}

TEST(Differentiate, MistakesAreNamed) {
  Net net;
  const ValueId x = net.Input({2});
  net.Input({2}, ir::DataType::kInt32);
  EXPECT_ERROR(net.Differentiate({0}), "graph net has no output");
  net.Output(net.Op("Square", {x}));
  EXPECT_ERROR(net.Differentiate({0}),
               "output 0 is float32 [2], expected one element");
  net.graph().SetGraphOutput(0, net.Sum(x));
  EXPECT_ERROR(net.Differentiate({2}), "there is none of number 2");
  EXPECT_ERROR(net.Differentiate({-1}), "there is none of number -1");
  EXPECT_ERROR(net.Differentiate({0, 0}), "input 0 is named twice");
  EXPECT_ERROR(net.Differentiate({1}), "input 1 x1 is int32 [2]");
}

TEST(Differentiate, UnknownShapesAreNamed) {
  Net net;
  const ValueId x = net.Input({2, ir::kUnknownDim});
  net.Output(net.Sum(net.Op("Square", {x})));
  EXPECT_ERROR(net.Differentiate({0}), "shapes of operands are not known");
}

// ---- What is left in the graph ----

// Nodes by operator, attributes and inputs; equal ones are one.
std::multiset<std::string> NodeTexts(const ir::Graph& graph) {
  std::multiset<std::string> out;
  for (const ir::NodeId id : graph.NodeIds()) {
    const ir::Node& node = graph.node(id);
    out.insert(StrCat(node.schema->Key(), node.attributes.ToString(),
                      StrJoin(node.inputs, ",")));
  }
  return out;
}

void ExpectNoNodeTwice(const ir::Graph& graph) {
  const auto texts = NodeTexts(graph);
  for (const std::string& text : texts)
    EXPECT_EQ(texts.count(text), 1u) << text;
}

// Two convolutions with pools, two matrices and a loss, as LeNet.
Net Lenet() {
  Net net;
  const ir::AttributeMap pool = {
      {"type", int64_t{0}}, {"ksize", Ints{2, 2}}, {"stride", Ints{2, 2}}};
  const ValueId image = net.Input({16, 16, 1, 2});
  ValueId x =
      net.Op("Conv2d", {image, net.Input({5, 5, 1, 4}), net.Input({4})});
  x = net.Op("Pool2d", {net.Op("Relu", {x})}, pool);
  x = net.Op("Conv2d", {x, net.Input({3, 3, 4, 6}), net.Input({6})});
  x = net.Op("Pool2d", {net.Op("Relu", {x})}, pool);
  x = net.Op("Reshape", {x}, {{"shape", Ints{-1, 2}}});
  x = net.Op("FullyConnected", {x, net.Input({24, 10}), net.Input({10})},
             {{"axis", int64_t{0}}});
  x = net.Op("Relu", {x});
  x = net.Op("FullyConnected", {x, net.Input({10, 5}), net.Input({5})},
             {{"axis", int64_t{0}}});
  x = net.Op("LogSoftmax", {x}, {{"axis", int64_t{0}}});
  x = net.Op("Multiply", {x, net.Input({5, 2})});
  net.Output(net.Op("Neg", {net.Sum(x)}));
  return net;
}

TEST(Differentiate, SharesTheForwardPartAndHasNoNodeTwice) {
  Net net = Lenet();
  const size_t forward = net.graph().NodeIds().size();
  const auto graph = net.Differentiate({1, 2, 3, 4, 5, 6, 7, 8});
  ASSERT_OK(graph);
  ExpectNoNodeTwice(*graph);
  const size_t nodes = graph->NodeIds().size();
  EXPECT_LE(static_cast<double>(nodes), 3.5 * static_cast<double>(forward));
  RecordProperty("forward", static_cast<int>(forward));
  RecordProperty("nodes", static_cast<int>(nodes));
  std::map<std::string, int> count;
  for (const ir::NodeId id : graph->NodeIds()) {
    ++count[graph->node(id).schema->name];
  }
  // Two of the forward part, two for weights, one for what is between.
  EXPECT_EQ(count["Conv2d"], 4);
  EXPECT_EQ(count["DeConv2d"], 1);
  EXPECT_EQ(count["FullyConnected"], 2);
  EXPECT_EQ(count["LogSoftmax"], 1);
}

TEST(Differentiate, TheLenetsGradientsAgreeWithDifferences) {
  Net net = Lenet();
  const auto graph = net.Differentiate({2, 7});
  ASSERT_OK(graph);
  std::vector<Floats> inputs;
  for (const ValueId id : net.graph().inputs()) {
    inputs.push_back(SpacedValues(
        {.shape = net.graph().value(id).desc.shape, .low = -0.5, .high = 0.5},
        static_cast<uint32_t>(inputs.size())));
  }
  const auto found = EvaluateFloats(*graph, inputs);
  for (const auto& [input, output] : {std::pair(2, 1), std::pair(7, 2)}) {
    float largest = 0;
    for (const float g : found[output])
      largest = std::max(largest, std::fabs(g));
    for (size_t i = 0; i < std::min<size_t>(found[output].size(), 8); ++i) {
      std::vector<Floats> moved = inputs;
      moved[input][i] += 0x1p-10f;
      const float above = EvaluateFloats(net.graph(), moved)[0][0];
      moved[input][i] -= 0x1p-9f;
      const float below = EvaluateFloats(net.graph(), moved)[0][0];
      EXPECT_NEAR(found[output][i], (above - below) * 512, 0.02f * largest);
    }
  }
}

// ---- MergeEqual ----

Status Merge(ir::Graph* graph, const ir::OpRegistry& registry) {
  compiler::CompileOptions options;
  compiler::Module module(*graph, registry, options);
  const Status status = compiler::MergeEqual(module);
  *graph = module.graph;
  return status;
}

TEST(MergeEqual, EqualNodesBecomeOne) {
  Net net;
  const ValueId x = net.Input({3});
  const ValueId a = net.Op("Square", {x});
  const ValueId b = net.Op("Square", {x});
  net.Output(net.Op("Add", {net.Op("Neg", {a}), net.Op("Neg", {b})}));
  net.Output(net.Op("Linear", {a}, {{"a", 2.0}}));
  net.Output(net.Op("Linear", {b}, {{"a", 3.0}}));
  ASSERT_OK(Merge(&net.graph(), ops::BuiltinOperators()));
  EXPECT_EQ(net.graph().NodeIds().size(), 5u);
  ExpectNoNodeTwice(net.graph());
  EXPECT_THAT(
      EvaluateFloats(net.graph(), {{1, 2, 3}}),
      ElementsAre(Floats{-2, -8, -18}, Floats{2, 8, 18}, Floats{3, 12, 27}));
}

TEST(MergeEqual, RandomAndOrderedNodesStay) {
  for (const bool ordered : {false, true}) {
    ir::OpRegistry registry(&ops::BuiltinOperators());
    ir::OpSchema schema = *registry.Find("tim.Square");
    schema.name = "Effect";
    schema.effects = {.random = !ordered, .ordered = ordered};
    registry.Add(std::move(schema));
    Net net;
    const ValueId x = net.Input({3});
    for (int i = 0; i < 2; ++i) {
      const auto added =
          ir::AddInferredNode({.op = "tim.Effect", .name = "", .inputs = {x}},
                              registry, &net.graph());
      ASSERT_OK(added);
      net.Output(net.graph().node(*added).outputs[0]);
    }
    ASSERT_OK(Merge(&net.graph(), registry));
    EXPECT_EQ(net.graph().NodeIds().size(), 2u);
  }
}

TEST(MergeEqual, OutputsMayBeOneValue) {
  Net net;
  const ValueId x = net.Input({2});
  net.Output(net.Op("Square", {x}));
  net.Output(net.Op("Square", {x}));
  ASSERT_OK(Merge(&net.graph(), ops::BuiltinOperators()));
  EXPECT_EQ(net.graph().NodeIds().size(), 1u);
  compiler::CompileOptions options;
  options.devices.resize(1);
  options.devices[0].runs_eval = true;
  EXPECT_OK(compiler::Compile(net.graph(), ops::BuiltinOperators(), options));
}

}  // namespace
}  // namespace tim::testing
