// Mistakes of clients: refused with a message, never a crash.
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using vx::DataType;
using vx::Graph;
using vx::Operation;
using vx::Quantization;
using vx::QuantType;
using vx::ShapeType;
using vx::Tensor;
using vx::TensorAttribute;
using vx::TensorSpec;

// The tensor cannot be made, every use says `text`, and Compile() names the
// operation too.
void ExpectUnusable(const TensorSpec& spec, const std::string& text) {
  ReluGraph g({2});
  const auto tensor = g.graph->CreateTensor(spec);
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->GetId(), 0xFFFFFFFFu);
  EXPECT_NE(vx::LastError().find(text), std::string::npos) << vx::LastError();
  const size_t inputs = g.graph->InputsTensor().size();
  EXPECT_EQ(inputs, 1u);
  float data[2] = {};
  EXPECT_FALSE(tensor->CopyDataToTensor(data));
  EXPECT_FALSE(tensor->CopyDataFromTensor(data));
  EXPECT_EQ(tensor->map(), nullptr);
  EXPECT_EQ(tensor->ConvertTensorToData(nullptr), nullptr);
  EXPECT_NE(vx::LastError().find(text), std::string::npos) << vx::LastError();
  auto relu = g.graph->CreateOperation<vx::ops::Relu>();
  (*relu).BindInput(tensor).BindOutput(
      g.graph->CreateTensor(Floats({}, TensorAttribute::TRANSIENT)));
  EXPECT_TRUE(CompileFailsWith(*g.graph, text));
  EXPECT_TRUE(CompileFailsWith(*g.graph, "Relu#2"));
}

TEST(BadTensor, RankAboveEight) {
  ExpectUnusable(Floats(ShapeType(9, 1), TensorAttribute::INPUT), "rank 9");
}

TEST(BadTensor, ZeroExtent) {
  ExpectUnusable(Floats({2, 0}, TensorAttribute::INPUT),
                 "[2, 0] has an extent of 0");
}

TEST(BadTensor, NoShape) {
  for (const auto attribute :
       {TensorAttribute::INPUT, TensorAttribute::CONSTANT,
        TensorAttribute::VARIABLE}) {
    ExpectUnusable(Floats({}, attribute), "needs a shape");
  }
}

TEST(BadTensor, OverflowingSize) {
  ExpectUnusable(Floats(ShapeType(8, 0xFFFFFFFF), TensorAttribute::CONSTANT),
                 "overflows 64 bits");
  ExpectUnusable(Floats({0xFFFFFFFF, 0x7FFFFFFF}, TensorAttribute::VARIABLE),
                 "overflows 64 bits");
}

TEST(BadTensor, MoreMemoryThanThereIs) {
  for (const auto attribute :
       {TensorAttribute::INPUT, TensorAttribute::VARIABLE,
        TensorAttribute::CONSTANT}) {
    const auto graph = HostGraph();
    const auto tensor =
        graph->CreateTensor(Floats({0xFFFFFFFF, 0x1FFFFFFF}, attribute));
    EXPECT_EQ(tensor->GetId(), 0xFFFFFFFFu);
    EXPECT_NE(vx::LastError().find("memory"), std::string::npos);
  }
}

TEST(BadTensor, UnknownTypeOrAttribute) {
  ExpectUnusable(TensorSpec(DataType::UNKNOWN, {2}, TensorAttribute::INPUT),
                 "UNKNOWN is for TRANSIENT");
  ExpectUnusable(
      TensorSpec(static_cast<DataType>(99), {2}, TensorAttribute::TRANSIENT),
      "data type 99 does not exist");
  ExpectUnusable(
      TensorSpec(DataType::INT8, {2}, static_cast<TensorAttribute>(3)),
      "attribute 3 does not exist");
}

TEST(BadTensor, IoTensorOfAnotherAttribute) {
  const auto graph = HostGraph();
  alignas(64) float data[2];
  const auto tensor =
      graph->CreateIOTensor(Floats({2}, TensorAttribute::CONSTANT), data);
  EXPECT_EQ(tensor->GetId(), 0xFFFFFFFFu);
  EXPECT_NE(vx::LastError().find("INPUT and OUTPUT"), std::string::npos);
  EXPECT_TRUE(graph->InputsTensor().empty());
  EXPECT_EQ(
      graph->CreateIOTensor(Floats({}, TensorAttribute::OUTPUT), data)->GetId(),
      0xFFFFFFFFu);
}

// Compiles Relu on an input of this quantization.
std::shared_ptr<Graph> GraphOn(const Quantization& quantization) {
  const auto graph = HostGraph();
  const auto in = graph->CreateTensor(TensorSpec(
      DataType::UINT8, {2, 3}, TensorAttribute::INPUT, quantization));
  const auto out = graph->CreateTensor(Floats({2, 3}, TensorAttribute::OUTPUT));
  auto relu = graph->CreateOperation<vx::ops::Relu>();
  (*relu).BindInput(in).BindOutput(out);
  return graph;
}

TEST(BadQuantization, IsRefusedByCompile) {
  const auto channels = QuantType::SYMMETRIC_PER_CHANNEL;
  EXPECT_TRUE(
      CompileFailsWith(*GraphOn(Quantization(channels, 1, {1, 1}, {0, 0})),
                       "2 scales along axis 1 with 3 channels"));
  EXPECT_TRUE(
      CompileFailsWith(*GraphOn(Quantization(channels, 2, {1, 1, 1}, {0})),
                       "channel dimension 2 is outside rank 2"));
  EXPECT_TRUE(CompileFailsWith(
      *GraphOn(Quantization(QuantType::ASYMMETRIC, -1, {}, {})), "no scale"));
  EXPECT_TRUE(CompileFailsWith(
      *GraphOn(Quantization(QuantType::ASYMMETRIC, 0.0f, 0)), "scale 0"));
  // One scale for all channels is legal.
  EXPECT_TRUE(GraphOn(Quantization(channels, -1, {0.5f}, {0}))->Compile())
      << vx::LastError();
}

TEST(BadBinding, Null) {
  ReluGraph g({2});
  auto relu = g.graph->CreateOperation<vx::ops::Relu>();
  (*relu).BindInput(nullptr);
  EXPECT_NE(vx::LastError().find("Relu#2: input 0: the tensor is null"),
            std::string::npos)
      << vx::LastError();
  EXPECT_TRUE(CompileFailsWith(*g.graph, "input 0: the tensor is null"));
}

TEST(BadBinding, TensorOfAnotherGraph) {
  ReluGraph g({2});
  ReluGraph other({2});
  auto relu = g.graph->CreateOperation<vx::ops::Relu>();
  (*relu).BindInput(g.input).BindOutput(other.output);
  EXPECT_TRUE(
      CompileFailsWith(*g.graph, "output 0: the tensor belongs to another"));
  EXPECT_TRUE(other.graph->Run()) << vx::LastError();
}

TEST(BadBinding, TooManyOrTooFew) {
  ReluGraph surplus({2});
  (*surplus.relu).BindInput(surplus.input);
  EXPECT_TRUE(CompileFailsWith(*surplus.graph, "2 inputs are bound"));
  ReluGraph outputs({2});
  (*outputs.relu)
      .BindOutput(
          outputs.graph->CreateTensor(Floats({2}, TensorAttribute::OUTPUT)));
  EXPECT_TRUE(CompileFailsWith(*outputs.graph, "2 outputs are bound"));
  ReluGraph missing({2});
  missing.graph->CreateOperation<vx::ops::Relu>();
  EXPECT_TRUE(CompileFailsWith(*missing.graph, "Relu#2"));
  EXPECT_TRUE(CompileFailsWith(*missing.graph, "0 inputs are bound"));
}

TEST(BadBinding, PlaceholderInARequiredSlot) {
  const auto graph = HostGraph();
  auto relu = graph->CreateOperation<vx::ops::Relu>();
  (*relu)
      .BindInput(graph->CreateTensorPlaceHolder())
      .BindOutput(graph->CreateTensor(Floats({2}, TensorAttribute::OUTPUT)));
  EXPECT_TRUE(CompileFailsWith(*graph, "input 0 is required"));
}

TEST(BadGraph, Empty) {
  EXPECT_TRUE(CompileFailsWith(*HostGraph(), "is empty"));
  const auto graph = HostGraph();
  EXPECT_FALSE(graph->Run());
  size_t size = 0;
  EXPECT_FALSE(graph->CompileToBinary(nullptr, &size));
}

TEST(BadGraph, Cycle) {
  const auto graph = HostGraph();
  const auto a = graph->CreateTensor(Floats({}, TensorAttribute::TRANSIENT));
  const auto b = graph->CreateTensor(Floats({}, TensorAttribute::TRANSIENT));
  auto first = graph->CreateOperation<vx::ops::Relu>();
  auto second = graph->CreateOperation<vx::ops::Relu6>();
  (*first).BindInput(a).BindOutput(b);
  (*second).BindInput(b).BindOutput(a);
  EXPECT_TRUE(CompileFailsWith(*graph, "cycle"));
  EXPECT_TRUE(CompileFailsWith(*graph, "Relu#1, Relu6#2"));
}

TEST(BadGraph, TensorThatNothingWrites) {
  ReluGraph g({2});
  auto relu = g.graph->CreateOperation<vx::ops::Relu>();
  (*relu)
      .BindInput(g.graph->CreateTensor(Floats({}, TensorAttribute::TRANSIENT)))
      .BindOutput(g.graph->CreateTensor(Floats({2}, TensorAttribute::OUTPUT)));
  EXPECT_TRUE(CompileFailsWith(*g.graph, "no operation writes it"));
}

TEST(BadGraph, TwoWriters) {
  ReluGraph g({2});
  auto relu = g.graph->CreateOperation<vx::ops::Relu6>();
  (*relu).BindInput(g.input).BindOutput(g.output);
  EXPECT_TRUE(
      CompileFailsWith(*g.graph, "both Relu#1 and Relu6#2 write tensor t1"));
}

TEST(BadGraph, WrittenConstant) {
  ReluGraph g({2});
  auto relu = g.graph->CreateOperation<vx::ops::Relu>();
  (*relu).BindInput(g.input).BindOutput(
      g.graph->CreateTensor(Floats({2}, TensorAttribute::CONSTANT)));
  EXPECT_TRUE(CompileFailsWith(*g.graph, "Relu#2"));
  EXPECT_TRUE(CompileFailsWith(*g.graph, "CONSTANT tensor cannot be written"));
}

TEST(BadGraph, OutputOfAnotherSize) {
  const auto graph = HostGraph();
  const auto in = graph->CreateTensor(Floats({2, 3}, TensorAttribute::INPUT));
  const auto out = graph->CreateTensor(Floats({7}, TensorAttribute::OUTPUT));
  auto relu = graph->CreateOperation<vx::ops::Relu>();
  (*relu).BindInput(in).BindOutput(out);
  EXPECT_TRUE(CompileFailsWith(*graph, "[7]"));
  EXPECT_TRUE(CompileFailsWith(*graph, "[2, 3]"));
}

TEST(BadGraph, OperationsThatAreNoneOfItsOwn) {
  ReluGraph g({2});
  ReluGraph other({2});
  g.graph->OpVector().push_back(other.relu);
  EXPECT_TRUE(CompileFailsWith(*g.graph, "made for another graph"));
  ReluGraph null({2});
  null.graph->OpVector().push_back(nullptr);
  EXPECT_TRUE(CompileFailsWith(*null.graph, "null pointer"));
}

class Unknown : public vx::DirectMapOp {
 public:
  Unknown(Graph* graph, uint32_t kind) : DirectMapOp(graph, kind, 1, 1) {}
  std::shared_ptr<Operation> Clone(
      std::shared_ptr<Graph>& graph) const override {
    return graph->CreateOperation<Unknown>(1u);
  }
};

class Nameless : public Operation {
 public:
  explicit Nameless(Graph*) {}
  std::shared_ptr<Operation> Clone(std::shared_ptr<Graph>&) const override {
    return nullptr;
  }

 private:
  void OnBindInputPostProc(const std::shared_ptr<Tensor>&, int32_t) override {
    throw std::runtime_error("thrown by a client");
  }
};

TEST(BadOperation, UnknownOperators) {
  ReluGraph g({2});
  auto unknown = g.graph->CreateOperation<Unknown>(4000000u);
  (*unknown).BindInput(g.input);
  EXPECT_TRUE(CompileFailsWith(*g.graph, "kind 4000000#2"));
  EXPECT_TRUE(CompileFailsWith(*g.graph, "unknown operator"));
  ReluGraph nameless({2});
  nameless.graph->CreateOperation<Nameless>();
  EXPECT_TRUE(CompileFailsWith(*nameless.graph, "unknown operator"));
}

TEST(BadOperation, ThatThrows) {
  ReluGraph g({2});
  auto operation = g.graph->CreateOperation<Nameless>();
  EXPECT_NO_THROW((*operation).BindInput(g.input));
  EXPECT_NE(vx::LastError().find("thrown by a client"), std::string::npos);
  EXPECT_TRUE(CompileFailsWith(*g.graph, "thrown by a client"));
}

}  // namespace
}  // namespace tim::testing
