// If, Loop, Scan and sequences of ONNX models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "base/str_cat.h"
#include "tests/models/onnx_model_maker.h"
#include "tim/vx/ops/control.h"

namespace tim::models::onnx {
namespace {

using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// y = c ? Neg(x) : Relu(x), c an input.
ModelProto IfModel() {
  ModelProto model = EmptyModel();
  GraphProto* graph = model.mutable_graph();
  AddInput(graph, "x", TensorProto::FLOAT, {"2"});
  AddInput(graph, "c", TensorProto::BOOL, {});
  NodeProto* node = AddNode(graph, "If", {"c"}, {"y"}, "choice");
  for (const char* branch : {"then_branch", "else_branch"}) {
    GraphProto* body = AddGraph(node, branch);
    const bool is_then = std::string(branch) == "then_branch";
    AddNode(body, is_then ? "Neg" : "Relu", {"x"}, {"r"}, "inner");
    AddBodyOutput(body, "r");
  }
  AddOutput(graph, "y", TensorProto::FLOAT);
  return model;
}

GivenTensor Flag(bool value) {
  return {vx::DataType::BOOL8, {}, std::make_shared<const uint8_t>(value)};
}

TEST(OnnxControlFlow, IfWithAKnownConditionIsItsBranch) {
  OnnxOptions options;
  options.values["c"] = Flag(true);
  EXPECT_THAT(FloatsOf(Parse(IfModel(), options), {{-1, 2}}),
              ElementsAre(1, -2));
  options.values["c"] = Flag(false);
  EXPECT_THAT(FloatsOf(Parse(IfModel(), options), {{-1, 2}}),
              ElementsAre(0, 2));
}

// y = sum(x) > 0 ? Neg(x) : Relu(x).
TEST(OnnxControlFlow, IfOfInputsChoosesBetweenBothBranches) {
  ModelProto model = IfModel();
  GraphProto* graph = model.mutable_graph();
  graph->mutable_input()->RemoveLast();
  *graph->add_initializer() = FloatTensor("zero", {}, {0});
  SetAttribute(AddNode(graph, "ReduceSum", {"x"}, {"s"}), "keepdims",
               int64_t{0});
  AddNode(graph, "Greater", {"s", "zero"}, {"c"});
  EXPECT_THAT(FloatsOf(Parse(model), {{-1, 2}}), ElementsAre(1, -2));
  EXPECT_THAT(FloatsOf(Parse(model), {{-2, 1}}), ElementsAre(0, 1));
}

size_t IfsOf(const Model& model) {
  const auto& operations = model.graph->OpVector();
  return static_cast<size_t>(std::count_if(
      operations.begin(), operations.end(), [](const auto& operation) {
        return std::dynamic_pointer_cast<vx::ops::If>(operation) != nullptr;
      }));
}

// y = sum(x) > 0 ? 10 x - x : Relu(x), with a long way to -x, where only the
// first branch reads 10 x.
ModelProto LongIfModel() {
  ModelProto model = IfModel();
  GraphProto* graph = model.mutable_graph();
  graph->mutable_input()->RemoveLast();
  *graph->add_initializer() = FloatTensor("zero", {}, {0});
  *graph->add_initializer() = FloatTensor("ten", {}, {10});
  SetAttribute(AddNode(graph, "ReduceSum", {"x"}, {"s"}), "keepdims",
               int64_t{0});
  AddNode(graph, "Greater", {"s", "zero"}, {"c"});
  AddNode(graph, "Mul", {"x", "ten"}, {"scaled"});
  GraphProto* branch =
      graph->mutable_node(0)->mutable_attribute(0)->mutable_g();
  branch->mutable_node(0)->set_output(0, "n0");
  for (int i = 0; i < 8; ++i) {
    AddNode(branch, "Neg", {StrCat("n", i)}, {StrCat("n", i + 1)});
  }
  AddNode(branch, "Add", {"n8", "scaled"}, {"r"});
  return model;
}

TEST(OnnxControlFlow, IfOfInputsRunsOneOfLongBranches) {
  const Model made = Parse(LongIfModel());
  EXPECT_EQ(IfsOf(made), 1u);
  EXPECT_THAT(FloatsOf(made, {{-1, 2}}), ElementsAre(-9, 18));
  EXPECT_THAT(FloatsOf(Parse(LongIfModel()), {{-2, 1}}), ElementsAre(0, 1));
}

// A program can have no graphs inside.
TEST(OnnxControlFlow, LongBranchesOfProgramsBothRun) {
  OnnxOptions options;
  options.cpp_path = ::testing::TempDir() + "/long_if.cc";
  const Model made = Parse(LongIfModel(), options);
  EXPECT_EQ(IfsOf(made), 0u);
  EXPECT_THAT(FloatsOf(made, {{-1, 2}}), ElementsAre(-9, 18));
}

TEST(OnnxControlFlow, IfOfInputsIsRefusedWhereBranchesDifferInExtents) {
  ModelProto model = IfModel();
  GraphProto* graph = model.mutable_graph();
  *graph->add_initializer() = IntTensor("axes", {1}, {0});
  NodeProto* inner =
      graph->mutable_node(0)->mutable_attribute(0)->mutable_g()->mutable_node(
          0);
  inner->set_op_type("Unsqueeze");
  inner->add_input("axes");
  const Model made = Parse(model);
  ASSERT_EQ(made.refusals.size(), 1u);
  EXPECT_EQ(made.refusals[0].node, "choice");
  EXPECT_EQ(made.refusals[0].about, "operand 0");
  EXPECT_THAT(made.error, HasSubstr("must be known when the model is loaded"));
}

TEST(OnnxControlFlow, RefusalsInBranchesNameTheNodeAround) {
  ModelProto model = IfModel();
  model.mutable_graph()
      ->mutable_node(0)
      ->mutable_attribute(0)
      ->mutable_g()
      ->mutable_node(0)
      ->set_op_type("NoSuchThing");
  OnnxOptions options;
  options.values["c"] = Flag(true);
  const Model made = Parse(model, options);
  ASSERT_EQ(made.refusals.size(), 1u);
  EXPECT_EQ(made.refusals[0].node, "choice/inner");
}

// (s, ys) = Loop(count, , x): s = s + x; ys = s.
ModelProto LoopModel(int64_t count) {
  ModelProto model = EmptyModel();
  GraphProto* graph = model.mutable_graph();
  AddInput(graph, "x", TensorProto::FLOAT, {"2"});
  *graph->add_initializer() = IntTensor("count", {}, {count});
  NodeProto* node =
      AddNode(graph, "Loop", {"count", "", "x"}, {"s", "ys"}, "loop");
  GraphProto* body = AddGraph(node, "body");
  for (const char* name : {"i", "c_in", "s_in"}) AddBodyInput(body, name);
  AddNode(body, "Identity", {"c_in"}, {"c_out"});
  AddNode(body, "Add", {"s_in", "x"}, {"s_out"});
  AddNode(body, "Identity", {"s_out"}, {"ys_out"});
  for (const char* name : {"c_out", "s_out", "ys_out"}) {
    AddBodyOutput(body, name);
  }
  return model;
}

TEST(OnnxControlFlow, LoopsOfKnownTripsAreUnrolled) {
  ModelProto model = LoopModel(3);
  AddOutput(model.mutable_graph(), "ys", TensorProto::FLOAT);
  const Model made = Parse(model);
  EXPECT_THAT(FloatsOf(made, {{1, 10}}), ElementsAre(2, 20, 3, 30, 4, 40));
  EXPECT_EQ(made.outputs[0].dims, (Dims{3, 2}));
  ModelProto states = LoopModel(3);
  AddOutput(states.mutable_graph(), "s", TensorProto::FLOAT);
  EXPECT_THAT(FloatsOf(Parse(states), {{1, 10}}), ElementsAre(4, 40));
}

TEST(OnnxControlFlow, LoopsWithoutTripsHandOnTheirStates) {
  ModelProto model = LoopModel(0);
  AddOutput(model.mutable_graph(), "s", TensorProto::FLOAT);
  EXPECT_THAT(FloatsOf(Parse(model), {{1, 10}}), ElementsAre(1, 10));
  AddNode(model.mutable_graph(), "Neg", {"ys"}, {"n"}, "reader");
  AddOutput(model.mutable_graph(), "n", TensorProto::FLOAT);
  EXPECT_THAT(Parse(model).error, HasSubstr("'reader' (Neg): operand 0"));
  AddOutput(model.mutable_graph(), "ys", TensorProto::FLOAT);
  EXPECT_THAT(Parse(model).error, HasSubstr("'ys' (output): loop 'loop' has"));
}

TEST(OnnxControlFlow, LoopsBeyondTheMostTripsAreRefused) {
  ModelProto model = LoopModel(int64_t{1} << 40);
  AddOutput(model.mutable_graph(), "s", TensorProto::FLOAT);
  EXPECT_THAT(Parse(model).error, HasSubstr("more than 256 trips"));
  OnnxOptions options;
  options.most_trips = 2;
  EXPECT_THAT(Parse(model, options).error, HasSubstr("most_trips"));
}

// s = x; while (sum(s) < 50) s = s + x, at most 7 times: the trips follow from
// the input.
ModelProto LoopOfInputs(bool counted) {
  ModelProto model = LoopModel(7);
  GraphProto* graph = model.mutable_graph();
  *graph->add_initializer() = FloatTensor("fifty", {}, {50});
  if (!counted) graph->mutable_node(0)->set_input(0, "");
  GraphProto* body = graph->mutable_node(0)->mutable_attribute(0)->mutable_g();
  NodeProto* condition = body->mutable_node(0);
  condition->set_op_type("Less");
  condition->set_input(0, "sum");
  condition->add_input("fifty");
  SetAttribute(AddNode(body, "ReduceSum", {"s_out"}, {"sum"}), "keepdims",
               int64_t{0});
  return model;
}

TEST(OnnxControlFlow, LoopsWhoseTripsFollowFromInputsRepeatTheirBody) {
  for (const bool counted : {true, false}) {
    ModelProto model = LoopOfInputs(counted);
    AddOutput(model.mutable_graph(), "s", TensorProto::FLOAT);
    // 11, 22, 33, 44, 55; what is above 50 at once makes one trip.
    EXPECT_THAT(FloatsOf(Parse(model), {{1, 10}}), ElementsAre(5, 50));
    EXPECT_THAT(FloatsOf(Parse(model), {{40, 10}}), ElementsAre(80, 20));
    // A sum of 1 in each trip: the count ends it.
    if (counted) {
      EXPECT_THAT(FloatsOf(Parse(model), {{1, 0}}), ElementsAre(8, 0));
    }
  }
}

// LoopModel() of as many trips as the input n says, with output `made`.
ModelProto CountedLoop(const std::string& made) {
  ModelProto model = LoopModel(0);
  GraphProto* graph = model.mutable_graph();
  graph->clear_initializer();
  AddInput(graph, "n", TensorProto::FLOAT, {});
  SetAttribute(AddNode(graph, "Cast", {"n"}, {"count"}), "to",
               int64_t{TensorProto::INT64});
  AddOutput(graph, made, TensorProto::FLOAT);
  return model;
}

TEST(OnnxControlFlow, TheTripCountMayBeAnInput) {
  const Model made = Parse(CountedLoop("s"));
  EXPECT_THAT(FloatsOf(made, {{1, 10}, {3}}), ElementsAre(4, 40));
  EXPECT_THAT(FloatsOf(made, {{1, 10}, {0}}), ElementsAre(1, 10));
  OnnxOptions options;
  options.stacked_rows = 3;
  const Model stacked = Parse(CountedLoop("ys"), options);
  EXPECT_THAT(FloatsOf(stacked, {{1, 10}, {2}}),
              ElementsAre(2, 20, 3, 30, 0, 0));
  EXPECT_THAT(FloatsOf(stacked, {{1, 10}, {0}}), ElementsAre(0, 0, 0, 0, 0, 0));
}

// A slice that is a value of the graph around the loop.
TEST(OnnxControlFlow, LoopsStackWhatTheyReadFromAround) {
  ModelProto model = CountedLoop("ys");
  model.mutable_graph()
      ->mutable_node(0)
      ->mutable_attribute(0)
      ->mutable_g()
      ->mutable_node(2)
      ->set_input(0, "x");
  OnnxOptions options;
  options.stacked_rows = 2;
  EXPECT_THAT(FloatsOf(Parse(model, options), {{1, 10}, {1}}),
              ElementsAre(1, 10, 0, 0));
}

TEST(OnnxControlFlow, LoopsOfUnknownTripsStackRowsThatAreAskedFor) {
  ModelProto model = LoopOfInputs(true);
  AddOutput(model.mutable_graph(), "ys", TensorProto::FLOAT);
  const Model none = Parse(model);
  EXPECT_THAT(none.error, HasSubstr("'ys' (output): the trips of loop 'loop'"));
  EXPECT_THAT(none.error, HasSubstr("ImportOptions::stacked_rows"));
  OnnxOptions options;
  options.stacked_rows = 4;
  const Model made = Parse(model, options);
  ASSERT_EQ(made.outputs.size(), 2u) << made.error;
  EXPECT_EQ(made.outputs[0].dims, (Dims{4, 2}));
  EXPECT_EQ(made.outputs[1].name, "loop/trips");
  const auto trips = [&made] {
    int64_t count = 0;
    EXPECT_TRUE(made.outputs[1].tensor->CopyDataFromTensor(&count));
    return count;
  };
  // The first trip is made when the model is loaded: it comes before the
  // condition.
  EXPECT_THAT(FloatsOf(made, {{20, 1}}), ElementsAre(40, 2, 60, 3, 0, 0, 0, 0));
  EXPECT_EQ(trips(), 2);
  EXPECT_THAT(FloatsOf(made, {{50, 1}}), ElementsAre(100, 2, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(trips(), 1);
  // Four trips of five: the loop is cut short.
  EXPECT_THAT(FloatsOf(made, {{1, 5}}),
              ElementsAre(2, 10, 3, 15, 4, 20, 5, 25));
  EXPECT_EQ(trips(), 5);
}

// The names of an output and of a loop's count of trips.
TEST(OnnxControlFlow, OutputsNamedAsTheCountOfTripsAreRefused) {
  ModelProto model = CountedLoop("ys");
  GraphProto* graph = model.mutable_graph();
  AddNode(graph, "Identity", {"x"}, {"loop/trips"});
  AddOutput(graph, "loop/trips", TensorProto::FLOAT);
  OnnxOptions options;
  options.stacked_rows = 2;
  EXPECT_THAT(Parse(model, options).error,
              HasSubstr("two outputs have the name 'loop/trips'"));
}

// Each trip makes 1.5 MiB, of a file of some hundred bytes.
TEST(OnnxControlFlow, ConstantsThatTripsMakeAreBounded) {
  ModelProto model = LoopModel(200);
  GraphProto* graph = model.mutable_graph();
  AddOutput(graph, "s", TensorProto::FLOAT);
  *graph->add_initializer() = IntTensor("begin", {}, {0});
  *graph->add_initializer() = IntTensor("end", {}, {65'536});
  *graph->add_initializer() = IntTensor("one", {}, {1});
  GraphProto* body = graph->mutable_node(0)->mutable_attribute(0)->mutable_g();
  std::vector<std::string> numbers;
  for (int i = 0; i < 3; ++i) {
    const std::string range = StrCat("range", i);
    numbers.push_back(StrCat("number", i));
    AddNode(body, "Range", {"begin", "end", "one"}, {range});
    AddNode(body, "Gather", {range, "i"}, {numbers.back()});
  }
  AddNode(body, "Max", numbers, {"number"});
  SetAttribute(AddNode(body, "Cast", {"number"}, {"float"}), "to",
               int64_t{TensorProto::FLOAT});
  body->mutable_node(1)->set_input(1, "float");
  EXPECT_THAT(Parse(model).error,
              HasSubstr("constants that nodes make when the model is loaded "
                        "take more than"));
}

// Masks of 64 KiB each, which no single limit refuses.
TEST(OnnxControlFlow, MasksThatTripsMakeAreBounded) {
  ModelProto model = LoopModel(200);
  GraphProto* graph = model.mutable_graph();
  AddOutput(graph, "s", TensorProto::FLOAT);
  AddInput(graph, "wide", TensorProto::FLOAT, {"65536"});
  GraphProto* body = graph->mutable_node(0)->mutable_attribute(0)->mutable_g();
  std::string last = "wide";
  for (int i = 0; i < 30; ++i) {
    const std::string next = StrCat("d", i);
    AddNode(body, "Dropout", {last}, {next, StrCat("mask", i)});
    last = next;
  }
  AddNode(body, "Gather", {last, "i"}, {"number"});
  body->mutable_node(1)->set_input(1, "number");
  EXPECT_THAT(Parse(model).error,
              HasSubstr("constants that nodes make when the model is loaded "
                        "take more than"));
}

TEST(OnnxControlFlow, ConditionsThatAreComputedEndLoops) {
  // The condition is i < 1: two trips.
  ModelProto model = LoopModel(100);
  AddOutput(model.mutable_graph(), "s", TensorProto::FLOAT);
  GraphProto* body =
      model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  *body->add_initializer() = IntTensor("one", {}, {1});
  NodeProto* condition = body->mutable_node(0);
  condition->set_op_type("Less");
  condition->set_input(0, "i");
  condition->add_input("one");
  EXPECT_THAT(FloatsOf(Parse(model), {{1, 10}}), ElementsAre(3, 30));
}

TEST(OnnxControlFlow, NestedLoopsEndAtTheMostNodes) {
  ModelProto model = EmptyModel();
  GraphProto* graph = model.mutable_graph();
  *graph->add_initializer() = FloatTensor("x", {1}, {1});
  *graph->add_initializer() = IntTensor("count", {}, {256});
  GraphProto* around = graph;
  for (int depth = 0; depth < 4; ++depth) {
    NodeProto* node =
        AddNode(around, "Loop", {"count", "", "x"}, {StrCat("s", depth)});
    GraphProto* body = AddGraph(node, "body");
    for (const char* name : {"i", "c", "s"}) {
      AddBodyInput(body, StrCat(name, "_", depth));
    }
    AddBodyOutput(body, StrCat("c_", depth));
    AddBodyOutput(body, depth == 3 ? "x" : StrCat("s", depth + 1));
    around = body;
  }
  AddOutput(graph, "s0", TensorProto::FLOAT);
  EXPECT_THAT(Parse(model).error, HasSubstr("more than 200000"));
}

// (s, ys) = Scan(zero, xs): s = s + x; ys = s.
TEST(OnnxControlFlow, ScansAreUnrolledInBothDirections) {
  for (const int64_t backwards : {0, 1}) {
    ModelProto model = EmptyModel();
    GraphProto* graph = model.mutable_graph();
    AddInput(graph, "xs", TensorProto::FLOAT, {"2", "3"});
    *graph->add_initializer() = FloatTensor("zero", {2}, {0, 0});
    NodeProto* node = AddNode(graph, "Scan", {"zero", "xs"}, {"s", "ys"});
    SetAttribute(node, "num_scan_inputs", int64_t{1});
    SetAttribute(node, "scan_input_axes", std::vector<int64_t>{1});
    SetAttribute(node, "scan_input_directions",
                 std::vector<int64_t>{backwards});
    GraphProto* body = AddGraph(node, "body");
    AddBodyInput(body, "s_in");
    AddBodyInput(body, "x");
    AddNode(body, "Add", {"s_in", "x"}, {"s_out"});
    AddNode(body, "Identity", {"s_out"}, {"y"});
    AddBodyOutput(body, "s_out");
    AddBodyOutput(body, "y");
    AddOutput(graph, "ys", TensorProto::FLOAT);
    const Model made = Parse(model);
    const std::vector<float> found = FloatsOf(made, {{1, 2, 3, 10, 20, 30}});
    if (backwards != 0) {
      EXPECT_THAT(found, ElementsAre(3, 30, 5, 50, 6, 60));
    } else {
      EXPECT_THAT(found, ElementsAre(1, 10, 3, 30, 6, 60));
    }
  }
}

TEST(OnnxControlFlow, SequencesOfKnownPlacesAreFollowed) {
  ModelProto model = EmptyModel();
  GraphProto* graph = model.mutable_graph();
  AddInput(graph, "x", TensorProto::FLOAT, {"3"});
  *graph->add_initializer() = IntTensor("last", {}, {-1});
  SetAttribute(AddNode(graph, "SplitToSequence", {"x"}, {"parts"}), "keepdims",
               int64_t{1});
  AddNode(graph, "SequenceAt", {"parts", "last"}, {"third"});
  AddNode(graph, "Neg", {"third"}, {"n"});
  AddNode(graph, "SequenceInsert", {"parts", "n"}, {"more"});
  AddNode(graph, "SequenceErase", {"more", "last"}, {"again"});
  AddNode(graph, "SequenceInsert", {"again", "n"}, {"most"});
  SetAttribute(AddNode(graph, "ConcatFromSequence", {"most"}, {"y"}), "axis",
               int64_t{0});
  AddOutput(graph, "y", TensorProto::FLOAT);
  EXPECT_THAT(FloatsOf(Parse(model), {{1, 2, 3}}), ElementsAre(1, 2, 3, -3));
  graph->mutable_initializer(0)->set_raw_data(
      std::string("\x05\0\0\0\0\0\0\0", 8));
  EXPECT_THAT(Parse(model).error, HasSubstr("place 5 is outside"));
}

}  // namespace
}  // namespace tim::models::onnx
