// RNNCell through the public API: orders of binding, states that are fed back,
// and a kernel that claims the whole node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/options.h"
#include "device/host/host_device.h"
#include "device/opencl/opencl_device.h"
#include "ir/typed_kernel.h"
#include "ops/builtin.h"
#include "tests/support/data/test_tensor.h"
#include "tests/support/long_tests.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/context_impl.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using vx::Tensor;
using vx::ops::RNNCell;
using Values = std::vector<float>;

constexpr uint32_t kWidth = 5;
constexpr uint32_t kBatch = 3;
constexpr int kSteps = 4;

struct Weights {
  explicit Weights(uint32_t units) : units(units), rng(SeededRng(units)) {
    input = Random(kWidth * units);
    bias = Random(units);
    recurrent = Random(units * units);
  }
  Values Random(size_t count) {
    std::uniform_real_distribution<float> uniform(-0.5f, 0.5f);
    Values values(count);
    for (float& value : values) value = uniform(rng);
    return values;
  }
  // In double from the formula; `state` is the state before.
  std::vector<double> Step(const Values& x,
                           const std::vector<double>& state) const {
    std::vector<double> out;
    for (uint32_t n = 0; n < kBatch; ++n) {
      for (uint32_t u = 0; u < units; ++u) {
        double sum = bias[u];
        for (uint32_t i = 0; i < kWidth; ++i) {
          sum += double{input[u * kWidth + i]} * x[n * kWidth + i];
        }
        for (uint32_t v = 0; v < units; ++v) {
          sum += recurrent[u * units + v] * state[n * units + v];
        }
        out.push_back(std::tanh(sum));
      }
    }
    return out;
  }

  uint32_t units;
  std::mt19937 rng;
  Values input, bias, recurrent;
};

enum class Order { kInputsFirst, kOutputsFirst, kInterleaved };

// y = RNNCell(x, state), z = relu(y); the consumer is created first.
class CellGraph {
 public:
  CellGraph(vx::Context& context, Weights& weights, Order order)
      : graph_(context.CreateGraph()), weights_(weights) {
    const uint32_t units = weights.units;
    x_ = graph_->CreateTensor(Floats({kWidth, kBatch}, vx::INPUT));
    state_ = graph_->CreateTensor(Floats({units, kBatch}, vx::INPUT));
    y_ = graph_->CreateTensor(Floats({units, kBatch}, vx::OUTPUT));
    next_ = graph_->CreateTensor(Floats({units, kBatch}, vx::OUTPUT));
    z_ = graph_->CreateTensor(Floats({units, kBatch}, vx::OUTPUT));
    const auto relu = graph_->CreateOperation<vx::ops::Relu>();
    relu->BindInput(y_).BindOutput(z_);
    Bind(*graph_->CreateOperation<RNNCell>(RNNCell::kSIGMOID), order);
  }

  // Feeds `state_out` back and compares every step with the reference.
  void RunSteps() {
    std::vector<double> state(weights_.units * kBatch, 0.0);
    Values fed(state.size(), 0.0f);
    for (int step = 0; step < kSteps; ++step) {
      const Values x = weights_.Random(kWidth * kBatch);
      Write(x_, x);
      Write(state_, fed);
      ASSERT_TRUE(graph_->Run()) << vx::LastError();
      state = weights_.Step(x, state);
      const auto near = Pointwise(FloatNear(2e-6f), state);
      EXPECT_THAT(Read(y_), near) << "step " << step;
      fed = Read(next_);
      EXPECT_THAT(fed, near) << "step " << step;
      for (const float value : Read(z_)) EXPECT_GE(value, 0);
      results_.insert(results_.end(), fed.begin(), fed.end());
    }
  }

  const Values& results() const { return results_; }
  vx::Graph& graph() { return *graph_; }

 private:
  void Bind(RNNCell& cell, Order order) {
    const uint32_t units = weights_.units;
    const auto constant = [&](const vx::ShapeType& shape, const Values& data) {
      return graph_->CreateTensor(Floats(shape, vx::CONSTANT), data.data());
    };
    const auto w = constant({kWidth, units}, weights_.input);
    const auto b = constant({units}, weights_.bias);
    const auto r = constant({units, units}, weights_.recurrent);
    switch (order) {
      case Order::kInputsFirst:
        cell.BindInputs({x_, w, b, state_, r}).BindOutputs({y_, next_});
        break;
      case Order::kOutputsFirst:
        cell.BindOutputs({y_, next_}).BindInputs({x_, w, b, state_, r});
        break;
      case Order::kInterleaved:
        cell.BindInput(x_).BindOutput(y_).BindInputs({w, b});
        cell.BindOutput(next_).BindInputs({state_, r});
        break;
    }
  }

  std::shared_ptr<vx::Graph> graph_;
  Weights& weights_;
  std::shared_ptr<Tensor> x_, state_, y_, next_, z_;
  Values results_;
};

class RnnCellOn : public ::testing::TestWithParam<const char*> {};

TEST_P(RnnCellOn, GivesTheFormulaWhateverTheOrderOfBinding) {
  const auto context = ContextOn(GetParam());
  if (context == nullptr) GTEST_SKIP() << "no device " << GetParam();
  Sample sample(3);
  for (const uint32_t units : {1u, 4u, 7u, 64u}) {
    if (!sample.Takes()) continue;
    Values first;
    for (const Order order :
         {Order::kInputsFirst, Order::kOutputsFirst, Order::kInterleaved}) {
      SCOPED_TRACE(units);
      Weights weights(units);
      CellGraph g(*context, weights, order);
      g.RunSteps();
      if (first.empty()) first = g.results();
      EXPECT_EQ(g.results(), first);
    }
  }
}

TEST_P(RnnCellOn, TakesAndGivesQuantizedStates) {
  const auto context = ContextOn(GetParam());
  if (context == nullptr) GTEST_SKIP() << "no device " << GetParam();
  const vx::TensorSpec state(
      vx::DataType::UINT8, {4, 2}, vx::INPUT,
      vx::Quantization(vx::QuantType::ASYMMETRIC, 1 / 127.0f, 127));
  vx::TensorSpec next = state;
  next.SetAttribute(vx::OUTPUT);
  auto graph = context->CreateGraph();
  const Values w(12, 0.25f);
  const Values b = {0, 0.5f, -0.5f, 1};
  const Values r(16, 0.125f);
  auto x = graph->CreateTensor(Floats({3, 2}, vx::INPUT));
  auto h = graph->CreateTensor(state);
  auto y = graph->CreateTensor(Floats({4, 2}, vx::OUTPUT));
  auto h_next = graph->CreateTensor(next);
  graph->CreateOperation<RNNCell>(RNNCell::kTANH)
      ->BindInputs(
          {x, graph->CreateTensor(Floats({3, 4}, vx::INPUT), w.data()),
           graph->CreateTensor(Floats({4}, vx::CONSTANT), b.data()), h,
           graph->CreateTensor(Floats({4, 4}, vx::CONSTANT), r.data())})
      .BindOutputs({y, h_next});
  Write<float>(x, {1, 2, -1, 0, 0, 4});
  Write<uint8_t>(h, {127, 254, 0, 127, 254, 254, 254, 254});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  // 0.25 * 2 + b + 0.125 * 0, and 0.25 * 4 + b + 0.125 * 4.
  const Values expected = {std::tanh(0.5f), std::tanh(1.0f), std::tanh(0.0f),
                           std::tanh(1.5f), std::tanh(1.5f), std::tanh(2.0f),
                           std::tanh(1.0f), std::tanh(2.5f)};
  EXPECT_THAT(Read(y), Pointwise(FloatNear(1e-6f), expected));
  std::vector<uint8_t> codes;
  for (const float value : expected) {
    codes.push_back(static_cast<uint8_t>(std::lrint(value * 127 + 127)));
  }
  EXPECT_EQ(Read<uint8_t>(h_next), codes);
}

INSTANTIATE_TEST_SUITE_P(Devices, RnnCellOn,
                         ::testing::Values("host", "opencl"));

TEST(RnnCell, IsOneNodeWithItsPartsInTheDump) {
  Weights weights(4);
  CellGraph g(*HostContext(), weights, Order::kInputsFirst);
  ::testing::internal::CaptureStderr();
  g.graph().PrintGraph();
  const std::string dump = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(dump, HasSubstr("= tim.RNNCell"));
  EXPECT_THAT(dump, HasSubstr("= tim.Tanh@1"));
}

TEST(RnnCell, MayLeaveTheNextStateOut) {
  auto graph = HostGraph();
  const Values ones(16, 1);
  const auto constant = [&](const vx::ShapeType& shape) {
    return graph->CreateTensor(Floats(shape, vx::CONSTANT), ones.data());
  };
  auto y = graph->CreateTensor(Floats({4, 1}, vx::OUTPUT));
  graph->CreateOperation<RNNCell>(RNNCell::kTANH)
      ->BindInputs({constant({2, 1}), constant({2, 4}), constant({4}),
                    constant({4, 1}), constant({4, 4})})
      .BindOutputs({y, graph->CreateTensorPlaceHolder()});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(y), Pointwise(FloatNear(1e-6f), Values(4, std::tanh(7.0f))));
}

TEST(RnnCell, ExtentsThatDoNotFitFailCompile) {
  auto graph = HostGraph();
  const auto input = [&](const vx::ShapeType& shape) {
    return graph->CreateTensor(Floats(shape, vx::INPUT));
  };
  graph->CreateOperation<RNNCell>(RNNCell::kTANH)
      ->BindInputs({input({3, 2}), input({5, 4}), input({4}), input({4, 2}),
                    input({4, 4})})
      .BindOutputs({graph->CreateTensor(Floats({4, 2}, vx::OUTPUT)),
                    graph->CreateTensor(Floats({4, 2}, vx::OUTPUT))});
  EXPECT_TRUE(CompileFailsWith(*graph, "RNNCell#1"));
  EXPECT_THAT(vx::LastError(),
              HasSubstr("input 1 is [5, 4], but input [3, 2]"));
}

// ---- a kernel that claims the node ------------------------------------------

constexpr char kWholeCell[] = R"(
__kernel void whole_cell(__global const float* x, int x0,
                         __global const float* w, int w0,
                         __global const float* b, int b0,
                         __global const float* h, int h0,
                         __global const float* r, int r0, __global float* y,
                         int y0, __global float* next, int next0, int width,
                         int units) {
  const int u = get_global_id(0);
  const int n = get_global_id(1);
  float sum = b[b0 + u];
  for (int i = 0; i < width; ++i)
    sum += w[w0 + u * width + i] * x[x0 + n * width + i];
  for (int v = 0; v < units; ++v)
    sum += r[r0 + u * units + v] * h[h0 + n * units + v];
  y[y0 + n * units + u] = next[next0 + n * units + u] = tanh(sum);
}
)";

Result<ir::Lowering> LowerWholeCell(const ir::KernelNode& node,
                                    const ir::DeviceInfo&) {
  using Kind = ir::LoweredOperand::Kind;
  ir::KernelLaunch launch;
  launch.text = kWholeCell;
  launch.function = "whole_cell";
  ir::LoweredStep step;
  for (int i = 0; i < 7; ++i) {
    launch.arguments.emplace_back(ir::TensorArg{.operand = i});
    step.operands.push_back(i < 5 ? ir::LoweredOperand{Kind::kInput, i}
                                  : ir::LoweredOperand{Kind::kOutput, i - 5});
    step.written.push_back(i >= 5);
  }
  const ir::Shape& weights = node.inputs[1].shape;
  launch.arguments.emplace_back(static_cast<int32_t>(weights[0]));
  launch.arguments.emplace_back(static_cast<int32_t>(weights[1]));
  launch.range.dimensions = 2;
  launch.range.global = {weights[1], node.inputs[0].shape[1], 1};
  step.action = std::move(launch);
  ir::Lowering lowering;
  lowering.steps.push_back(std::move(step));
  return lowering;
}

int CountWholeCells(const ir::Plan& plan) {
  int count = 0;
  for (const ir::Step& step : plan.steps) {
    const auto* launch = std::get_if<ir::KernelLaunch>(&step.action);
    count += launch != nullptr && launch->function == "whole_cell";
  }
  return count;
}

TEST(RnnCell, MayBeClaimedAsAWholeByAKernel) {
  const auto opencl = device::CreateOpenClDevice(0, GetOptions().on_device);
  if (!opencl.ok()) GTEST_SKIP() << opencl.status().message();
  ir::OpRegistry operators(&ops::BuiltinOperators());
  operators.Add(ir::PlainKernel{
      .op = "tim.RNNCell",
      .name = "whole_cell",
      .analyze = [](const ir::KernelNode&,
                    const ir::DeviceInfo&) { return OkStatus(); },
      .cost = [](const ir::KernelNode&, const ir::DeviceInfo&) { return 1.0; },
      .lower = LowerWholeCell});
  const auto context =
      vx::CreateContext({device::CreateHostDevice(), *opencl},
                        {.strict = true, .operators = &operators});
  Sample sample(3);
  for (const uint32_t units : {1u, 4u, 7u, 64u}) {
    if (!sample.Takes()) continue;
    Weights weights(units);
    CellGraph g(*context, weights, Order::kOutputsFirst);
    g.RunSteps();
    EXPECT_EQ(CountWholeCells(*vx::CompiledPlan(g.graph())), 1);
    EXPECT_EQ(vx::CompiledPlan(g.graph())->steps.size(), 2u)
        << ir::Dump(*vx::CompiledPlan(g.graph()));
  }
}

}  // namespace
}  // namespace tim::testing
