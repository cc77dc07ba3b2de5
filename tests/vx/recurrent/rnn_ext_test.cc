// The recurrent layers with the operands of ONNX, and outputs that are not
// wanted, through the public API.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/support/data/test_tensor.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using ::testing::FloatNear;
using ::testing::Pointwise;
using vx::ops::BidirectionalSequenceRnn;
using vx::ops::BidirectionalSequenceRnnExt;
using vx::ops::UnidirectionalSequenceRnn;
using vx::ops::UnidirectionalSequenceRnnExt;
using Values = std::vector<float>;
using Tensors = std::vector<std::shared_ptr<vx::Tensor>>;

constexpr uint32_t kWidth = 2, kBatch = 3, kSteps = 4;

enum class Weights { kInputs, kConstants };
enum class Binding { kInputsFirst, kOutputsFirst };

// x, W, R, biases and the first states of one or two directions, and what the
// formula makes of them.
struct Layer {
  Layer(uint32_t directions, uint32_t units)
      : directions(directions), units(units), rng(SeededRng(units)) {
    x = Random(kWidth * kBatch * kSteps);
    weights = Random(kWidth * units * directions);
    recurrent = Random(units * units * directions);
    biases = Random(2 * units * directions);
    state = Random(units * kBatch * directions);
    last.resize(state.size());
    sequence.resize(state.size() * kSteps);
    for (uint32_t d = 0; d < directions; ++d) Run(d);
  }

  Values Random(size_t count) {
    std::uniform_real_distribution<float> uniform(-0.8f, 0.8f);
    Values values(count);
    for (float& value : values) value = uniform(rng);
    return values;
  }

  void Run(uint32_t d) {
    for (uint32_t n = 0; n < kBatch; ++n) {
      const uint32_t row = (d * kBatch + n) * units;
      std::vector<double> h(state.begin() + row, state.begin() + row + units);
      for (uint32_t step = 0; step < kSteps; ++step) {
        const uint32_t t = d == 0 ? step : kSteps - 1 - step;
        std::vector<double> next;
        for (uint32_t u = 0; u < units; ++u) {
          double sum = biases[d * 2 * units + u];
          sum += biases[(d * 2 + 1) * units + u];
          for (uint32_t i = 0; i < kWidth; ++i) {
            sum += double{weights[(d * units + u) * kWidth + i]} *
                   x[(t * kBatch + n) * kWidth + i];
          }
          for (uint32_t v = 0; v < units; ++v) {
            sum += recurrent[(d * units + u) * units + v] * h[v];
          }
          next.push_back(1 / (1 + std::exp(-sum)));
        }
        h = next;
        for (uint32_t u = 0; u < units; ++u) {
          sequence[((t * directions + d) * kBatch + n) * units + u] = h[u];
        }
      }
      std::copy(h.begin(), h.end(), last.begin() + row);
    }
  }

  uint32_t directions, units;
  std::mt19937 rng;
  Values x, weights, recurrent, biases, state;
  std::vector<double> last, sequence;
};

std::shared_ptr<vx::Operation> Create(vx::Graph& graph, uint32_t directions) {
  if (directions == 1) {
    return graph.CreateOperation<UnidirectionalSequenceRnnExt>(
        UnidirectionalSequenceRnn::kSIGMOID);
  }
  return graph.CreateOperation<BidirectionalSequenceRnnExt>(
      BidirectionalSequenceRnn::kSIGMOID);
}

class RnnExtOn : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    context_ = ContextOn(GetParam());
    if (context_ == nullptr) GTEST_SKIP() << "no device " << GetParam();
  }

  // x passes through Relu and Neg first: its shape is unknown while the
  // operation is wired.
  void Check(const Layer& layer, Weights kind, Binding binding) {
    auto graph = context_->CreateGraph();
    const uint32_t u = layer.units, d = layer.directions;
    const auto operand = [&](const vx::ShapeType& shape, const Values& data) {
      const auto tensor = graph->CreateTensor(
          Floats(shape, kind == Weights::kInputs ? vx::INPUT : vx::CONSTANT),
          data.data());
      return tensor;
    };
    const auto given = graph->CreateTensor(
        Floats({kWidth, kBatch, kSteps}, vx::INPUT), layer.x.data());
    const auto x = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    const auto minus = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    graph->CreateOperation<vx::ops::Neg>()->BindInput(given).BindOutput(minus);
    graph->CreateOperation<vx::ops::Neg>()->BindInput(minus).BindOutput(x);
    const auto last = graph->CreateTensor(Floats({u, kBatch, d}, vx::OUTPUT));
    const auto sequence =
        graph->CreateTensor(Floats({u, kBatch, d, kSteps}, vx::OUTPUT));
    const Tensors inputs = {x, operand({kWidth, u, d}, layer.weights),
                            operand({u, u, d}, layer.recurrent),
                            operand({2 * u, d}, layer.biases),
                            operand({u, kBatch, d}, layer.state)};
    const auto operation = Create(*graph, d);
    if (binding == Binding::kInputsFirst) {
      operation->BindInputs(inputs).BindOutputs({last, sequence});
    } else {
      operation->BindOutputs({last, sequence}).BindInputs(inputs);
    }
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    EXPECT_THAT(Read(last), Pointwise(FloatNear(1e-6f), layer.last));
    // [U, 1, B, T] and [U, B, 1, T] are the same elements.
    EXPECT_THAT(Read(sequence), Pointwise(FloatNear(1e-6f), layer.sequence));
  }

  std::shared_ptr<vx::Context> context_;
};

TEST_P(RnnExtOn, GivesTheFormula) {
  for (const uint32_t directions : {1u, 2u}) {
    for (const uint32_t units : {1u, 4u, 17u}) {
      SCOPED_TRACE(StrCat(directions, " directions of ", units, " units"));
      const Layer layer(directions, units);
      Check(layer, Weights::kInputs, Binding::kInputsFirst);
      Check(layer, Weights::kConstants, Binding::kOutputsFirst);
    }
  }
}

TEST_P(RnnExtOn, LastStatesMayBeLeftOut) {
  for (const uint32_t d : {1u, 2u}) {
    const Layer layer(d, 4);
    auto graph = context_->CreateGraph();
    const auto constant = [&](const vx::ShapeType& shape, const Values& data) {
      return graph->CreateTensor(Floats(shape, vx::CONSTANT), data.data());
    };
    const auto x = graph->CreateTensor(
        Floats({kWidth, kBatch, kSteps}, vx::INPUT), layer.x.data());
    const auto sequence =
        graph->CreateTensor(Floats({4, kBatch, d, kSteps}, vx::OUTPUT));
    Create(*graph, d)
        ->BindInputs({x, constant({kWidth, 4, d}, layer.weights),
                      constant({4, 4, d}, layer.recurrent),
                      constant({8, d}, layer.biases),
                      constant({4, kBatch, d}, layer.state)})
        .BindOutputs({graph->CreateTensorPlaceHolder(), sequence});
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    EXPECT_THAT(Read(sequence), Pointwise(FloatNear(1e-6f), layer.sequence));
  }
}

// A state without the sequence is no use that TIM-VX has: it is refused.
TEST_P(RnnExtOn, TheSequenceIsRequired) {
  auto graph = context_->CreateGraph();
  const auto input = [&](const vx::ShapeType& shape) {
    return graph->CreateTensor(Floats(shape, vx::INPUT));
  };
  graph
      ->CreateOperation<UnidirectionalSequenceRnn>(
          UnidirectionalSequenceRnn::kTANH)
      ->BindInputs({input({2, 4, 3}), input({2, 5}), input({5, 5})})
      .BindOutput(graph->CreateTensor(Floats({5, 3}, vx::OUTPUT)));
  EXPECT_TRUE(CompileFailsWith(*graph, "output 1 is not bound"));
}

TEST_P(RnnExtOn, ExtentsThatDoNotFitFailCompile) {
  auto graph = context_->CreateGraph();
  const auto input = [&](const vx::ShapeType& shape) {
    return graph->CreateTensor(Floats(shape, vx::INPUT));
  };
  Create(*graph, 2)
      ->BindInputs({input({2, 3, 4}), input({2, 5, 2}), input({5, 4, 2}),
                    input({10, 2}), input({5, 3, 2})})
      .BindOutputs({graph->CreateTensor(Floats({5, 3, 2}, vx::OUTPUT)),
                    graph->CreateTensor(Floats({5, 3, 2, 4}, vx::OUTPUT))});
  EXPECT_TRUE(
      CompileFailsWith(*graph, "input 2 is [5, 4, 2], expected [5, 5, 2]"));
}

INSTANTIATE_TEST_SUITE_P(Devices, RnnExtOn,
                         ::testing::Values("host", "opencl"));

TEST(RnnExt, ClonesKeepTheActivation) {
  auto graph = HostGraph();
  auto other = HostGraph();
  for (const uint32_t directions : {1u, 2u}) {
    const auto operation = Create(*graph, directions);
    const auto clone = operation->Clone(other);
    EXPECT_STREQ(clone->Name(), operation->Name());
    EXPECT_NE(clone, operation);
  }
}

}  // namespace
}  // namespace tim::testing
