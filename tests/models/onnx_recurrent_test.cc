// LSTM, GRU and RNN of ONNX beside their formulas in double.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/models/node_runner.h"
#include "tests/models/recurrent_cases.h"
#include "tests/support/status_macros.h"

namespace tim::models::onnx {
namespace {

TEST(OnnxRecurrent, DirectionsAndLayouts) {
  for (Case one : {Case(), Gru(), Rnn()}) {
    for (const char* direction : {"forward", "reverse", "bidirectional"}) {
      for (const int64_t layout : {0, 1}) {
        one.direction = direction;
        one.layout = layout;
        one.has_states = true;
        Check(one);
      }
    }
  }
}

TEST(OnnxRecurrent, OperandsMayBeAbsentOrComputed) {
  for (Case one : {Case(), Gru(), Rnn()}) {
    one.has_bias = false;
    Check(one);
    one.has_bias = true;
    one.has_constant_weights = false;
    one.direction = "bidirectional";
    Check(one);
  }
}

TEST(OnnxRecurrent, Peepholes) {
  Case one;
  one.has_peepholes = true;
  one.has_states = true;
  Check(one);
  one.direction = "bidirectional";
  Check(one);
}

TEST(OnnxRecurrent, LinearBeforeReset) {
  Case one = Gru();
  one.is_after = true;
  one.has_states = true;
  Check(one);
}

TEST(OnnxRecurrent, ActivationsOfTheOperators) {
  Case one;
  one.names = {"HardSigmoid", "Relu", "Relu"};
  one.functions = {
      [](double x) { return std::min(std::max(0.2 * x + 0.5, 0.0), 1.0); },
      [](double x) { return std::max(x, 0.0); },
      [](double x) { return std::max(x, 0.0); }};
  Check(one);
  Case rnn = Rnn();
  rnn.names = {"sigmoid"};
  rnn.functions = {Sigmoid};
  Check(rnn);
}

TEST(OnnxRecurrent, ClipsAndOtherActivationsAreUnrolled) {
  for (Case one : {Case(), Gru(), Rnn()}) {
    one.clip = 0.4f;
    one.has_states = true;
    one.direction = "bidirectional";
    Check(one);
    one.layout = 1;
    one.is_after = one.gates == 3;
    one.has_peepholes = one.gates == 4;
    Check(one);
  }
  Case one;
  one.names = {"Sigmoid", "LeakyRelu", "Elu"};
  one.alphas = {0.3f, 2.0f};
  one.functions = {Sigmoid, [](double x) { return x < 0 ? 0.3f * x : x; },
                   [](double x) { return x < 0 ? 2 * std::expm1(x) : x; }};
  one.has_bias = false;
  Check(one);
}

TEST(OnnxRecurrent, LastStatesAlone) {
  for (const Case& one : {Case(), Gru(), Rnn()}) {
    const Operands operands = OperandsOf(one);
    const Formulas formulas(one, operands);
    NodeRunner runner = RunnerOf(one, operands);
    const auto results = runner.Wants({false, true}).Run();
    ASSERT_OK(results);
    CheckNear(results.value()[0], formulas.expected().h, "Y_h");
  }
}

TEST(OnnxRecurrent, HalfPrecision) {
  NodeRunner runner(AddRecurrent, "RNN", 14);
  const auto half = [](std::vector<uint16_t> bits, Dims dims) {
    HostArray array = ArrayOf(bits, std::move(dims));
    array.type = vx::DataType::FLOAT16;
    return array;
  };
  // x is 1, W 0.5, R 2 and the state before 0.25: tanh(1).
  const auto results = runner.With("clip", 8.0f)
                           .Input(half({0x3C00}, {1, 1, 1}))
                           .Constant(half({0x3800}, {1, 1, 1}))
                           .Constant(half({0x4000}, {1, 1, 1}))
                           .Absent()
                           .Absent()
                           .Constant(half({0x3400}, {1, 1, 1}))
                           .Run();
  ASSERT_OK(results);
  EXPECT_EQ(results.value()[0].type, vx::DataType::FLOAT16);
  EXPECT_NEAR(Floats(results.value()[0]).value()[0], std::tanh(1.0), 1e-3);
}

TEST(OnnxRecurrent, SequencesHaveLengths) {
  for (const bool known : {true, false}) {
    for (Case one : {Case(), Gru(), Rnn()}) {
      one.direction = one.op == "RNN" ? "reverse" : "bidirectional";
      one.has_states = true;
      one.lengths = {2, kSteps};
      one.has_constant_lengths = known;
      Check(one);
      one.layout = 1;
      Check(one);
    }
  }
}

TEST(OnnxRecurrent, ForgetGatesAreCoupledWithInputGates) {
  Case one;
  one.couples = true;
  Check(one);
}

TEST(OnnxRecurrent, Refusals) {
  const Case one;
  const Operands operands = OperandsOf(one);
  const auto refusal = [&](const char* attribute, Attribute value) {
    NodeRunner runner = RunnerOf(one, operands);
    const auto results = runner.With(attribute, std::move(value)).Run();
    return results.ok() ? std::string() : results.status().message();
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(refusal("direction", "both"), HasSubstr("'direction'"));
  EXPECT_THAT(refusal("layout", 2), HasSubstr("'layout'"));
  EXPECT_THAT(refusal("hidden_size", 7), HasSubstr("'hidden_size'"));
  EXPECT_THAT(refusal("output_sequence", 1), HasSubstr("'output_sequence'"));
  EXPECT_THAT(refusal("clip", -1.0f), HasSubstr("'clip'"));
  EXPECT_THAT(refusal("activations", std::vector<std::string>{"Tanh"}),
              HasSubstr("has 1 names, expected 3"));
  EXPECT_THAT(
      refusal("activations", std::vector<std::string>{"Tanh", "Tanh", "Step"}),
      HasSubstr("'Step'"));
  EXPECT_THAT(refusal("activations",
                      std::vector<std::string>{"Affine", "Tanh", "Tanh"}),
              HasSubstr("has no number for Affine"));
  EXPECT_THAT(refusal("activation_alpha", std::vector<float>{1}),
              HasSubstr("the activations take 0"));
}

TEST(OnnxRecurrent, RefusedOperands) {
  const Case one = Rnn();
  const Operands in = OperandsOf(one);
  const Dims x = {kSteps, kBatch, kInputs};
  const Dims w = {1, kUnits, kInputs};
  const Dims r = {1, kUnits, kUnits};
  NodeRunner shorter(AddRecurrent, "RNN", 14);
  EXPECT_ERROR(shorter.Input(in.x, x)
                   .Constant(in.w, w)
                   .Constant(in.r, r)
                   .Absent()
                   .Constant<int32_t>({kSteps, 0}, {kBatch})
                   .Run(),
               "has a length of 0, expected 1 to 3");
  NodeRunner narrow(AddRecurrent, "RNN", 14);
  EXPECT_ERROR(narrow.Input(in.x, {kSteps, kBatch * 2, kInputs / 2})
                   .Constant(in.w, w)
                   .Constant(in.r, r)
                   .Run(),
               "operand 1 is");
  NodeRunner flat(AddRecurrent, "RNN", 14);
  EXPECT_ERROR(flat.Input(in.x, {kSteps * kBatch, kInputs})
                   .Constant(in.w, w)
                   .Constant(in.r, r)
                   .Run(),
               "ranks of 3 are taken");
}

}  // namespace
}  // namespace tim::models::onnx
