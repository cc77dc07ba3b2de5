// The sample on oneDNN: networks, every operator that it takes, and what it
// refuses, against the host.  Its tolerance is 1e-5 of a result's range.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "plugin/plugins.h"
#include "tests/plugin_abi/plug_graph.h"
#include "tests/support/devices/empty_store.h"
#include "tests/support/status_macros.h"
#include "tim/devices/devices.h"
#include "tim/devices/plugins.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/ops.h"
#include "tim/vx/placement.h"
#include "tim/vx/tensor.h"

namespace tim::plugin {
namespace {

using testing::CountSteps;
using testing::Floats;
using ::testing::HasSubstr;
using testing::PlugGraph;
using Ints = std::vector<int64_t>;

constexpr char kLibrary[] = "samples/plugins/libtimcl_onednn.so";

// Named before the first use of any device.
const bool kNamed = [] {
  setenv("TIMCL_PLUGINS", kLibrary, 1);
  setenv("TIMCL_STRICT", "0", 1);
  return true;
}();

void ExpectNear(const Floats& actual, const Floats& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  ASSERT_FALSE(expected.empty());
  const auto [least, most] =
      std::minmax_element(expected.begin(), expected.end());
  const float range = std::max({*most - *least, std::abs(*most), 1e-3f});
  for (size_t i = 0; i < actual.size(); ++i) {
    ASSERT_NEAR(actual[i], expected[i], 1e-5f * range) << "element " << i;
  }
}

class OneDnn : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(kNamed);
    if (!std::ifstream(kLibrary).good()) {
      GTEST_SKIP() << "oneDNN (libdnnl-dev) was not there when this was built";
    }
    ASSERT_FALSE(devices::List().empty());  // loads what is named
    auto devices = testing::HostAnd("onednn");
    ASSERT_OK(devices);
    devices_ = *std::move(devices);
  }

  // Runs it in one part, twice, and compares with the host.
  void ExpectRuns(const PlugGraph& graph) {
    auto ready = testing::Ready(graph, devices_, /*strict=*/true);
    ASSERT_OK(ready);
    EXPECT_EQ(CountSteps<ir::GraphCall>(ready->executable->plan()), 1);
    EXPECT_EQ(CountSteps<ir::HostCall>(ready->executable->plan()), 0);
    for (const uint32_t seed : {1u, 2u}) {
      std::vector<Floats> inputs;
      for (const ir::PlanTensor& input : ready->executable->plan().inputs) {
        const auto count = *input.desc.shape.NumElements();
        inputs.push_back(testing::SomeFloats(static_cast<size_t>(count),
                                             seed * 10 + inputs.size()));
      }
      const auto results = testing::Run(*ready, inputs);
      ASSERT_OK(results);
      ExpectNear(*results, testing::Expected(graph, inputs));
    }
  }

  // A graph with one operator on inputs of these shapes and constants.
  void ExpectComputes(const std::string& op, const std::vector<Ints>& inputs,
                      const std::vector<Ints>& constants,
                      const ir::AttributeMap& attributes) {
    SCOPED_TRACE(StrCat(op, ", case ", ++cases_));
    ExpectRuns(GraphOf(op, inputs, constants, attributes));
  }

  static PlugGraph GraphOf(const std::string& op,
                           const std::vector<Ints>& inputs,
                           const std::vector<Ints>& constants,
                           const ir::AttributeMap& attributes) {
    PlugGraph graph(testing::Known());
    std::vector<ir::ValueId> operands;
    for (const Ints& dims : inputs) {
      operands.push_back(graph.Input(ir::Shape(dims)));
    }
    for (const Ints& dims : constants) {
      operands.push_back(graph.Constant(ir::Shape(dims)));
    }
    graph.Output(graph.Op(op, operands, attributes));
    return graph;
  }

  device::Devices devices_;

 private:
  int cases_ = 0;
};

TEST_F(OneDnn, Convolutions) {
  const Ints bias = {8};
  ExpectComputes("tim.Conv2d", {{13, 11, 3, 2}}, {{3, 3, 3, 8}, bias},
                 {{"padding", int64_t{2}}, {"stride", Ints{2, 1}}});
  ExpectComputes("tim.Conv2d", {{13, 11, 3, 1}}, {{5, 3, 3, 8}},
                 {{"padding", int64_t{1}}, {"dilation", Ints{1, 2}}});
  ExpectComputes("tim.Conv2d", {{13, 11, 33, 1}}, {{3, 2, 33, 8}, bias},
                 {{"pad", Ints{1, 0, 2, 1}}, {"stride", Ints{2, 3}}});
  // Groups, and both forms of depthwise weights.
  ExpectComputes("tim.Conv2d", {{7, 6, 4, 2}}, {{3, 3, 2, 8}, bias},
                 {{"padding", int64_t{2}}});
  ExpectComputes("tim.Conv2d", {{7, 6, 4, 1}}, {{3, 3, 8, 1}, bias},
                 {{"padding", int64_t{2}}, {"multiplier", int64_t{2}}});
  ExpectComputes("tim.Conv2d", {{7, 6, 8, 1}}, {{3, 3, 1, 8}, bias},
                 {{"padding", int64_t{2}}, {"multiplier", int64_t{1}}});
  ExpectComputes("tim.GroupedConv2d", {{7, 6, 4, 1}}, {{3, 3, 2, 8}, bias},
                 {{"padding", int64_t{1}}, {"group", int64_t{2}}});
  // Weights that are made in the run.
  ExpectComputes("tim.Conv2d", {{7, 6, 4, 1}, {3, 3, 4, 8}}, {},
                 {{"padding", int64_t{2}}});
}

TEST_F(OneDnn, Products) {
  ExpectComputes("tim.FullyConnected", {{33, 5}}, {{33, 7}, {7}},
                 {{"axis", int64_t{0}}});
  ExpectComputes("tim.FullyConnected", {{3, 4, 5, 2}}, {{60, 7}},
                 {{"axis", int64_t{2}}});
  ExpectComputes("tim.Matmul", {{31, 5, 3}}, {{7, 31}}, {});
  ExpectComputes("tim.Matmul", {{31, 5, 3}, {31, 7, 3}}, {},
                 {{"transpose_b", true}});
  ExpectComputes("tim.Matmul", {{5, 31, 3}, {7, 31, 3}}, {},
                 {{"transpose_a", true}});
}

TEST_F(OneDnn, Pools) {
  for (const int64_t type : {0, 1, 3, 4}) {
    for (const int64_t rounding : {0, 1}) {
      // AVG_PADDED counts nothing behind the padding, where ceiling may end.
      if (type == 4 && rounding == 0) continue;
      ir::AttributeMap attributes = {
          {"type", type}, {"ksize", Ints{3, 3}}, {"stride", Ints{2, 2}}};
      attributes.Set(ir::kRoundType, rounding);
      ExpectComputes("tim.Pool2d", {{12, 10, 5, 2}}, {}, attributes);
      attributes.Set("pad", Ints{1, 1, 0, 1});
      ExpectComputes("tim.Pool2d", {{13, 10, 5, 2}}, {}, attributes);
    }
  }
  ExpectComputes(
      "tim.Pool2d", {{7, 7, 20, 1}}, {},
      {{"type", int64_t{1}}, {"mode", "global"}, {"input_size", Ints{7, 7}}});
  ExpectComputes("tim.Pool2d", {{7, 6, 3}}, {},
                 {{"type", int64_t{0}},
                  {"mode", "adaptive"},
                  {"input_size", Ints{7, 6}},
                  {"output_size", Ints{3, 2}}});
  for (const char* op :
       {"tim.ReduceMean", "tim.ReduceSum", "tim.ReduceMax", "tim.ReduceMin"}) {
    ExpectComputes(op, {{7, 6, 3, 2}}, {},
                   {{"axis", Ints{0, 1}}, {"keep_dims", false}});
    ExpectComputes(op, {{7, 6, 3}}, {},
                   {{"axis", Ints{-1}}, {"keep_dims", true}});
  }
}

TEST_F(OneDnn, Elements) {
  const Ints shape = {33, 3, 5, 2};
  for (const char* op : {"tim.Relu", "tim.Relu1", "tim.Relu6", "tim.Tanh",
                         "tim.Sigmoid", "tim.HardSwish", "tim.Mish", "tim.Abs",
                         "tim.Square", "tim.Exp", "tim.Neg", "tim.Swish"}) {
    ExpectComputes(op, {shape}, {}, {});
  }
  ExpectComputes("tim.LeakyRelu", {shape}, {}, {{"alpha", 0.25}});
  ExpectComputes("tim.Elu", {shape}, {}, {{"alpha", 1.5}});
  ExpectComputes("tim.Linear", {shape}, {}, {{"a", 2.5}, {"b", -1.0}});
  ExpectComputes("tim.HardSigmoid", {shape}, {},
                 {{"alpha", 2.0}, {"beta", 0.5}});
  ExpectComputes("tim.Clip", {shape}, {}, {{"min", -0.5}, {"max", 0.25}});
  ExpectComputes("tim.Gelu", {shape}, {}, {{"approximate", true}});
  ExpectComputes("tim.Gelu", {shape}, {}, {{"approximate", false}});
  for (const char* op :
       {"tim.Add", "tim.Sub", "tim.Multiply", "tim.Maximum", "tim.Minimum"}) {
    ExpectComputes(op, {shape, shape}, {}, {});
    ExpectComputes(op, {shape}, {{1, 1, 5, 1}}, {});
    ExpectComputes(op, {shape}, {{33}}, {});
  }
  ExpectComputes("tim.Add", {{33}, shape}, {}, {});
  for (const int64_t axis : {0, 2, -1}) {
    ExpectComputes("tim.Softmax", {shape}, {}, {{"beta", 0.5}, {"axis", axis}});
  }
}

TEST_F(OneDnn, Movements) {
  ExpectComputes("tim.Concat", {{5, 3, 17, 1}, {5, 3, 4, 1}}, {{5, 3, 2, 1}},
                 {{"axis", int64_t{2}}, {"input_cnt", int64_t{3}}});
  ExpectComputes("tim.Transpose", {{5, 3, 4, 2}}, {},
                 {{"perm", Ints{2, 0, 1, 3}}});
  PlugGraph graph(testing::Known());
  const ir::ValueId x = graph.Input({4, 6});
  const ir::ValueId relu = graph.Op("tim.Relu", {x});
  graph.Output(graph.Op("tim.Reshape", {relu}, {{"shape", Ints{8, 3}}}));
  graph.Output(relu);
  graph.Output(graph.Op("tim.Neg", {relu}));
  ExpectRuns(graph);
}

// An operator behind a convolution is part of its primitive; a tensor that is
// added may be needed later, be an input, or be made by a convolution itself.
TEST_F(OneDnn, Residuals) {
  const ir::AttributeMap same = {{"padding", int64_t{2}}};
  for (const bool needed_later : {false, true}) {
    PlugGraph graph(testing::Known());
    const ir::ValueId x = graph.Input({9, 7, 16, 1});
    const auto conv = [&](ir::ValueId in) {
      return graph.Op(
          "tim.Conv2d",
          {in, graph.Constant({3, 3, 16, 16}), graph.Constant({16})}, same);
    };
    const ir::ValueId first =
        graph.Op("tim.Relu", {graph.Op("tim.Add", {conv(x), x})});
    const ir::ValueId second =
        graph.Op("tim.Relu6", {graph.Op("tim.Add", {first, conv(first)})});
    const ir::ValueId third = graph.Op("tim.Add", {conv(second), conv(x)});
    graph.Output(needed_later ? graph.Op("tim.Multiply", {third, first})
                              : third);
    if (needed_later) graph.Output(second);
    ExpectRuns(graph);
  }
}

// Bad input: each is refused with its reason, and runs elsewhere.
TEST_F(OneDnn, RefusalsAreTold) {
  struct Case {
    const char* op;
    std::vector<Ints> inputs;
    std::vector<Ints> constants;
    ir::AttributeMap attributes;
    const char* reason;
  };
  const Case cases[] = {
      {"tim.Erf", {{4, 4}}, {}, {}, "no operator that this plug-in knows"},
      {"tim.Sub", {{4}, {4, 4}}, {}, {}, "its first input repeats itself"},
      {"tim.Multiply", {{4}, {4}}, {}, {{"scale", 2.0}}, "it takes no scale"},
      {"tim.Clip", {{4}}, {}, {{"min", 2.0}, {"max", 1.0}}, "its limits cross"},
      {"tim.Pool2d",
       {{8, 8, 2, 1}},
       {},
       {{"type", int64_t{2}}, {"ksize", Ints{2, 2}}, {"stride", Ints{2, 2}}},
       "it pools by maximum or average"},
      {"tim.Matmul",
       {{4, 4, 1, 3}, {4, 4, 2, 1}},
       {},
       {},
       "repeats itself over some of the batches only"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.op);
    const PlugGraph graph =
        GraphOf(one.op, one.inputs, one.constants, one.attributes);
    EXPECT_ERROR(testing::Ready(graph, devices_, /*strict=*/true), one.reason);
    auto ready = testing::Ready(graph, devices_);
    ASSERT_OK(ready);
    EXPECT_EQ(CountSteps<ir::GraphCall>(ready->executable->plan()), 0);
  }
}

// A part of a file may hold anything: compile() has the same rules.
TEST_F(OneDnn, CompileRefusesWithTheReason) {
  PlugGraph graph = GraphOf("tim.Multiply", {{4}, {4}}, {}, {{"scale", 1.0}});
  auto ready = testing::Ready(graph, devices_, /*strict=*/true);
  ASSERT_OK(ready);
  for (const ir::Step& step : ready->executable->plan().steps) {
    const auto* call = std::get_if<ir::GraphCall>(&step.action);
    if (call == nullptr) continue;
    auto part = std::make_shared<ir::Graph>(*call->part);
    part->node(part->NodeIds()[0]).attributes.Set("scale", 2.0);
    const ir::Action action = ir::GraphCall{part, call->name, call->options};
    const ir::Action* const actions[] = {&action};
    testing::EmptyStore store;
    const auto prepared =
        devices_[1]->PrepareEach(actions, *graph.operators(), store);
    ASSERT_EQ(prepared.size(), 1u);
    EXPECT_ERROR(prepared[0], "it takes no scale");
    return;
  }
  FAIL() << "no step is a part";
}

TEST_F(OneDnn, UnknownOptionsAreRefused) {
  devices_.clear();
  ASSERT_OK(UnloadPlugin("onednn"));
  EXPECT_ERROR(LoadPlugin(kLibrary, {{"thread", "2"}}, {}),
               "there is no option 'thread'");
  EXPECT_ERROR(LoadPlugin(kLibrary, {{"threads", "many"}}, {}),
               "threads is 'many'");
  ASSERT_OK(LoadPlugin(kLibrary, {{"threads", "1"}, {"min_nodes", "1"}}, {}));
  auto devices = testing::HostAnd("onednn");
  ASSERT_OK(devices);
  EXPECT_EQ((*devices)[1]->info().compute_units, 1);
  devices_ = *std::move(devices);
  ExpectRuns(GraphOf("tim.Conv2d", {{7, 6, 4, 1}}, {{3, 3, 4, 8}},
                     {{"padding", int64_t{2}}}));
}

// ---- through the front ----

using vx::DataType;
using vx::TensorAttribute;

// Two convolutions around an addition, pooled and classified.
struct SmallNet {
  std::shared_ptr<vx::Graph> graph;
  std::shared_ptr<vx::Tensor> input, output;
  uint32_t seed = 1;

  explicit SmallNet(const std::shared_ptr<vx::Context>& context)
      : graph(context->CreateGraph()) {
    const auto tensor = [&](const vx::ShapeType& shape,
                            TensorAttribute attribute) {
      return graph->CreateTensor({DataType::FLOAT32, shape, attribute});
    };
    const auto between = [&] { return tensor({}, TensorAttribute::TRANSIENT); };
    input = tensor({16, 16, 3, 1}, TensorAttribute::INPUT);
    output = tensor({10, 1}, TensorAttribute::OUTPUT);
    auto first = Convolve(input, 3, between());
    auto relu = between();
    (*graph->CreateOperation<vx::ops::Relu>())
        .BindInput(first)
        .BindOutput(relu);
    auto second = Convolve(relu, 8, between());
    auto sum = between();
    (*graph->CreateOperation<vx::ops::Add>())
        .BindInputs({second, relu})
        .BindOutput(sum);
    auto pooled = between();
    (*graph->CreateOperation<vx::ops::Pool2d>(
         vx::PoolType::MAX, vx::PadType::VALID, std::array<uint32_t, 2>{2, 2},
         std::array<uint32_t, 2>{2, 2}))
        .BindInput(sum)
        .BindOutput(pooled);
    auto scores = between();
    (*graph->CreateOperation<vx::ops::FullyConnected>(2, 10))
        .BindInputs({pooled, Constant({8 * 8 * 8, 10})})
        .BindOutput(scores);
    (*graph->CreateOperation<vx::ops::Softmax>(1.0f, 0))
        .BindInput(scores)
        .BindOutput(output);
  }

  std::shared_ptr<vx::Tensor> Constant(const vx::ShapeType& shape) {
    size_t count = 1;
    for (const uint32_t extent : shape) count *= extent;
    const Floats data = testing::SomeFloats(count, seed++);
    return graph->CreateTensor(
        {DataType::FLOAT32, shape, TensorAttribute::CONSTANT}, data.data());
  }

  std::shared_ptr<vx::Tensor> Convolve(const std::shared_ptr<vx::Tensor>& from,
                                       uint32_t channels,
                                       std::shared_ptr<vx::Tensor> to) {
    (*graph->CreateOperation<vx::ops::Conv2d>(vx::PadType::SAME,
                                              std::array<uint32_t, 2>{1, 1},
                                              std::array<uint32_t, 2>{1, 1}))
        .BindInputs({from, Constant({3, 3, channels, 8}), Constant({8})})
        .BindOutput(to);
    return to;
  }

  Floats Run() {
    const Floats x = testing::SomeFloats(16 * 16 * 3, 99);
    Floats y(10);
    if (!input->CopyDataToTensor(x.data(), x.size() * sizeof(float)) ||
        !graph->Run() || !output->CopyDataFromTensor(y.data())) {
      return {};
    }
    return y;
  }
};

TEST_F(OneDnn, ANetworkRunsByNamesOfDevices) {
  SmallNet on_host(vx::Context::CreateOn("host"));
  ASSERT_TRUE(on_host.graph->Compile());
  const Floats expected = on_host.Run();
  ASSERT_EQ(expected.size(), 10u);
  for (const char* list : {"onednn", "onednn:0", "onednn,host"}) {
    SCOPED_TRACE(list);
    const auto context = vx::Context::CreateOn(list);
    ASSERT_NE(context, nullptr) << devices::LastError();
    SmallNet net(context);
    ASSERT_TRUE(net.graph->Compile()) << devices::LastError();
    ExpectNear(net.Run(), expected);
    const auto partition =
        nlohmann::json::parse(vx::PartitionAsJson(*net.graph));
    ASSERT_EQ(partition["parts"].size(), 1u) << partition.dump(1);
    EXPECT_EQ(partition["parts"][0]["kind"], "graph");
    EXPECT_EQ(partition["parts"][0]["device"], "onednn");
    EXPECT_GT(partition["parts"][0]["predicted_us"], 0);
  }
}

}  // namespace
}  // namespace tim::plugin
