// What WriteGraph writes, ReadGraph reads.
#include "binary/graph_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "base/aligned_memory.h"
#include "tests/binary/assign.h"
#include "tests/support/toy_ops.h"

namespace tim::binary {
namespace {

using ir::Attribute;
using ir::AttributeType;
using testing::ToyGraph;
using testing::ToyOperators;

std::shared_ptr<const ir::ConstantData> Floats(std::vector<float> values) {
  return ir::MakeConstant(values.data(), values.size() * sizeof(float));
}

// toy.Everything has an attribute of every type.
const ir::OpRegistry& Operators() {
  static const ir::OpRegistry& operators = [&]() -> const ir::OpRegistry& {
    static ir::OpRegistry own(&ToyOperators());
    ir::OpSchema schema = *ToyOperators().Find("toy.Twice");
    schema.name = "Everything";
    schema.inputs = {0, 2};
    schema.version = 3;
    for (int type = 0; type <= static_cast<int>(AttributeType::kGraph);
         ++type) {
      schema.attributes.push_back(
          {.name = ir::ToString(static_cast<AttributeType>(type)),
           .type = static_cast<AttributeType>(type)});
    }
    own.Add(schema);
    return own;
  }();
  return operators;
}

// As verification leaves them.
ir::Graph Completed(ir::Graph graph) {
  for (const ir::NodeId id : graph.NodeIds()) {
    ir::Node& node = graph.node(id);
    if (node.schema == nullptr) continue;
    EXPECT_OK(ir::CompleteAttributes(*node.schema, &node.attributes));
  }
  return graph;
}

ir::AttributeMap Everything() {
  ToyGraph inner("inner");
  inner.Output(inner.Op("Twice", {inner.Input({2})}));
  return {
      {"bool", true},
      {"int", int64_t{-7}},
      {"float", 0.1},
      {"string", std::string("a\0b", 3)},
      {"ints", std::vector<int64_t>{1, -2, int64_t{1} << 40}},
      {"floats", std::vector<double>{1e-300, -0.0}},
      {"strings", std::vector<std::string>{"", "two"}},
      {"tensor", Attribute(Floats({1, 2}))},
      {"graph",
       Attribute(std::make_shared<const ir::Graph>(Completed(inner.graph())))}};
}

ir::TensorDesc Quantized() {
  ir::TensorDesc desc = {.type = ir::DataType::kInt8,
                         .shape = {3, 2},
                         .quantization = {},
                         .layout = {}};
  desc.quantization = {.kind = ir::QuantizationKind::kPerChannel,
                       .axis = 0,
                       .scales = {0.5f, 0.25f, 2},
                       .zero_points = {1}};
  return desc;
}

ir::Node CompositeNode(std::vector<ir::ValueId> inputs, ir::ValueId output,
                       std::shared_ptr<const ir::Composite> composite) {
  ir::Node node;
  node.name = "whole";
  node.inputs = std::move(inputs);
  node.outputs = {output};
  node.composite = std::move(composite);
  return node;
}

// With gaps between ids, every role, absent operands and a composite.
ir::Graph FullGraph() {
  ToyGraph toy("full");
  const ir::ValueId gap = toy.Input({1});
  const ir::ValueId x = toy.Input({4, 2});
  const ir::ValueId state = toy.State({4, 2});
  const ir::ValueId weights = toy.Constant({4, 2}, 3);
  ir::Graph& graph = toy.graph();
  graph.AddInput(ir::kNone);
  graph.value(state).constant = Floats({1, 2, 3, 4, 5, 6, 7, 8});
  const ir::ValueId codes =
      graph.AddConstant(Quantized(), ir::MakeConstant("abcdef", 6), "codes");
  graph.value(codes).is_scalar = true;
  const ir::ValueId sum = toy.Op("Sum", {x, weights});
  ir::TensorDesc open;
  open.type = ir::DataType::kFloat16;
  open.shape = ir::Shape::OfRank(2);
  open.layout = ir::Layout::Blocked(1, 16);
  open.shape.SetBound(1, 9);
  const ir::ValueId odd = graph.AddValue(open, ir::Role::kTransient, "odd");
  graph.value(odd).shape_declared = true;
  ir::Node all;
  all.name = "all #1";
  all.schema = Operators().Find("toy.Everything@3");
  all.attributes = Everything();
  all.inputs = {ir::kNone, sum};
  all.outputs = {odd};
  graph.AddNode(all);
  ToyGraph body("body");
  const ir::ValueId y = body.Input({4, 2});
  body.graph().AddInput(ir::kNone);
  body.Output(body.Op("Twice", {y}));
  auto composite = std::make_shared<ir::Composite>(ir::Composite{
      .name = "user.Whole", .body = Completed(body.graph()), .anchor = 0});
  const ir::ValueId out = graph.AddValue({}, {}, "out");
  graph.AddNode(CompositeNode({state, ir::kNone}, out, composite));
  graph.AddStateUpdate(state, sum);
  graph.AddOutput(out);
  graph.SetGraphInput(0, ir::kNone);
  graph.RemoveValue(gap);
  return Completed(graph);
}

ir::Graph Reread(const ir::Graph& graph) {
  const auto bytes = WriteGraph(graph);
  EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
  auto read = ReadGraph(*bytes, Operators());
  EXPECT_TRUE(read.ok()) << read.status().ToString();
  return read.ok() ? *read : ir::Graph();
}

TEST(GraphFile, HoldsTheWholeGraph) {
  const ir::Graph graph = FullGraph();
  const ir::Graph read = Reread(graph);
  EXPECT_EQ(read.Dump(), graph.Dump());
  ASSERT_EQ(read.ValueIds().size(), graph.ValueIds().size());
  for (size_t i = 0; i < read.ValueIds().size(); ++i) {
    const ir::Value& a = graph.value(graph.ValueIds()[i]);
    const ir::Value& b = read.value(read.ValueIds()[i]);
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.desc, b.desc) << a.name;
    EXPECT_EQ(a.role, b.role) << a.name;
    EXPECT_EQ(a.is_scalar, b.is_scalar) << a.name;
    EXPECT_EQ(a.shape_declared, b.shape_declared) << a.name;
    ASSERT_EQ(a.constant == nullptr, b.constant == nullptr) << a.name;
    if (a.constant) {
      EXPECT_EQ(a.constant->hash, b.constant->hash) << a.name;
    }
  }
  ASSERT_EQ(read.state_updates().size(), 1u);
  EXPECT_EQ(read.value(read.state_updates()[0].state).role, ir::Role::kState);
  EXPECT_EQ(read.node(2).composite->anchor, 0);
}

TEST(GraphFile, HoldsAttributesOfEveryType) {
  const ir::Graph read = Reread(FullGraph());
  const ir::AttributeMap& attributes = read.node(1).attributes;
  const ir::AttributeMap expected = Everything();
  for (const char* name :
       {"bool", "int", "float", "string", "ints", "floats", "strings"}) {
    ASSERT_NE(attributes.Find(name), nullptr) << name;
    EXPECT_TRUE(*attributes.Find(name) == *expected.Find(name)) << name;
  }
  using Data = std::shared_ptr<const ir::ConstantData>;
  using Body = std::shared_ptr<const ir::Graph>;
  EXPECT_EQ(std::get<Data>(*attributes.Find("tensor"))->hash,
            Floats({1, 2})->hash);
  EXPECT_EQ(std::get<Body>(*attributes.Find("graph"))->Dump(),
            std::get<Body>(*expected.Find("graph"))->Dump());
}

TEST(GraphFile, IsTheSameEveryTime) {
  const ir::Graph graph = FullGraph();
  ASSERT_OK_AND_ASSIGN(const auto first, WriteGraph(graph));
  ASSERT_OK_AND_ASSIGN(const auto second, WriteGraph(graph));
  EXPECT_EQ(first, second);
  ASSERT_OK_AND_ASSIGN(const auto third, WriteGraph(Reread(graph)));
  EXPECT_EQ(first, third);
}

ir::Graph WithConstants(size_t count, float step) {
  ToyGraph toy;
  ir::ValueId sum = toy.Input({1024});
  for (size_t i = 0; i < count; ++i) {
    sum = toy.Op("Sum",
                 {sum, toy.Constant({1024}, 1 + step * static_cast<float>(i))});
  }
  toy.Output(sum);
  return toy.graph();
}

TEST(GraphFile, HoldsEqualConstantsOnce) {
  ASSERT_OK_AND_ASSIGN(const auto equal, WriteGraph(WithConstants(10, 0)));
  ASSERT_OK_AND_ASSIGN(const auto other, WriteGraph(WithConstants(10, 1)));
  EXPECT_LT(equal.size(), 3u * 4096);
  EXPECT_GE(other.size(), 10u * 4096);
}

// Where a program mapped or loaded it.
std::shared_ptr<std::byte[]> At(const std::vector<std::byte>& bytes,
                                size_t offset) {
  auto memory =
      AllocateAligned(static_cast<int64_t>(bytes.size() + offset), 4096);
  std::memcpy(memory.get() + offset, bytes.data(), bytes.size());
  return {std::move(memory)};
}

const ir::Value& FirstConstant(const ir::Graph& graph) {
  for (const ir::ValueId id : graph.ValueIds()) {
    if (graph.value(id).constant) return graph.value(id);
  }
  static const ir::Value none;
  ADD_FAILURE() << "no constant";
  return none;
}

TEST(GraphFile, ConstantsLieInTheBytesThatTheGraphKeeps) {
  ASSERT_OK_AND_ASSIGN(const auto bytes, WriteGraph(WithConstants(2, 1)));
  auto memory = At(bytes, 0);
  const std::weak_ptr<std::byte[]> alive = memory;
  const std::byte* const begin = memory.get();
  {
    ASSERT_OK_AND_ASSIGN(
        const ir::Graph graph,
        ReadGraph({begin, bytes.size()}, Operators(), {.keeper = memory}));
    memory.reset();
    const ir::ConstantData& constant = *FirstConstant(graph).constant;
    EXPECT_GE(constant.bytes.data(), begin);
    EXPECT_LE(constant.bytes.end(), begin + bytes.size());
    EXPECT_TRUE(IsAligned(constant.bytes.data(), ir::kSharedAlignment));
    EXPECT_FALSE(alive.expired());
    EXPECT_EQ(constant.hash, Floats(std::vector<float>(1024, 1))->hash);
  }
  EXPECT_TRUE(alive.expired());
}

TEST(GraphFile, ConstantsAreCopiedWithoutAKeeper) {
  ASSERT_OK_AND_ASSIGN(auto bytes, WriteGraph(WithConstants(2, 1)));
  ASSERT_OK_AND_ASSIGN(const ir::Graph graph, ReadGraph(bytes, Operators()));
  std::fill(bytes.begin(), bytes.end(), std::byte{0});
  const float* data = reinterpret_cast<const float*>(
      FirstConstant(graph).constant->bytes.data());
  EXPECT_EQ(data[1023], 1);
}

TEST(GraphFile, AnyAddressIsGood) {
  const ir::Graph graph = FullGraph();
  ASSERT_OK_AND_ASSIGN(const auto bytes, WriteGraph(graph));
  for (const size_t offset : {1u, 2u, 4u, 8u, 31u, 33u}) {
    const auto memory = At(bytes, offset);
    ASSERT_OK_AND_ASSIGN(const ir::Graph read,
                         ReadGraph({memory.get() + offset, bytes.size()},
                                   Operators(), {.keeper = memory}));
    EXPECT_EQ(read.Dump(), graph.Dump()) << offset;
  }
}

TEST(GraphFile, OperatorsAreFoundByVersion) {
  ASSERT_OK_AND_ASSIGN(const auto bytes, WriteGraph(FullGraph()));
  const auto read = ReadGraph(bytes, ToyOperators());
  EXPECT_EQ(read.status().code(), StatusCode::kUnimplemented);
  EXPECT_ERROR(read,
               "operation 'all #1': this library has no operator "
               "'toy.Everything@3'");
}

ir::Graph Nested(int depth) {
  ToyGraph toy(StrCat("at depth ", depth));
  const ir::ValueId x = toy.Input({2});
  if (depth == 1) {
    toy.Output(toy.Op("Twice", {x}));
    return Completed(toy.graph());
  }
  auto composite = std::make_shared<ir::Composite>(
      ir::Composite{.name = "user.Nest", .body = Nested(depth - 1)});
  const ir::ValueId out = toy.graph().AddValue({}, {}, "out");
  toy.graph().AddNode(CompositeNode({x}, out, composite));
  toy.Output(out);
  return toy.graph();
}

TEST(GraphFile, NestsToALimit) {
  EXPECT_EQ(Reread(Nested(32)).Dump(), Nested(32).Dump());
  const auto deep = WriteGraph(Nested(33));
  EXPECT_EQ(deep.status().code(), StatusCode::kUnimplemented);
  EXPECT_ERROR(deep, "deeper than 32");
}

}  // namespace
}  // namespace tim::binary
