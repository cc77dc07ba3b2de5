// ONNX models as graphs: shapes that files leave open, values, functions,
// constants that are computed when a model is read, and nodes of the caller.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/onnx_model_maker.h"
#include "tim/vx/graph.h"
#include "tim/vx/ops/activations.h"

namespace tim::models::onnx {
namespace {

using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::TensorProto;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Floats = std::vector<float>;

// y = Relu(x), for x with these extents.
ModelProto ReluModel(const std::vector<std::string>& extents) {
  ModelProto model = EmptyModel();
  GraphProto* graph = model.mutable_graph();
  AddInput(graph, "x", TensorProto::FLOAT, extents);
  AddNode(graph, "Relu", {"x"}, {"y"}, "relu");
  AddOutput(graph, "y", TensorProto::FLOAT);
  return model;
}

TEST(OnnxImporter, ConvolutionWithReluRuns) {
  ModelProto model = EmptyModel();
  GraphProto* graph = model.mutable_graph();
  AddInput(graph, "x", TensorProto::FLOAT, {"1", "1", "2", "2"});
  *graph->add_initializer() = FloatTensor("w", {1, 1, 1, 2}, {1, -1});
  *graph->add_initializer() = FloatTensor("b", {1}, {0.5});
  AddNode(graph, "Conv", {"x", "w", "b"}, {"c"});
  AddNode(graph, "Relu", {"c"}, {"y"});
  AddOutput(graph, "y", TensorProto::FLOAT);
  const Model made = Parse(model);
  EXPECT_THAT(FloatsOf(made, {{1, 3, 5, 2}}), ElementsAre(0, 3.5));
  EXPECT_EQ(made.outputs[0].dims, (Dims{1, 1, 2, 1}));
  EXPECT_EQ(made.inputs[0].name, "x");
}

TEST(OnnxImporter, NodesMayComeInAnyOrder) {
  ModelProto model = EmptyModel();
  GraphProto* graph = model.mutable_graph();
  AddInput(graph, "x", TensorProto::FLOAT, {"2"});
  AddNode(graph, "Neg", {"a"}, {"y"});
  AddNode(graph, "Relu", {"x"}, {"a"});
  AddOutput(graph, "y", TensorProto::FLOAT);
  EXPECT_THAT(FloatsOf(Parse(model), {{-1, 2}}), ElementsAre(0, -2));
}

TEST(OnnxImporter, OpenExtentsAreListedAtOnce) {
  ModelProto model = ReluModel({"N", "3", "?"});
  AddInput(model.mutable_graph(), "z", TensorProto::FLOAT, {"M"});
  const Model made = Parse(model);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error, HasSubstr("'x' float32 [N,3,?]"));
  EXPECT_THAT(made.error, HasSubstr("'z' float32 [M]"));
  EXPECT_THAT(made.error, HasSubstr("ImportOptions::shapes"));
}

TEST(OnnxImporter, OpenExtentsAreGivenByShapeOrName) {
  OnnxOptions options;
  options.dimensions["N"] = 2;
  Model made = Parse(ReluModel({"N", "1"}), options);
  EXPECT_THAT(FloatsOf(made, {{-1, 1}}), ElementsAre(0, 1));
  EXPECT_EQ(made.inputs[0].dims, (Dims{2, 1}));
  options = {};
  options.shapes["x"] = {1, 3};
  made = Parse(ReluModel({"N", "1"}), options);
  EXPECT_THAT(FloatsOf(made, {{-1, 1, 2}}), ElementsAre(0, 1, 2));
}

TEST(OnnxImporter, OptionsThatFitNoInputAreErrors) {
  OnnxOptions options;
  options.shapes["X"] = {1};
  EXPECT_THAT(Parse(ReluModel({"1"}), options).error,
              HasSubstr("'X', which is no input; inputs are x"));
  options = {};
  options.shapes["x"] = {1, 1};
  EXPECT_THAT(Parse(ReluModel({"1"}), options).error, HasSubstr("2 extents"));
  options.shapes["x"] = {0};
  EXPECT_THAT(Parse(ReluModel({"1"}), options).error,
              HasSubstr("the extent 0"));
  options = {};
  options.dimensions["K"] = 1;
  EXPECT_THAT(Parse(ReluModel({"N"}), options).error, HasSubstr("'K'"));
  options = {};
  options.dimensions["N"] = -1;
  EXPECT_THAT(Parse(ReluModel({"N"}), options).error, HasSubstr("-1"));
}

TEST(OnnxImporter, NegativeAndHugeExtentsAreErrors) {
  EXPECT_THAT(Parse(ReluModel({"-4"})).error, HasSubstr("'x' float32 [?]"));
  const Model huge = Parse(ReluModel({"4611686018427387904", "16"}));
  ASSERT_FALSE(huge);
  EXPECT_THAT(huge.error, HasSubstr("'x'"));
}

// y = Reshape(x, shape), both inputs.
ModelProto ReshapeModel() {
  ModelProto model = EmptyModel();
  GraphProto* graph = model.mutable_graph();
  AddInput(graph, "x", TensorProto::FLOAT, {"2", "3"});
  AddInput(graph, "shape", TensorProto::INT64, {"2"});
  AddNode(graph, "Reshape", {"x", "shape"}, {"y"}, "reshape");
  AddOutput(graph, "y", TensorProto::FLOAT);
  return model;
}

GivenTensor Given(const std::vector<int64_t>& values) {
  auto kept = std::make_shared<const std::vector<int64_t>>(values);
  return {vx::DataType::INT64,
          {static_cast<int64_t>(values.size())},
          std::shared_ptr<const void>(kept, kept->data())};
}

TEST(OnnxImporter, ValuesMakeInputsConstants) {
  const Model without = Parse(ReshapeModel());
  ASSERT_FALSE(without);
  ASSERT_EQ(without.refusals.size(), 1u);
  EXPECT_EQ(without.refusals[0].node, "reshape");
  EXPECT_EQ(without.refusals[0].about, "operand 1");
  EXPECT_THAT(without.error, HasSubstr("ImportOptions::values"));
  OnnxOptions options;
  options.values["shape"] = Given({3, 2});
  const Model made = Parse(ReshapeModel(), options);
  ASSERT_TRUE(made) << made.error;
  ASSERT_EQ(made.inputs.size(), 1u);
  EXPECT_EQ(made.outputs[0].dims, (Dims{3, 2}));
  EXPECT_THAT(FloatsOf(made, {{1, 2, 3, 4, 5, 6}}),
              ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(OnnxImporter, ValuesThatDoNotFitAreErrors) {
  OnnxOptions options;
  options.values["shape"] = Given({3, 2, 1});
  EXPECT_THAT(Parse(ReshapeModel(), options).error, HasSubstr("extents [3]"));
  options.values["shape"] = Given({3, 2});
  options.values["shape"].type = vx::DataType::INT32;
  EXPECT_THAT(Parse(ReshapeModel(), options).error, HasSubstr("int64"));
  options.values["shape"] = Given({3, 2});
  options.values["shape"].data = nullptr;
  EXPECT_THAT(Parse(ReshapeModel(), options).error, HasSubstr("no data"));
}

TEST(OnnxImporter, AllRefusalsAreListedAndWhatReadsThemIsNot) {
  ModelProto model = ReluModel({"2"});
  GraphProto* graph = model.mutable_graph();
  AddNode(graph, "NoSuchThing", {"y"}, {"a"}, "first");
  AddNode(graph, "Relu", {"a"}, {"b"}, "behind");
  auto* node = AddNode(graph, "Other", {"x"}, {"c"});
  node->set_domain("org.example");
  AddOutput(graph, "b", TensorProto::FLOAT);
  AddOutput(graph, "c", TensorProto::FLOAT);
  const Model made = Parse(model);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.graph, nullptr);
  EXPECT_TRUE(made.inputs.empty());
  ASSERT_EQ(made.refusals.size(), 2u);
  EXPECT_EQ(made.refusals[0].node, "first");
  EXPECT_EQ(made.refusals[0].op, "NoSuchThing");
  EXPECT_EQ(made.refusals[1].node, "#3");
  EXPECT_EQ(made.refusals[1].op, "org.example.Other");
  EXPECT_THAT(made.error, HasSubstr("2 parts that are not taken"));
  EXPECT_THAT(made.error, HasSubstr("'first' (NoSuchThing)"));
  EXPECT_THAT(made.error, HasSubstr("ImportOptions::supplier"));
  EXPECT_THAT(made.error, Not(HasSubstr("behind")));
}

TEST(OnnxImporter, NodesThatNoOutputNeedsMayBeAnything) {
  ModelProto model = ReluModel({"2"});
  AddNode(model.mutable_graph(), "NoSuchThing", {"y"}, {"a"});
  EXPECT_THAT(FloatsOf(Parse(model), {{-1, 1}}), ElementsAre(0, 1));
}

// y = NoSuchThing(x), alpha = 3
ModelProto UnknownModel() {
  ModelProto model = EmptyModel();
  GraphProto* graph = model.mutable_graph();
  AddInput(graph, "x", TensorProto::FLOAT, {"2", "1"});
  auto* node = AddNode(graph, "NoSuchThing", {"x", ""}, {"a"}, "thing");
  SetAttribute(node, "alpha", int64_t{3});
  AddNode(graph, "Neg", {"a"}, {"y"});
  AddOutput(graph, "y", TensorProto::FLOAT);
  return model;
}

TEST(OnnxImporter, TheCallerSuppliesNodes) {
  SuppliedNode seen;
  OnnxOptions options;
  options.supplier = [&seen](vx::Graph& graph, const SuppliedNode& node) {
    seen = node;
    vx::TensorSpec spec(vx::DataType::FLOAT32, {}, vx::TRANSIENT);
    auto output = graph.CreateTensor(spec);
    graph.CreateOperation<vx::ops::Relu>()
        ->BindInput(node.inputs[0])
        .BindOutput(output);
    return std::vector<std::shared_ptr<vx::Tensor>>{output};
  };
  const Model made = Parse(UnknownModel(), options);
  EXPECT_THAT(FloatsOf(made, {{-1, 4}}), ElementsAre(0, -4));
  EXPECT_EQ(made.outputs[0].dims, (Dims{2, 1}));
  EXPECT_EQ(seen.name, "thing");
  EXPECT_EQ(seen.op, "NoSuchThing");
  EXPECT_EQ(seen.ints["alpha"], (std::vector<int64_t>{3}));
  ASSERT_EQ(seen.inputs.size(), 2u);
  EXPECT_EQ(seen.inputs[1], nullptr);
  EXPECT_EQ(seen.output_count, 1u);
}

TEST(OnnxImporter, WhatTheCallerDoesNotSupplyStaysRefused) {
  using Tensors = std::vector<std::shared_ptr<vx::Tensor>>;
  OnnxOptions options;
  options.supplier = [](vx::Graph&, const SuppliedNode&) { return Tensors(); };
  EXPECT_THAT(Parse(UnknownModel(), options).error, HasSubstr("NoSuchThing"));
  options.supplier = [](vx::Graph&, const SuppliedNode&) { return Tensors(2); };
  EXPECT_THAT(Parse(UnknownModel(), options).error, HasSubstr("2 tensors"));
  options.supplier = [](vx::Graph&, const SuppliedNode&) { return Tensors(1); };
  EXPECT_THAT(Parse(UnknownModel(), options).error, HasSubstr("no tensor"));
  options.supplier = [](vx::Graph&, const SuppliedNode&) -> Tensors {
    throw std::runtime_error("tired");
  };
  EXPECT_THAT(Parse(UnknownModel(), options).error, HasSubstr("tired"));
}

TEST(OnnxImporter, OtherOpsetsAreErrors) {
  ModelProto model = ReluModel({"1"});
  model.mutable_opset_import(0)->set_version(22);
  EXPECT_THAT(Parse(model).error, HasSubstr("opset 22 of ai.onnx"));
  EXPECT_THAT(Parse(model).error, HasSubstr("opsets 7 to 21"));
  model.mutable_opset_import(0)->set_version(0);
  EXPECT_THAT(Parse(model).error, HasSubstr("opset 0 of ai.onnx"));
  model.clear_opset_import();
  EXPECT_THAT(Parse(model).error, HasSubstr("opset_import"));
}

TEST(OnnxImporter, EarlierOpsetsAreTakenWhereOperatorsAreTheSame) {
  ModelProto model = ReluModel({"2"});
  model.mutable_opset_import(0)->set_version(6);
  EXPECT_THAT(FloatsOf(Parse(model), {{-1, 2}}), ElementsAre(0, 2));
  model.mutable_opset_import(0)->set_version(5);
  EXPECT_THAT(Parse(model).error, HasSubstr("its form of opset 5"));
  model.mutable_opset_import(0)->set_version(6);
  model.mutable_graph()->mutable_node(0)->set_op_type("BatchNormalization");
  EXPECT_THAT(Parse(model).error, HasSubstr("its form of opset 6"));
}

TEST(OnnxImporter, NamesAreDefinedOnceAndBeforeTheyAreRead) {
  ModelProto twice = ReluModel({"1"});
  AddNode(twice.mutable_graph(), "Neg", {"x"}, {"y"}, "neg");
  EXPECT_THAT(Parse(twice).error, HasSubstr("'y' is defined twice"));
  ModelProto cycle = ReluModel({"1"});
  AddNode(cycle.mutable_graph(), "Add", {"b", "x"}, {"a"}, "round");
  AddNode(cycle.mutable_graph(), "Neg", {"a"}, {"b"});
  EXPECT_THAT(Parse(cycle).error, HasSubstr("'round'"));
  EXPECT_THAT(Parse(cycle).error, HasSubstr("cycle"));
  ModelProto nowhere = ReluModel({"1"});
  AddNode(nowhere.mutable_graph(), "Neg", {"q"}, {"b"}, "neg");
  EXPECT_THAT(Parse(nowhere).error, HasSubstr("nothing defines the name 'q'"));
  ModelProto output = ReluModel({"1"});
  AddOutput(output.mutable_graph(), "r", TensorProto::FLOAT);
  EXPECT_THAT(Parse(output).error, HasSubstr("nothing defines the name 'r'"));
}

TEST(OnnxImporter, TypesThatGraphsDoNotHaveAreRefused) {
  ModelProto model = EmptyModel();
  GraphProto* graph = model.mutable_graph();
  AddInput(graph, "x", TensorProto::DOUBLE, {"1"});
  AddInput(graph, "s", TensorProto::STRING, {"1"});
  graph->add_input()->set_name("q");
  graph->mutable_input(2)->mutable_type()->mutable_sequence_type();
  AddNode(graph, "Relu", {"x"}, {"y"});
  AddOutput(graph, "y", TensorProto::DOUBLE);
  const Model made = Parse(model);
  ASSERT_EQ(made.refusals.size(), 3u);
  EXPECT_THAT(made.error, HasSubstr("tensors of float64 are not taken"));
  EXPECT_THAT(made.error, HasSubstr("tensors of string"));
  EXPECT_THAT(made.error, HasSubstr("it is a sequence"));
}

TEST(OnnxImporter, OutputsOfAnotherTypeThanTheFileSaysAreRefused) {
  ModelProto model = ReluModel({"1"});
  model.mutable_graph()
      ->mutable_output(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->set_elem_type(TensorProto::INT32);
  EXPECT_THAT(Parse(model).error, HasSubstr("the file says that it is int32"));
}

// A function org.example.Twice(a) = a + a, through an attribute of the call.
void AddScale(ModelProto* model, const char* inner) {
  auto* function = model->add_functions();
  function->set_name("Scale");
  function->set_domain("org.example");
  function->add_input("a");
  function->add_output("b");
  function->add_attribute("by");
  function->add_opset_import()->set_version(13);
  auto* constant = AddNode(function, "Constant", {}, {"c"});
  auto* by = constant->add_attribute();
  by->set_name("value_float");
  by->set_ref_attr_name("by");
  by->set_type(::onnx::AttributeProto::FLOAT);
  AddNode(function, inner, {"a", "c"}, {"b"});
  auto* opset = model->add_opset_import();
  opset->set_domain("org.example");
  opset->set_version(1);
}

ModelProto FunctionModel(const char* inner) {
  ModelProto model = EmptyModel();
  GraphProto* graph = model.mutable_graph();
  AddInput(graph, "x", TensorProto::FLOAT, {"2"});
  for (int i = 0; i < 2; ++i) {
    auto* node = AddNode(graph, "Scale", {i == 0 ? "x" : "h"},
                         {i == 0 ? "h" : "y"}, i == 0 ? "one" : "two");
    node->set_domain("org.example");
    SetAttribute(node, "by", i == 0 ? 2.f : 5.f);
  }
  AddOutput(graph, "y", TensorProto::FLOAT);
  AddScale(&model, inner);
  return model;
}

TEST(OnnxImporter, FunctionsOfTheModelAreSpelledOut) {
  EXPECT_THAT(FloatsOf(Parse(FunctionModel("Mul")), {{1, -3}}),
              ElementsAre(10, -30));
}

TEST(OnnxImporter, RefusalsInFunctionsNameTheCall) {
  const Model made = Parse(FunctionModel("NoSuchThing"));
  ASSERT_EQ(made.refusals.size(), 1u);
  EXPECT_EQ(made.refusals[0].node, "one/#1");
}

TEST(OnnxImporter, FunctionsThatCallThemselvesAreRefused) {
  ModelProto model = FunctionModel("Scale");
  model.mutable_functions(0)->mutable_node(1)->set_domain("org.example");
  model.mutable_functions(0)->mutable_node(1)->mutable_input()->RemoveLast();
  EXPECT_THAT(Parse(model).error, HasSubstr("or call themselves"));
}

TEST(OnnxImporter, ShapesFollowWithoutOperations) {
  // Reshape(x, Concat(Shape(x)[0:1], [-1])), as exporters write Flatten.
  ModelProto model = EmptyModel();
  GraphProto* graph = model.mutable_graph();
  AddInput(graph, "x", TensorProto::FLOAT, {"2", "3", "1"});
  *graph->add_initializer() = IntTensor("zero", {}, {0});
  *graph->add_initializer() = IntTensor("axes", {1}, {0});
  *graph->add_initializer() = IntTensor("minus", {1}, {-1});
  AddNode(graph, "Shape", {"x"}, {"s"});
  AddNode(graph, "Gather", {"s", "zero"}, {"n"});
  AddNode(graph, "Unsqueeze", {"n", "axes"}, {"u"});
  SetAttribute(AddNode(graph, "Concat", {"u", "minus"}, {"t"}), "axis",
               int64_t{0});
  AddNode(graph, "Reshape", {"x", "t"}, {"y"});
  AddOutput(graph, "y", TensorProto::FLOAT);
  const Model made = Parse(model);
  ASSERT_TRUE(made) << made.error;
  EXPECT_EQ(made.outputs[0].dims, (Dims{2, 3}));
  // One moves x, one writes the output.
  EXPECT_LE(made.graph->OpVector().size(), 2u);
}

TEST(OnnxImporter, IntegersAreFoldedIn64Bits) {
  ModelProto model = EmptyModel();
  GraphProto* graph = model.mutable_graph();
  *graph->add_initializer() = IntTensor("a", {2}, {3000000000, -7});
  *graph->add_initializer() = IntTensor("b", {1}, {1000});
  AddNode(graph, "Mul", {"a", "b"}, {"c"});
  AddNode(graph, "Div", {"c", "b"}, {"d"});
  AddNode(graph, "Mod", {"d", "b"}, {"e"});
  *graph->add_initializer() = IntTensor("axes", {1}, {0});
  AddNode(graph, "ReduceProd", {"e"}, {"f"});
  AddOutput(graph, "e", TensorProto::INT64);
  EXPECT_THAT(IntsOf(Parse(model)), ElementsAre(0, 993));
}

// floor(5 * (1 - 1e-12)) is 4 in 64 bits, 5 in 32.
TEST(OnnxImporter, Float64IsFoldedIn64Bits) {
  ModelProto model = EmptyModel();
  GraphProto* graph = model.mutable_graph();
  AddInput(graph, "x", TensorProto::FLOAT, {"5"});
  TensorProto factor;
  factor.set_data_type(TensorProto::DOUBLE);
  factor.add_dims(2);
  factor.add_double_data(7);
  factor.add_double_data(1 - 1e-12);
  auto* constant = AddNode(graph, "Constant", {}, {"factors"});
  SetAttribute(constant, "value", factor);
  *graph->add_initializer() = IntTensor("one", {1}, {1});
  AddNode(graph, "Gather", {"factors", "one"}, {"factor"});
  AddNode(graph, "Shape", {"x"}, {"n"});
  SetAttribute(AddNode(graph, "Cast", {"n"}, {"wide"}), "to",
               int64_t{TensorProto::DOUBLE});
  AddNode(graph, "Mul", {"wide", "factor"}, {"less"});
  AddNode(graph, "Floor", {"less"}, {"whole"});
  SetAttribute(AddNode(graph, "Cast", {"whole"}, {"y"}), "to",
               int64_t{TensorProto::INT64});
  AddOutput(graph, "y", TensorProto::INT64);
  EXPECT_THAT(IntsOf(Parse(model), {{1, 2, 3, 4, 5}}), ElementsAre(4));
  // As FLOAT it is rounded before it is multiplied.
  SetAttribute(AddNode(graph, "Cast", {"factor"}, {"narrow"}), "to",
               int64_t{TensorProto::FLOAT});
  AddNode(graph, "Mul", {"narrow", "x"}, {"product"});
  graph->mutable_output(0)->set_name("product");
  graph->mutable_output(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->set_elem_type(TensorProto::FLOAT);
  EXPECT_THAT(FloatsOf(Parse(model), {{1, 2, 3, 4, 5}}),
              ElementsAre(1, 2, 3, 4, 5));
}

TEST(OnnxImporter, OtherConstantsAreFoldedOnTheHost) {
  ModelProto model = EmptyModel();
  GraphProto* graph = model.mutable_graph();
  AddInput(graph, "x", TensorProto::FLOAT, {"2"});
  *graph->add_initializer() = FloatTensor("a", {2}, {4, 9});
  AddNode(graph, "Sqrt", {"a"}, {"r"});
  SetAttribute(AddNode(graph, "Cast", {"r"}, {"i"}), "to",
               int64_t{TensorProto::INT64});
  // Extents that follow from square roots.
  AddNode(graph, "ConstantOfShape", {"i"}, {"z"});
  AddNode(graph, "Add", {"z", "x"}, {"y0"});
  AddOutput(graph, "z", TensorProto::FLOAT);
  const Model made = Parse(model);
  ASSERT_TRUE(made) << made.error;
  EXPECT_EQ(made.outputs[0].dims, (Dims{2, 3}));
}

}  // namespace
}  // namespace tim::models::onnx
