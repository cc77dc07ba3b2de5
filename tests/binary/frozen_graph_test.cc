// Graphs that are frozen and thawed instead of being written and read.
#include "binary/frozen_graph.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "binary/graph_file.h"
#include "ir/op_schema.h"
#include "ir/typed_kernel.h"
#include "tests/binary/assign.h"
#include "tests/support/status_macros.h"
#include "tests/support/toy_ops.h"

namespace tim::binary {
namespace {

using testing::ToyGraph;
using testing::ToyOperators;

// user.Gate#1: a user's kernel, which the registry alone knows.
std::unique_ptr<ir::OpRegistry> WithGate(const std::string& text) {
  auto registry = std::make_unique<ir::OpRegistry>(&ToyOperators());
  registry->Add(ir::OpSchema{.domain = "user",
                             .name = "Gate#1",
                             .inputs = {1, 1},
                             .outputs = {1, 1},
                             .user_kernel = true});
  registry->Add(ir::PlainKernel{
      .op = "user.Gate#1",
      .name = "user.Gate#1",
      .analyze = [](const ir::KernelNode&,
                    const ir::DeviceInfo&) { return OkStatus(); },
      .cost = [](const ir::KernelNode&, const ir::DeviceInfo&) { return 1.0; },
      .lower = [text](const ir::KernelNode&,
                      const ir::DeviceInfo&) -> Result<ir::Lowering> {
        ir::UserLaunch launch;
        launch.text = text;
        using Kind = ir::LoweredOperand::Kind;
        ir::Lowering lowering;
        lowering.steps.push_back(
            {.action = launch,
             .operands = {{Kind::kInput, 0}, {Kind::kOutput, 0}},
             .written = {false, true}});
        return lowering;
      }});
  return registry;
}

ir::TensorDesc Four() {
  ir::TensorDesc desc;
  desc.type = ir::DataType::kFloat32;
  desc.shape = {4};
  return desc;
}

// y = Gate(x).
ir::Graph GateGraph(const ir::OpRegistry& registry) {
  ir::Graph graph("gate");
  ir::Node node;
  node.name = "Gate#1";
  node.schema = registry.Find("user.Gate#1");
  node.inputs = {graph.AddValue(Four(), ir::Role::kInput, "x")};
  node.outputs = {graph.AddValue(Four(), ir::Role::kTransient, "y")};
  graph.AddInput(node.inputs[0]);
  graph.AddOutput(node.outputs[0]);
  graph.AddNode(std::move(node));
  return graph;
}

// The text that its only node's kernel in `registry` has.
std::string TextOf(const ir::Graph& graph, const ir::OpRegistry& registry) {
  const ir::Node& node = graph.node(graph.NodeIds().at(0));
  const auto kernels = registry.Kernels(
      StrCat(node.schema->domain, ".", node.schema->name), "opencl");
  if (kernels.size() != 1) return "no kernel";
  const ir::KernelNode view = ir::MakeKernelNode(graph, node);
  const auto problem = ir::Analyze(*kernels[0], view, {});
  if (!problem.ok()) return problem.status().message();
  const auto lowering = kernels[0]->lower(*problem, view, {});
  EXPECT_OK(lowering);
  return std::get<ir::UserLaunch>(lowering->steps.at(0).action).text;
}

TEST(FrozenGraph, UsersOperatorsOutliveTheirRegistry) {
  auto source = WithGate("the kernel");
  ASSERT_OK_AND_ASSIGN(const FrozenGraph frozen,
                       FreezeGraph(GateGraph(*source), *source));
  source = nullptr;
  ir::OpRegistry own(&ToyOperators());
  ASSERT_OK_AND_ASSIGN(const ir::Graph a, ThawGraph(frozen, "a.", &own));
  ASSERT_OK_AND_ASSIGN(const ir::Graph b, ThawGraph(frozen, "b.", &own));
  EXPECT_EQ(a.node(0).schema, own.Find("user.a.Gate#1"));
  EXPECT_EQ(b.node(0).schema, own.Find("user.b.Gate#1"));
  for (const ir::Graph* graph : {&a, &b}) {
    EXPECT_EQ(TextOf(*graph, own), "the kernel");
    EXPECT_TRUE(graph->node(0).schema->user_kernel);
  }
}

TEST(FrozenGraph, AreFrozenInBodiesAndInAttributes) {
  const auto source = WithGate("inside");
  const ir::Graph inner = GateGraph(*source);
  ir::Graph graph("outer");
  ir::Node node;
  node.name = "Whole";
  node.composite = std::make_shared<ir::Composite>(
      ir::Composite{.name = "toy.Whole", .body = inner});
  node.attributes.Set("graph",
                      ir::Attribute(std::make_shared<const ir::Graph>(inner)));
  node.inputs = {graph.AddValue(Four(), ir::Role::kInput, "x")};
  node.outputs = {graph.AddValue(Four(), ir::Role::kTransient, "y")};
  graph.AddInput(node.inputs[0]);
  graph.AddOutput(node.outputs[0]);
  graph.AddNode(std::move(node));
  ASSERT_OK_AND_ASSIGN(const FrozenGraph frozen, FreezeGraph(graph, *source));
  EXPECT_EQ(frozen.operators.size(), 1u);
  ir::OpRegistry own(&ToyOperators());
  ASSERT_OK_AND_ASSIGN(const ir::Graph thawed, ThawGraph(frozen, "", &own));
  const ir::Node& whole = thawed.node(0);
  EXPECT_EQ(TextOf(whole.composite->body, own), "inside");
  const auto& attribute = std::get<std::shared_ptr<const ir::Graph>>(
      *whole.attributes.Find("graph"));
  EXPECT_EQ(TextOf(*attribute, own), "inside");
  // The graph that it was made of is as it was.
  EXPECT_EQ(graph.node(0).composite->body.node(0).schema,
            source->Find("user.Gate#1"));
}

TEST(FrozenGraph, HasWhatAFileHas) {
  ToyGraph toy;
  const ir::ValueId x = toy.Input({4});
  const ir::ValueId unused = toy.Op("Twice", {x});
  const ir::ValueId y = toy.Op("Twice", {x});
  toy.Output(y);
  ir::Graph& graph = toy.graph();
  graph.RemoveNode(graph.value(unused).producer);
  graph.RemoveValue(unused);
  const ir::NodeId id = graph.value(y).producer;
  graph.node(id).device = 1;
  graph.value(y).preferred_shape = {2, 2};
  ASSERT_OK_AND_ASSIGN(const FrozenGraph frozen,
                       FreezeGraph(graph, ToyOperators()));
  ASSERT_OK_AND_ASSIGN(const ir::Graph thawed, ThawGraph(frozen, "", nullptr));
  // Ids stay.
  EXPECT_FALSE(thawed.HasValue(unused));
  EXPECT_EQ(thawed.outputs(), graph.outputs());
  EXPECT_EQ(thawed.node(id).schema, graph.node(id).schema);
  EXPECT_EQ(thawed.node(id).device, -1);
  EXPECT_FALSE(thawed.value(y).preferred_shape.ranked());
}

TEST(FrozenGraph, FailsWhereAFileWould) {
  ir::Graph graph("innermost");
  for (int depth = 0; depth < 40; ++depth) {
    ir::Graph outer("outer");
    ir::Node node;
    node.name = "Whole";
    node.composite = std::make_shared<ir::Composite>(
        ir::Composite{.name = "toy.Whole", .body = graph});
    outer.AddNode(std::move(node));
    graph = outer;
  }
  const Status written = EncodeGraph(graph).status();
  const Status frozen = FreezeGraph(graph, ToyOperators()).status();
  EXPECT_EQ(frozen.code(), written.code());
  EXPECT_EQ(frozen.message(), written.message());
  EXPECT_NE(frozen.message().find("nested deeper than"), std::string::npos);
}

}  // namespace
}  // namespace tim::binary
