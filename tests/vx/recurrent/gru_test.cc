// GRU through the public API: a cell that is fed back against the sequence, and
// declared outputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/support/data/test_tensor.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using ::testing::FloatNear;
using ::testing::Pointwise;
using vx::ops::GRUCell;
using vx::ops::UnidirectionalSequenceGRU;
using Values = std::vector<float>;
using Tensors = std::vector<std::shared_ptr<vx::Tensor>>;

constexpr uint32_t kWidth = 3, kUnits = 18, kBatch = 2, kSteps = 5;

class GruOn : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    context_ = ContextOn(GetParam());
    if (context_ == nullptr) GTEST_SKIP() << "no device " << GetParam();
  }

  Values Random(size_t count) {
    std::uniform_real_distribution<float> uniform(-0.5f, 0.5f);
    Values values(count);
    for (float& value : values) value = uniform(rng_);
    return values;
  }

  // Kernels, recurrent kernels and biases, the same for every graph.
  Tensors Weights(vx::Graph& graph) {
    rng_.seed(7);
    Tensors out;
    for (int i = 0; i < 12; ++i) {
      const vx::ShapeType shape = i < 3   ? vx::ShapeType{kWidth, kUnits}
                                  : i < 6 ? vx::ShapeType{kUnits, kUnits}
                                          : vx::ShapeType{kUnits};
      const Values data = Random(shape[0] * (i < 6 ? kUnits : 1));
      out.push_back(
          graph.CreateTensor(Floats(shape, vx::CONSTANT), data.data()));
    }
    return out;
  }

  // All states, time-major, and the last one.
  std::pair<Values, Values> RunSequence(const Values& x, const Values& state) {
    auto graph = context_->CreateGraph();
    Tensors inputs = {
        graph->CreateTensor(Floats({kWidth, kBatch, kSteps}, vx::INPUT),
                            x.data()),
        graph->CreateTensor(Floats({kUnits, kBatch}, vx::INPUT), state.data())};
    for (const auto& each : Weights(*graph)) inputs.push_back(each);
    const auto all =
        graph->CreateTensor(Floats({kUnits, kBatch, kSteps}, vx::OUTPUT));
    const auto last = graph->CreateTensor(Floats({kUnits, kBatch}, vx::OUTPUT));
    using Gru = UnidirectionalSequenceGRU;
    graph
        ->CreateOperation<Gru>(kUnits, Gru::kTANH, Gru::kSIGMOID, false, true,
                               true)
        ->BindInputs(inputs)
        .BindOutputs({all, last});
    EXPECT_TRUE(graph->Run()) << vx::LastError();
    return {Read(all), Read(last)};
  }

  std::shared_ptr<vx::Context> context_;
  std::mt19937 rng_{7};
};

// The state is a VARIABLE that each run reads and writes.
TEST_P(GruOn, CellThatIsFedBackGivesTheSequence) {
  rng_.seed(3);
  const Values x = Random(kWidth * kBatch * kSteps);
  const Values zeros(kUnits * kBatch, 0.0f);
  const auto [all, last] = RunSequence(x, zeros);

  auto graph = context_->CreateGraph();
  const auto input = graph->CreateTensor(Floats({kWidth, kBatch}, vx::INPUT));
  const auto state =
      graph->CreateTensor(Floats({kUnits, kBatch}, vx::VARIABLE), zeros.data());
  const auto output = graph->CreateTensor(Floats({kUnits, kBatch}, vx::OUTPUT));
  Tensors inputs = {input, state};
  for (const auto& each : Weights(*graph)) inputs.push_back(each);
  graph
      ->CreateOperation<GRUCell>(kUnits, GRUCell::kTANH, GRUCell::kSIGMOID,
                                 false)
      ->BindInputs(inputs)
      .BindOutputs({output, state});
  const size_t row = kWidth * kBatch, states = kUnits * kBatch;
  for (uint32_t t = 0; t < kSteps; ++t) {
    Write(input, Values(x.begin() + t * row, x.begin() + (t + 1) * row));
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    EXPECT_THAT(
        Read(output),
        Pointwise(FloatNear(1e-6f), Values(all.begin() + t * states,
                                           all.begin() + (t + 1) * states)));
  }
  EXPECT_THAT(Read(output), Pointwise(FloatNear(1e-6f), last));
}

// z = r = sigmoid(0) = 0.5 and n = tanh(0) for zero weights: h halves, and a
// state of zeros stays.
TEST_P(GruOn, OneStepMayBeDeclaredWithItsAxis) {
  auto graph = context_->CreateGraph();
  const auto input = [&](const vx::ShapeType& shape, float value) {
    size_t count = 1;
    for (const uint32_t extent : shape) count *= extent;
    const Values data(count, value);
    return graph->CreateTensor(Floats(shape, vx::INPUT), data.data());
  };
  Tensors inputs = {input({4, 1, 1}, 1), input({2, 1}, 3)};
  for (int i = 0; i < 3; ++i) inputs.push_back(input({4, 2}, 0));
  for (int i = 0; i < 3; ++i) inputs.push_back(input({2, 2}, 0));
  const auto output = graph->CreateTensor(Floats({2, 1, 1}, vx::OUTPUT));
  const auto state = graph->CreateTensor(Floats({2, 1}, vx::OUTPUT));
  graph->CreateOperation<UnidirectionalSequenceGRU>(2)
      ->BindInputs(inputs)
      .BindOutputs({output, state});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(output), Values(2, 1.5f));
  EXPECT_EQ(Read(state), Values(2, 1.5f));
}

TEST_P(GruOn, TheFirstStateMayBeAbsent) {
  rng_.seed(5);
  const Values x = Random(kWidth * kBatch * kSteps);
  const auto [all, last] = RunSequence(x, Values(kUnits * kBatch, 0.0f));
  auto graph = context_->CreateGraph();
  Tensors inputs = {graph->CreateTensor(
                        Floats({kWidth, kBatch, kSteps}, vx::INPUT), x.data()),
                    graph->CreateTensorPlaceHolder()};
  for (const auto& each : Weights(*graph)) inputs.push_back(each);
  const auto output = graph->CreateTensor(Floats({kUnits, kBatch}, vx::OUTPUT));
  using Gru = UnidirectionalSequenceGRU;
  graph->CreateOperation<Gru>(kUnits, Gru::kTANH, Gru::kSIGMOID, false)
      ->BindInputs(inputs)
      .BindOutput(output);
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_THAT(Read(output), Pointwise(FloatNear(1e-6f), last));
}

INSTANTIATE_TEST_SUITE_P(Devices, GruOn, ::testing::Values("host", "opencl"));

}  // namespace
}  // namespace tim::testing
