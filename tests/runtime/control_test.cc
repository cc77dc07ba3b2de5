// If and While: runs on the host and on OpenCL equal the operators' eval, with
// as many trips as the condition asks for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/options.h"
#include "compiler/compiler.h"
#include "device/host/host_device.h"
#include "device/opencl/opencl_device.h"
#include "ir/evaluate.h"
#include "ir/verify/desc_check.h"
#include "ops/builtin.h"
#include "runtime/compile_options.h"
#include "runtime/execution_context.h"
#include "tests/support/devices/empty_store.h"
#include "tests/support/devices/stream_counting_device.h"
#include "tests/support/status_macros.h"

namespace tim::runtime {
namespace {

using device::Devices;
using ir::DataType;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Floats = std::vector<float>;
using GraphPointer = std::shared_ptr<const ir::Graph>;

constexpr int64_t kFloats = 5;

ir::TensorDesc Desc(DataType type, const ir::Shape& shape) {
  ir::TensorDesc desc;
  desc.type = type;
  desc.shape = shape;
  return desc;
}
const ir::TensorDesc kVector = Desc(DataType::kFloat32, {kFloats});
const ir::TensorDesc kCount = Desc(DataType::kInt32, {1});
const ir::TensorDesc kFlag = Desc(DataType::kBool8, {1});

/// A graph that is made value by value.
class Builder {
 public:
  explicit Builder(const std::string& name) : graph_(name) {}

  ir::ValueId Input(const ir::TensorDesc& desc) {
    const ir::ValueId id = graph_.AddValue(
        desc, ir::Role::kInput, StrCat("in", graph_.inputs().size()));
    graph_.AddInput(id);
    return id;
  }
  template <typename T>
  ir::ValueId Constant(const ir::TensorDesc& desc, const std::vector<T>& data) {
    std::vector<std::byte> bytes(data.size() * sizeof(T));
    std::memcpy(bytes.data(), data.data(), bytes.size());
    return graph_.AddConstant(desc, ir::MakeConstant(std::move(bytes)));
  }
  std::vector<ir::ValueId> Add(const std::string& op,
                               std::vector<ir::ValueId> inputs,
                               ir::AttributeMap attributes = {},
                               size_t outputs = 1) {
    ir::Node node;
    node.name = StrCat(op, "#", graph_.NodeIds().size());
    node.schema = ops::BuiltinOperators().Find("tim." + op);
    node.attributes = std::move(attributes);
    node.inputs = std::move(inputs);
    for (size_t i = 0; i < outputs; ++i) {
      node.outputs.push_back(graph_.AddValue(ir::TensorDesc()));
    }
    const auto made = node.outputs;
    graph_.AddNode(std::move(node));
    return made;
  }
  ir::ValueId One(const std::string& op, std::vector<ir::ValueId> inputs) {
    return Add(op, std::move(inputs))[0];
  }
  ir::Graph Finish(const std::vector<ir::ValueId>& outputs) {
    for (const ir::ValueId id : outputs) graph_.AddOutput(id);
    return graph_;
  }
  GraphPointer Share(const std::vector<ir::ValueId>& outputs) {
    return std::make_shared<const ir::Graph>(Finish(outputs));
  }

 private:
  ir::Graph graph_;
};

/// x -> op(x), or x itself where there is none.
GraphPointer Unary(const std::string& op) {
  Builder graph(op.empty() ? "same" : op);
  const ir::ValueId x = graph.Input(kVector);
  return graph.Share({op.empty() ? x : graph.One(op, {x})});
}

GraphPointer Sum() {
  Builder graph("sum");
  const ir::ValueId x = graph.Input(kVector);
  return graph.Share({graph.One("Add", {x, x})});
}

ir::Graph IfGraph(GraphPointer first, GraphPointer second) {
  Builder graph("choice");
  const ir::ValueId condition = graph.Input(kFlag);
  const ir::ValueId x = graph.Input(kVector);
  const auto y = graph.Add(
      "If", {condition, x},
      {{"then_graph", std::move(first)}, {"else_graph", std::move(second)}});
  return graph.Finish(y);
}

/// i < limit.
GraphPointer Below(int32_t limit) {
  Builder graph("below");
  const ir::ValueId i = graph.Input(kCount);
  graph.Input(kVector);
  const ir::ValueId end = graph.Constant<int32_t>(kCount, {limit});
  return graph.Share({graph.One("Less", {i, end})});
}

/// (i, x) -> (i + 1, x + x), and -x as slice of a scan.
GraphPointer Step(bool scan) {
  Builder graph("step");
  const ir::ValueId i = graph.Input(kCount);
  const ir::ValueId x = graph.Input(kVector);
  const ir::ValueId one = graph.Constant<int32_t>(kCount, {1});
  std::vector<ir::ValueId> out = {graph.One("Add", {i, one}),
                                  graph.One("Add", {x, x})};
  if (scan) out.push_back(graph.One("Neg", {x}));
  return graph.Share(out);
}

ir::Graph WhileGraph(int32_t limit, int64_t max_trips, bool scan) {
  Builder graph("loop");
  const ir::ValueId i = graph.Input(kCount);
  const ir::ValueId x = graph.Input(kVector);
  const auto out = graph.Add("While", {i, x},
                             {{"condition", Below(limit)},
                              {"body", Step(scan)},
                              {"max_trips", max_trips},
                              {"scan_outputs", int64_t{scan}}},
                             scan ? 3 : 2);
  return graph.Finish(out);
}

struct Data {
  ir::TensorDesc desc;
  std::vector<std::byte> bytes;
};
template <typename T>
Data Of(const ir::TensorDesc& desc, const std::vector<T>& values) {
  Data data{desc, std::vector<std::byte>(values.size() * sizeof(T))};
  std::memcpy(data.bytes.data(), values.data(), data.bytes.size());
  return data;
}
template <typename T>
std::vector<T> As(const Data& data) {
  std::vector<T> values(data.bytes.size() / sizeof(T));
  std::memcpy(values.data(), data.bytes.data(), data.bytes.size());
  return values;
}

Result<std::vector<Data>> Evaluate(ir::Graph graph,
                                   const std::vector<Data>& inputs) {
  TIM_RETURN_IF_ERROR(compiler::InferGraph(&graph, ops::BuiltinOperators()));
  std::vector<ir::ConstTensor> in;
  for (const Data& data : inputs) in.push_back({&data.desc, data.bytes.data()});
  std::vector<Data> results;
  for (const ir::ValueId id : graph.outputs()) {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes,
                         ir::CheckDesc(graph.value(id).desc));
    results.push_back({graph.value(id).desc,
                       std::vector<std::byte>(static_cast<size_t>(bytes))});
  }
  std::vector<ir::MutableTensor> out;
  for (Data& data : results) out.push_back({&data.desc, data.bytes.data()});
  TIM_RETURN_IF_ERROR(ir::Evaluate(graph, in, out));
  return results;
}

Devices OpenCl(testing::StreamCounts* counts = nullptr) {
  const auto made = device::CreateOpenClDevice(0, GetOptions().on_device);
  EXPECT_OK(made);
  if (counts == nullptr) return {device::CreateHostDevice(), *made};
  return {device::CreateHostDevice(),
          std::make_shared<testing::StreamCountingDevice>(*made, *counts)};
}

Result<std::shared_ptr<const Executable>> Build(const ir::Graph& graph,
                                                const Devices& devices) {
  compiler::CompileOptions options = CompileOptionsFor(devices);
  options.strict = true;
  TIM_ASSIGN_OR_RETURN(
      ir::Plan plan,
      compiler::Compile(graph, ops::BuiltinOperators(), options));
  return Executable::Create(std::move(plan), devices,
                            std::make_shared<testing::EmptyStore>());
}

Result<std::vector<Data>> RunOn(const Executable& executable,
                                ExecutionContext& context,
                                const std::vector<Data>& inputs) {
  std::vector<Data> results;
  for (const ir::PlanTensor& output : executable.plan().outputs) {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(output.desc));
    results.push_back(
        {output.desc, std::vector<std::byte>(static_cast<size_t>(bytes))});
  }
  std::vector<PortMemory> in;
  for (const Data& data : inputs) {
    in.emplace_back(data.bytes.data(), static_cast<int64_t>(data.bytes.size()));
  }
  std::vector<PortMemory> out;
  for (Data& data : results) {
    out.emplace_back(data.bytes.data(),
                     static_cast<int64_t>(data.bytes.size()));
  }
  PortBinding binding;
  TIM_RETURN_IF_ERROR(binding.Bind(executable.plan(), in, out));
  binding.CopyInputs();
  TIM_RETURN_IF_ERROR(
      context.Run(binding.inputs(), binding.outputs(), nullptr));
  binding.CopyOutputs();
  return results;
}

// Runs twice, so that what the first run leaves is seen.
void ExpectEval(const ir::Graph& graph, const Devices& devices,
                const std::vector<std::vector<Data>>& runs) {
  const auto executable = Build(graph, devices);
  ASSERT_OK(executable);
  const auto first = ExecutionContext::Create(*executable);
  ASSERT_OK(first);
  const auto another = ExecutionContext::CreateAnother(*executable);
  ASSERT_OK(another);
  for (const std::vector<Data>& inputs : runs) {
    const auto expected = Evaluate(graph, inputs);
    ASSERT_OK(expected);
    for (ExecutionContext* const context : {first->get(), another->get()}) {
      const auto found = RunOn(**executable, *context, inputs);
      ASSERT_OK(found);
      ASSERT_EQ(found->size(), expected->size());
      for (size_t i = 0; i < found->size(); ++i)
        EXPECT_EQ((*found)[i].bytes, (*expected)[i].bytes) << "output " << i;
    }
  }
}

class Control : public ::testing::TestWithParam<bool> {
 protected:
  Devices devices() const {
    return GetParam() ? OpenCl() : Devices{device::CreateHostDevice()};
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, Control, ::testing::Values(false, true),
                         [](const auto& info) {
                           return info.param ? "OpenCl" : "Host";
                         });

const Data kX = Of<float>(kVector, {1, -2, 3.5f, 0, 1e6f});

std::vector<Data> Flag(uint8_t condition) {
  return {Of<uint8_t>(kFlag, {condition}), kX};
}
std::vector<Data> From(int32_t i) { return {Of<int32_t>(kCount, {i}), kX}; }

TEST(ControlEval, TakesEitherGraph) {
  const ir::Graph graph = IfGraph(Sum(), Unary("Neg"));
  const auto yes = Evaluate(graph, Flag(1));
  ASSERT_OK(yes);
  EXPECT_THAT(As<float>((*yes)[0]), ElementsAre(2, -4, 7, 0, 2e6f));
  const auto no = Evaluate(graph, Flag(0));
  ASSERT_OK(no);
  EXPECT_THAT(As<float>((*no)[0]), ElementsAre(-1, 2, -3.5f, 0, -1e6f));
}

TEST(ControlEval, RepeatsAndCollects) {
  const auto made = Evaluate(WhileGraph(3, 4, true), From(1));
  ASSERT_OK(made);
  EXPECT_THAT(As<int32_t>((*made)[0]), ElementsAre(3));
  EXPECT_THAT(As<float>((*made)[1]), ElementsAre(4, -8, 14, 0, 4e6f));
  EXPECT_THAT(As<float>((*made)[2]),
              ElementsAre(-1, 2, -3.5f, 0, -1e6f, -2, 4, -7, 0, -2e6f,  //
                          0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ((*made)[2].desc.shape, ir::Shape({kFloats, 4}));
}

TEST_P(Control, IfTakesEitherGraph) {
  ExpectEval(IfGraph(Sum(), Unary("Neg")), devices(), {Flag(1), Flag(0)});
}

TEST_P(Control, AGraphMayGiveItsInput) {
  ExpectEval(IfGraph(Unary(""), Unary("Neg")), devices(), {Flag(1), Flag(0)});
}

TEST_P(Control, WhileMakesManyTripsAndNone) {
  ExpectEval(WhileGraph(7, -1, false), devices(), {From(0), From(7), From(6)});
}

// Check 32: the host waits once for each trip, for its condition.
TEST(ControlWaits, AreOnePerTrip) {
  testing::StreamCounts counts;
  const auto executable = Build(WhileGraph(7, -1, false), OpenCl(&counts));
  ASSERT_OK(executable);
  const auto context = ExecutionContext::Create(*executable);
  ASSERT_OK(context);
  const auto waits_from = [&](int32_t first) {
    counts.waits = 0;
    EXPECT_OK(RunOn(**executable, **context, From(first)));
    return counts.waits.load();
  };
  const int none = waits_from(7);
  EXPECT_GT(none, 0);
  EXPECT_OK(ExecutionContext::CreateAnother(*executable));
  EXPECT_EQ(counts.waits, none) << "its kernels have been used";
  for (int trips : {1, 2, 6}) EXPECT_EQ(waits_from(7 - trips), none + trips);
}

// A branch follows in the stream of the If, and the host reads the condition
// where it is, once it has found out where: it waits for it, and for the end.
TEST(ControlWaits, AreTwoForAnIf) {
  testing::StreamCounts counts;
  const Devices devices = OpenCl(&counts);
  Builder graph("choice");
  const ir::ValueId i = graph.Input(kCount);
  const ir::ValueId x = graph.One("Abs", {graph.Input(kVector)});
  const auto y = graph.Add(
      "If", {graph.One("Less", {i, graph.Constant<int32_t>(kCount, {5})}), x},
      {{"then_graph", Sum()}, {"else_graph", Unary("Neg")}});
  const ir::Graph made = graph.Finish({graph.One("Abs", y)});
  const auto executable = Build(made, devices);
  ASSERT_OK(executable);
  const auto context = ExecutionContext::Create(*executable);
  ASSERT_OK(context);
  for (const int32_t first : {3, 7, 4, 6}) {
    counts.waits = counts.to_host = 0;
    const auto found = RunOn(**executable, **context, From(first));
    ASSERT_OK(found);
    EXPECT_EQ((*found)[0].bytes, (*Evaluate(made, From(first)))[0].bytes);
  }
  if (devices[1]->info().device_class != ir::DeviceClass::kCpu ||
      devices[1]->info().vendor.find("Mesa") != std::string::npos) {
    GTEST_SKIP() << "the host may not see the condition";
  }
  EXPECT_EQ(counts.to_host, 0);
  EXPECT_EQ(counts.waits, 2);
}

TEST_P(Control, WhileStopsAtMaxTrips) {
  ExpectEval(WhileGraph(7, 2, false), devices(), {From(0), From(6)});
}

TEST_P(Control, ScansHaveZerosBehindTheLastTrip) {
  ExpectEval(WhileGraph(5, 4, true), devices(), {From(0), From(3), From(9)});
}

// While its count is below 4 a state is doubled, or negated, by an If inside.
TEST_P(Control, GraphsAreNested) {
  Builder body("body");
  const ir::ValueId i = body.Input(kCount);
  const ir::ValueId x = body.Input(kVector);
  const ir::ValueId one = body.Constant<int32_t>(kCount, {1});
  const ir::ValueId odd =
      body.One("Less", {i, body.Constant<int32_t>(kCount, {2})});
  const auto y = body.Add(
      "If", {odd, x}, {{"then_graph", Sum()}, {"else_graph", Unary("Neg")}});
  const GraphPointer shared = body.Share({body.One("Add", {i, one}), y[0]});
  Builder graph("nested");
  const ir::ValueId count = graph.Input(kCount);
  const ir::ValueId state = graph.Input(kVector);
  // What is around the loop runs on the same device.
  const ir::ValueId before = graph.One("Abs", {state});
  const auto out = graph.Add("While", {count, before},
                             {{"condition", Below(5)}, {"body", shared}}, 2);
  ExpectEval(graph.Finish({graph.One("Neg", {out[1]}), out[0]}), devices(),
             {From(0), From(3)});
}

TEST_P(Control, AConstantConditionIsFolded) {
  Builder graph("folded");
  const ir::ValueId x = graph.Input(kVector);
  const auto y =
      graph.Add("If",
                {graph.Constant<uint8_t>(kFlag, {1}),
                 graph.Constant<float>(kVector, {1, 2, 3, 4, 5})},
                {{"then_graph", Sum()}, {"else_graph", Unary("Neg")}});
  const ir::Graph made = graph.Finish({graph.One("Add", {x, y[0]})});
  const auto executable = Build(made, devices());
  ASSERT_OK(executable);
  for (const ir::Step& step : (*executable)->plan().steps) {
    EXPECT_FALSE(std::holds_alternative<ir::ControlCall>(step.action));
  }
  ExpectEval(made, devices(), {{kX}});
}

TEST(ControlErrors, NameGraphAndRule) {
  const auto error = [](const ir::Graph& graph) {
    return std::string(
        Build(graph, {device::CreateHostDevice()}).status().message());
  };
  Builder longer("longer");
  const ir::ValueId x = longer.Input(kVector);
  const GraphPointer two = longer.Share(longer.Add(
      "Concat", {x, x}, {{"axis", int64_t{0}}, {"input_cnt", int64_t{2}}}));
  EXPECT_THAT(error(IfGraph(Sum(), two)),
              HasSubstr("output 0 is float32 [5] in then_graph and float32 "
                        "[10] in else_graph; both must be equal"));
  EXPECT_THAT(error(IfGraph(Sum(), nullptr)),
              HasSubstr("attribute 'else_graph' has no graph"));
  EXPECT_THAT(error(IfGraph(Sum(), Below(1))),
              HasSubstr("graph 'else_graph': it has 2 inputs, expected 1"));
  Builder wrong("wrong");
  const ir::ValueId number = wrong.Input(kVector);
  EXPECT_THAT(
      error(wrong.Finish(
          wrong.Add("If", {number, number},
                    {{"then_graph", Sum()}, {"else_graph", Unary("Neg")}}))),
      HasSubstr("the condition is float32 [5], expected BOOL8 of one element"));
  EXPECT_THAT(error(WhileGraph(1, -1, true)),
              HasSubstr("attribute 'max_trips' is -1; scans have that many "
                        "slices, expected >= 1"));
  EXPECT_THAT(error(WhileGraph(1, -7, false)),
              HasSubstr("attribute 'max_trips' is -7"));
}

TEST(ControlErrors, AStateInsideIsRefused) {
  ir::Graph inside("inside");
  const ir::ValueId x = inside.AddValue(kVector, ir::Role::kInput, "x");
  inside.AddInput(x);
  inside.AddValue(kVector, ir::Role::kState, "memory");
  inside.AddOutput(x);
  const auto made =
      Build(IfGraph(Sum(), std::make_shared<const ir::Graph>(inside)),
            {device::CreateHostDevice()});
  EXPECT_THAT(std::string(made.status().message()),
              HasSubstr("tensor memory is a state; make it an input and an "
                        "output"));
}

}  // namespace
}  // namespace tim::runtime
