// BidirectionalSequenceLstm through the public API: the same results as of two
// layers UnidirectionalSequenceLstm, one of them on the reversed sequence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/support/data/test_tensor.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using vx::Graph;
using vx::Tensor;
using vx::ops::BidirectionalSequenceLstm;
using vx::ops::UnidirectionalSequenceLstm;
using Tensors = std::vector<std::shared_ptr<Tensor>>;
using Values = std::vector<float>;
using Shape = vx::ShapeType;

constexpr uint32_t kWidth = 3;
constexpr uint32_t kUnits = 5;
constexpr uint32_t kSteps = 4;
constexpr uint32_t kBatch = 2;
constexpr uint32_t kAux = 2;

enum class Aux { kNone, kLinked, kParallel };
enum class Operands { kFirst56, kAll64 };

struct Case {
  const char* device;
  bool time_major = false;
  bool sequences = true;
  Aux aux = Aux::kNone;
  Operands operands = Operands::kFirst56;
};

// The bits of `values` as [width, T, B] or [width, B, T], t reversed.
Values Reversed(const Values& values, uint32_t width, bool time_major) {
  Values out(values.size());
  for (uint32_t t = 0; t < kSteps; ++t) {
    for (uint32_t n = 0; n < kBatch; ++n) {
      const auto at = [&](uint32_t step) {
        return (time_major ? step * kBatch + n : n * kSteps + step) * width;
      };
      std::copy_n(values.begin() + at(kSteps - 1 - t), width,
                  out.begin() + at(t));
    }
  }
  return out;
}

// Values by slot of the bidirectional operator; empty where absent.
class Slots {
 public:
  explicit Slots(const Case& of) : of_(of), rng_(SeededRng(5)), all_(64) {
    Set(0, Sequence(kWidth), 1.5f);
    for (uint32_t layer = 0; layer < 2; ++layer) SetLayer(layer);
    if (of.aux != Aux::kNone) Set(39, Sequence(kAux), 1.0f);
  }

  struct Slot {
    Shape shape;
    Values values;
  };
  const Slot& operator[](size_t i) const { return all_[i]; }

  Tensors Bind(Graph& graph) const {
    Tensors out;
    const size_t count = of_.operands == Operands::kFirst56 ? 56 : 64;
    for (size_t i = 0; i < count; ++i) out.push_back(Bind(graph, all_[i]));
    return out;
  }
  static std::shared_ptr<Tensor> Bind(Graph& graph, const Slot& slot) {
    if (slot.values.empty()) return graph.CreateTensorPlaceHolder();
    return graph.CreateTensor(Floats(slot.shape, vx::CONSTANT),
                              slot.values.data());
  }

  // The operands of UnidirectionalSequenceLstm.
  Tensors BindLayer(Graph& graph, uint32_t layer) const {
    const bool parallel = of_.aux == Aux::kParallel;
    std::vector<size_t> from = {parallel && layer == 1 ? 39u : 0u,
                                35 + 2 * layer, 36 + 2 * layer};
    for (size_t i = 0; i < 17; ++i) from.push_back(1 + 17 * layer + i);
    for (size_t i = 0; i < 4; ++i) from.push_back(48 + 4 * layer + i);
    from.push_back(parallel ? 40 : 39);
    for (size_t i = 0; i < 4; ++i) from.push_back(40 + 4 * layer + i);
    for (size_t i = 0; i < 4; ++i) from.push_back(56 + 4 * layer + i);
    Tensors out;
    for (const size_t i : from) {
      Slot slot = all_[i];
      if (layer == 1 && slot.shape.size() == 3) {
        slot.values = Reversed(slot.values, slot.shape[0], of_.time_major);
      }
      out.push_back(Bind(graph, slot));
    }
    return out;
  }

  Shape Sequence(uint32_t width) const {
    return of_.time_major ? Shape{width, kBatch, kSteps}
                          : Shape{width, kSteps, kBatch};
  }

 private:
  void Set(size_t i, Shape shape, float most) {
    std::uniform_real_distribution<float> uniform(-most, most);
    size_t count = 1;
    for (const uint32_t extent : shape) count *= extent;
    all_[i] = {std::move(shape), Values(count)};
    for (float& value : all_[i].values) value = uniform(rng_);
  }

  void SetLayer(uint32_t layer) {
    const size_t at = 17 * layer;
    const bool parallel = of_.aux == Aux::kParallel && layer == 1;
    for (size_t gate = 0; gate < 4; ++gate) {
      Set(1 + at + gate, {parallel ? kAux : kWidth, kUnits}, 1.0f);
      Set(5 + at + gate, {kUnits, kUnits}, 0.5f);
      Set(12 + at + gate, {kUnits}, 0.5f);
      if (of_.aux == Aux::kLinked) {
        Set(40 + 4 * layer + gate, {kAux, kUnits}, 1.0f);
      }
      if (of_.operands == Operands::kAll64) {
        Set(56 + 4 * layer + gate, {kUnits}, 0.5f);
      }
    }
    for (size_t i = 0; i < 3; ++i) Set(9 + at + i, {kUnits}, 0.5f);
    Set(35 + 2 * layer, {kUnits, kBatch}, 0.7f);
    Set(36 + 2 * layer, {kUnits, kBatch}, 0.7f);
  }

  Case of_;
  std::mt19937 rng_;
  std::vector<Slot> all_;
};

class BidirectionalLstm : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    context_ = ContextOn(GetParam().device);
    if (context_ == nullptr) GTEST_SKIP() << "no device";
  }

  static Tensors Outputs(Graph& graph, int count) {
    Tensors out;
    for (int i = 0; i < count; ++i) {
      out.push_back(graph.CreateTensor(Floats({}, vx::OUTPUT)));
    }
    return out;
  }

  std::shared_ptr<vx::Context> context_;
};

TEST_P(BidirectionalLstm, GivesTheBitsOfTwoUnidirectionalOnes) {
  const Case& of = GetParam();
  const Slots slots(of);
  const auto graph = context_->CreateGraph();
  const Tensors both = Outputs(*graph, 6);
  graph
      ->CreateOperation<BidirectionalSequenceLstm>(
          0.9f, 0.0f, BidirectionalSequenceLstm::kTANH, 0.25f, of.time_major,
          BidirectionalSequenceLstm::kSIGMOID, of.sequences)
      ->BindInputs(slots.Bind(*graph))
      .BindOutputs(both);
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(graph->OutputsTensor().size(), 6u);

  for (uint32_t layer = 0; layer < 2; ++layer) {
    SCOPED_TRACE(layer);
    const auto single = context_->CreateGraph();
    const Tensors outputs = Outputs(*single, 3);
    single
        ->CreateOperation<UnidirectionalSequenceLstm>(
            0.9f, 0.0f, UnidirectionalSequenceLstm::kTANH, 0.25f, of.time_major,
            UnidirectionalSequenceLstm::kSIGMOID, of.sequences)
        ->BindInputs(slots.BindLayer(*single, layer))
        .BindOutputs(outputs);
    ASSERT_TRUE(single->Run()) << vx::LastError();
    Values sequence = Read(outputs[0]);
    if (layer == 1 && of.sequences) {
      sequence = Reversed(sequence, kUnits, of.time_major);
    }
    EXPECT_EQ(Read(both[3 * layer]), sequence);
    EXPECT_EQ(Read(both[3 * layer + 1]), Read(outputs[1]));
    EXPECT_EQ(Read(both[3 * layer + 2]), Read(outputs[2]));
    EXPECT_THAT(sequence, Not(Each(0.0f)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Layers, BidirectionalLstm,
    ::testing::Values(
        Case{.device = "host"}, Case{.device = "opencl"},
        Case{.device = "opencl", .time_major = true, .aux = Aux::kLinked},
        Case{.device = "host", .sequences = false, .aux = Aux::kParallel},
        Case{.device = "host",
             .time_major = true,
             .sequences = false,
             .operands = Operands::kAll64},
        Case{.device = "host",
             .aux = Aux::kLinked,
             .operands = Operands::kAll64}));

class BidirectionalLstmGraph : public ::testing::Test {
 protected:
  // One step of one unit: weights of 0, so that i = f = o = rho(0) and
  // c' = rho(0) * act(bias).
  Values RunOne(BidirectionalSequenceLstm::ActivationType act, float bias,
                BidirectionalSequenceLstm::ActivationType rho) {
    Tensors inputs;
    for (int i = 0; i < 35; ++i) {
      inputs.push_back(graph_->CreateTensorPlaceHolder());
    }
    const auto constant = [&](const Shape& shape, float value) {
      return graph_->CreateTensor(Floats(shape, vx::CONSTANT), &value);
    };
    inputs[0] = constant({1, 1, 1}, 1);
    for (const int layer : {0, 17}) {
      for (int i = 1; i < 9; ++i) inputs[layer + i] = constant({1, 1}, 0);
      inputs[layer + 14] = constant({1}, bias);
    }
    cell_ = graph_->CreateTensor(Floats({}, vx::OUTPUT));
    const auto absent = graph_->CreateTensorPlaceHolder();
    graph_
        ->CreateOperation<BidirectionalSequenceLstm>(0.0f, 0.0f, act, 0.0f,
                                                     false, rho)
        ->BindInputs(inputs)
        .BindOutputs({absent, absent, absent, absent, absent, cell_});
    EXPECT_TRUE(graph_->Run()) << vx::LastError();
    return Read(cell_);
  }

  std::shared_ptr<Graph> graph_ = HostGraph();
  std::shared_ptr<Tensor> cell_;
};

using Lstm = BidirectionalSequenceLstm;

TEST_F(BidirectionalLstmGraph, Relu1LimitsToOne) {
  EXPECT_EQ(RunOne(Lstm::kRELU1, 3.0f, Lstm::kSIGMOID), Values{0.5f});
}
TEST_F(BidirectionalLstmGraph, Relu6LimitsToSix) {
  EXPECT_EQ(RunOne(Lstm::kRELU6, 9.0f, Lstm::kSIGMOID), Values{3.0f});
}
TEST_F(BidirectionalLstmGraph, ReluCutsOff) {
  EXPECT_EQ(RunOne(Lstm::kRELU, -9.0f, Lstm::kHARDSIGMOID), Values{0.0f});
}
TEST_F(BidirectionalLstmGraph, WithoutActivationTheSumIsTaken) {
  EXPECT_EQ(RunOne(Lstm::kNONE, -9.0f, Lstm::kNONE), Values{-4.5f});
}
TEST_F(BidirectionalLstmGraph, SigmoidOfZeroIsAHalf) {
  EXPECT_EQ(RunOne(Lstm::kSIGMOID, 0.0f, Lstm::kHARDSIGMOID), Values{0.25f});
}

TEST_F(BidirectionalLstmGraph, WhatDoesNotFitFailsCompile) {
  Tensors inputs(35, graph_->CreateTensorPlaceHolder());
  inputs[0] = graph_->CreateTensor(Floats({3, 2, 1}, vx::INPUT));
  const auto absent = graph_->CreateTensorPlaceHolder();
  graph_->CreateOperation<Lstm>(0.0f, 0.0f, Lstm::kTANH, 0.0f)
      ->BindInputs(inputs)
      .BindOutputs({graph_->CreateTensor(Floats({}, vx::OUTPUT)), absent,
                    absent, absent, absent, absent});
  EXPECT_TRUE(CompileFailsWith(*graph_, "BidirectionalSequenceLstm"));
  EXPECT_THAT(vx::LastError(), HasSubstr("weights of the forget gate"));
}

}  // namespace
}  // namespace tim::testing
