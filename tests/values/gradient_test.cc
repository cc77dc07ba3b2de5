// Gradients of functions of values: at once, later, captured, on tapes; and a
// network that learns.
#include "tim/values/gradient.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "samples/train_digits/network.h"
#include "tim/values/values.h"

namespace tim::values {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

const bool g_on_host = [] {
  setenv("TIMCL_DEVICE", "host", 1);
  return true;
}();

using Floats = std::vector<float>;
using Values = std::vector<Value>;

Value Of(const Shape& shape, const Floats& data) {
  return Value::Of<float>(shape, data);
}

Values Cubic(const Values& in) { return {in[0] * in[0] * in[0]}; }

// Two layers and a sum of squares.
Values TwoLayers(const Values& in) {
  const Value x = Of({3, 2}, {0.5f, -1, 2, 1, 0.25f, -0.5f});
  const Value d = Matmul(Tanh(Matmul(x, in[0])), in[1]);
  return {ReduceSum(d * d, {0, 1})};
}

Values LayerWeights() {
  return {Of({2, 3}, {0.5f, -0.25f, 1, 0.75f, -1, 0.125f}),
          Of({2, 2}, {1, -0.5f, 0.25f, 0.75f})};
}

TEST(Grad, IsTheSameInEveryMode) {
  const Values weights = LayerWeights();
  const Function gradient = Grad(TwoLayers, {0, 1});
  const Values eager = gradient(weights);
  ASSERT_EQ(eager.size(), 2u);
  ASSERT_TRUE(eager[0].ok()) << eager[0].error();
  const Floats first = eager[0].ToVector<float>();
  const Floats second = eager[1].ToVector<float>();
  ASSERT_EQ(first.size(), 6u);
  EXPECT_EQ(eager[0].spec().shape, weights[0].spec().shape);
  {
    const ModeScope lazy(Mode::kLazy);
    const Values later = gradient(weights);
    EXPECT_TRUE(later[0].pending());
    EXPECT_EQ(later[0].ToVector<float>(), first);
    EXPECT_EQ(later[1].ToVector<float>(), second);
  }
  const Graph graph = Graph::Capture(
      gradient, {weights[0].spec(), weights[1].spec()}, "captured");
  ASSERT_TRUE(graph.ok()) << graph.error();
  EXPECT_EQ(Values{graph.Call(weights)[0]}[0].ToVector<float>(), first);
  const Values frozen = graph.Compile().Run(weights);
  ASSERT_TRUE(frozen[0].Wait()) << frozen[0].error();
  EXPECT_EQ(frozen[0].ToVector<float>(), first);
  EXPECT_EQ(frozen[1].ToVector<float>(), second);
}

TEST(Grad, OfAGradientOfACubic) {
  const Function slope = Grad(Cubic);
  EXPECT_THAT(slope({Value(3)})[0].ToVector<float>(), ElementsAre(27));
  EXPECT_THAT(Grad(slope)({Value(3)})[0].ToVector<float>(), ElementsAre(18));
  EXPECT_EQ(slope({Value(3)})[0].spec().shape.rank(), 0);
}

TEST(Grad, WhatAFunctionClosesOverIsReadAnew) {
  Value factor(2);
  const Function gradient =
      Grad([&](const Values& in) { return Values{in[0] * factor}; });
  EXPECT_THAT(gradient({Value(1)})[0].ToVector<float>(), ElementsAre(2));
  factor = Value(5);
  EXPECT_THAT(gradient({Value(1)})[0].ToVector<float>(), ElementsAre(5));
}

TEST(Grad, MistakesAreNamed) {
  const auto error = [](const Function& function, const Values& in) {
    const Values found = Grad(function)(in);
    EXPECT_EQ(found.size(), 1u);
    return found[0].error();
  };
  const Value x = Of({2}, {1, 2});
  EXPECT_THAT(
      error([](const Values& in) { return Values{in[0] * in[0]}; }, {x}),
      HasSubstr("expected one element"));
  EXPECT_THAT(error(
                  [](const Values& in) {
                    return Values{ReduceSum(CumSum(in[0]), {0})};
                  },
                  {x}),
              HasSubstr("operator tim.CumSum has no gradient rule"));
  EXPECT_THAT(error([](const Values&) { return Values(); }, {x}),
              HasSubstr("has no output"));
  EXPECT_THAT(error(nullptr, {x}), HasSubstr("no function"));
  EXPECT_THAT(error(
                  [](const Values& in) {
                    if (in[0].ToVector<float>().empty()) return Values{in[0]};
                    return Values{in[0]};
                  },
                  {x}),
              HasSubstr("must not look at data"));
  EXPECT_THAT(LastError(), HasSubstr("must not look at data"));
}

TEST(ValueAndGrad, GivesBoth) {
  const Gradients found = ValueAndGrad(Cubic)({Value(2)});
  EXPECT_THAT(found.value.ToVector<float>(), ElementsAre(8));
  EXPECT_THAT(found.gradients[0].ToVector<float>(), ElementsAre(12));
}

TEST(ValueAndGrad, WritesVariablesOnce) {
  Variable calls(Value(0));
  const auto both = ValueAndGrad([&](const Values& in) {
    calls.Assign(calls.Read() + Value(1));
    return Values{in[0] * in[0]};
  });
  EXPECT_THAT(both({Value(3)}).gradients[0].ToVector<float>(), ElementsAre(6));
  EXPECT_THAT(calls.Read().ToVector<float>(), ElementsAre(1));
}

TEST(Differentiate, HasOutputsThenGradients) {
  const Graph graph = Graph::Capture(Cubic, {Value(1).spec()}, "cubic");
  const Graph gradient = Differentiate(graph, {0});
  ASSERT_TRUE(gradient.ok()) << gradient.error();
  const Outputs found = gradient.Call({Value(2)});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0].ToVector<float>(), ElementsAre(8));
  EXPECT_THAT(found[1].ToVector<float>(), ElementsAre(12));
  EXPECT_THAT(Differentiate(graph, {1}).error(), HasSubstr("number 1"));
}

// The sum of squares of attention, which Compile makes one operator without a
// gradient rule: of the graph itself nothing is lost.
TEST(Differentiate, ReachesWhatCompileRecognizes) {
  const Function attention = [](const Values& in) {
    const Value scores = Matmul(in[0], in[1], false, true) * 0.5f;
    const Value found = Matmul(Softmax(scores, 1, 0), in[2]);
    return Values{ReduceSum(found * found, {0, 1})};
  };
  Floats queries = {0.5f, -1, 0.25f, 1, 0, -0.75f};
  const Value keys = Of({2, 4}, {1, 0.5f, -0.5f, 2, 0.75f, -1, 0, 0.25f});
  const Value values = Of({1, 4}, {1, -2, 0.5f, 3});
  const Values in = {Of({2, 3}, queries), keys, values};
  const Graph graph = Graph::Capture(
      attention, {in[0].spec(), in[1].spec(), in[2].spec()}, "attention");
  const auto value_at = [&](float first) {
    queries[0] = first;
    return Value(graph.Call({Of({2, 3}, queries), keys, values})[0])
        .ToVector<float>()
        .at(0);
  };
  const float step = 0x1p-6f;
  const float slope =
      (value_at(0.5f + step) - value_at(0.5f - step)) / (2 * step);
  const Graph gradients = Differentiate(graph, {0, 1, 2});
  ASSERT_TRUE(gradients.ok()) << gradients.error();
  const Outputs found = gradients.Call(in);
  ASSERT_TRUE(found[1].ok()) << found[1].error();
  EXPECT_NEAR(found[0].ToVector<float>().at(0), value_at(0.5f), 1e-5f);
  EXPECT_NEAR(found[1].ToVector<float>().at(0), slope, 1e-3f);
}

TEST(Vjp, TakesCotangents) {
  const Graph graph = Graph::Capture(
      [](const Values& in) {
        return Values{in[0] * in[1], -in[0]};
      },
      {Spec(Type::kFloat32, {2}), Spec(Type::kFloat32, {2})});
  const Graph vjp = Vjp(graph, {0});
  ASSERT_TRUE(vjp.ok()) << vjp.error();
  EXPECT_EQ(vjp.InputSpecs().size(), 4u);
  const Outputs found = vjp.Call(
      {Of({2}, {1, 2}), Of({2}, {3, 4}), Of({2}, {10, 10}), Of({2}, {1, 2})});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].ToVector<float>(), ElementsAre(29, 38));
}

Values SumOfSquares(const Values& in) {
  const Value d = Matmul(in[0], in[1]) - 1.0f;
  return {ReduceSum(d * d, {0, 1})};
}

TEST(OpenGraphs, AreDifferentiatedWhenTheyAreKnown) {
  const Graph cubic = Differentiate(Graph::Capture(Cubic, {Spec()}), {0});
  ASSERT_TRUE(cubic.ok()) << cubic.error();
  EXPECT_EQ(cubic.Level(), 0);
  const Outputs found = cubic.Call({Value(2)});
  ASSERT_EQ(found.size(), 2u) << found.error();
  EXPECT_THAT(found[1].ToVector<float>(), ElementsAre(12));
  EXPECT_EQ(found[1].spec().shape.rank(), 0);

  const Graph open = Graph::Capture(SumOfSquares, {Spec(), Spec()});
  const Graph gradient = Differentiate(open, {0, 1});
  ASSERT_TRUE(gradient.ok()) << gradient.error();
  ASSERT_EQ(gradient.OutputSpecs().size(), 3u);
  const Graph again = Differentiate(gradient, {1});
  ASSERT_TRUE(again.ok()) << again.error();
  const Program program = gradient.Compile();
  for (const int64_t n : {2, 3}) {
    const Floats numbers = {1, 2, 3, 4, 5, 6};
    const Value a =
        Of({2, n}, Floats(numbers.begin(), numbers.begin() + 2 * n));
    const Value b = Of({3, 2}, {6, 5, 4, 3, 2, 1});
    const std::vector<Spec> specs = {a.spec(), b.spec()};
    const Graph known =
        Differentiate(Graph::Capture(SumOfSquares, specs), {0, 1});
    const Outputs wanted = known.Call({a, b});
    const Values run = program.Run({a, b});
    const Outputs call = gradient.Specialize(specs).Call({a, b});
    for (size_t i = 0; i < 3; ++i) {
      const auto expected = wanted[i].ToVector<float>();
      ASSERT_FALSE(expected.empty()) << wanted.error();
      EXPECT_THAT(run[i].ToVector<float>(), ElementsAreArray(expected));
      EXPECT_THAT(call[i].ToVector<float>(), ElementsAreArray(expected));
      EXPECT_EQ(run[i].spec().shape, wanted[i].spec().shape);
    }
    EXPECT_EQ(gradient.Specialize(specs).Level(), 2);
    const Values second = again.Compile().Run({a, b});
    EXPECT_THAT(
        second[3].ToVector<float>(),
        ElementsAreArray(
            Differentiate(known, {1}).Call({a, b})[3].ToVector<float>()));
  }
  EXPECT_EQ(program.stats().plans, 2);

  const Graph vjp = Vjp(Graph::Capture(Cubic, {Spec()}), {0});
  EXPECT_THAT(
      Value(vjp.Call({Of({2}, {1, 2}), Of({2}, {1, 10})})).ToVector<float>(),
      ElementsAre(3, 120))
      << vjp.error();
  // Inside of a graph without shapes, too.
  const Graph inlined = Graph::Capture(Grad(Cubic), {Spec()});
  EXPECT_THAT(Value(inlined.Call({Value(2)})).ToVector<float>(),
              ElementsAre(12))
      << inlined.error();

  EXPECT_THAT(Differentiate(open, {2}).error(), HasSubstr("number 2"));
  // An operator without a rule is told when the gradient is made.
  const auto sum = [](const Values& in) {
    return Values{ReduceSum(CumSum(Relu(in[0])) * in[1], {0}), -in[1]};
  };
  const Graph block = Graph::Capture(sum, {Spec(), Spec()}, "acme.Block");
  const Graph outer = Graph::Capture(
      [&](const Values& in) { return Values{block.Call(in)[0]}; },
      {Spec(), Spec()});
  for (const Graph& graph : {block, outer}) {
    EXPECT_THAT(Differentiate(graph, {1, 0}).error(),
                HasSubstr("operator tim.CumSum has no gradient rule"));
    EXPECT_THAT(Vjp(graph, {0}).error(), HasSubstr("StopGradient"));
    EXPECT_TRUE(Differentiate(graph, {1}).ok());
  }
  const Graph stopped = Graph::Capture(
      [&](const Values& in) {
        return Values{sum({StopGradient(in[0]), in[1]})[0] +
                      ReduceSum(in[0], {0})};
      },
      {Spec(), Spec()});
  EXPECT_THAT(Value(Differentiate(stopped, {0})
                        .Call({Of({2}, {1, 2}), Of({2}, {3, 4})})[1])
                  .ToVector<float>(),
              ElementsAre(1, 1));
  const Graph vector = Differentiate(
      Graph::Capture([](const Values& in) { return Values{-in[0]}; }, {Spec()}),
      {0});
  EXPECT_TRUE(vector.ok());
  EXPECT_THAT(vector.Call({Of({2}, {1, 2})}).error(),
              HasSubstr("expected one element"));
  EXPECT_FALSE(program.Save("/dev/null"));
  EXPECT_THAT(LastError(), HasSubstr("gradients that wait for shapes"));
}

TEST(CalledGraphs, AreDifferentiatedThroughTheirNodes) {
  const Graph cube = Graph::Capture(Cubic, {Spec()}, "cube");
  const Function twice = [&](const Values& in) {
    return Values{cube.Call({in[0]})[0] + cube.Call({in[0]})[0]};
  };
  EXPECT_THAT(Grad(twice)({Value(2)})[0].ToVector<float>(), ElementsAre(24));
}

// ---- Tapes ----

Value Branching(const Value& x) {
  const Value y = x * x;
  if (y.ToVector<float>()[0] > 10) return y * x;
  return y + x;
}

TEST(Tape, FollowsTheBranchThatWasTaken) {
  for (const Mode mode : {Mode::kEager, Mode::kLazy}) {
    const ModeScope scope(mode);
    for (const float at : {2.0f, 4.0f}) {
      const Tape tape;
      const Value x(at);
      const Value y = Branching(x);
      const Values found = tape.Gradient(y, {x});
      ASSERT_TRUE(found[0].ok()) << found[0].error();
      const Function taken = at > 3 ? Function(Cubic) : [](const Values& in) {
        return Values{in[0] * in[0] + in[0]};
      };
      EXPECT_EQ(found[0].ToVector<float>(),
                Grad(taken)({x})[0].ToVector<float>());
    }
  }
}

TEST(Tape, SumsUsesAndStops) {
  const Tape tape;
  const Value x(3);
  const Value unused(1);
  const Value y = x * x + x + StopGradient(x * x);
  const Values found = tape.Gradient(y, {x, unused});
  EXPECT_THAT(found[0].ToVector<float>(), ElementsAre(7));
  EXPECT_THAT(found[1].ToVector<float>(), ElementsAre(0));
}

TEST(Tape, GivesGradientsByWhatIsBetween) {
  const Tape tape;
  const Value x(3);
  const Value y = x * x;
  const Value z = y * y;
  const Values found = tape.Gradient(z, {y, x});
  EXPECT_THAT(found[0].ToVector<float>(), ElementsAre(18));
  EXPECT_THAT(found[1].ToVector<float>(), ElementsAre(108));
}

TEST(Tape, RecordsWhatItsGradientsCall) {
  const Tape tape;
  const Value x(3);
  const Value slope = tape.Gradient(x * x * x, {x})[0];
  EXPECT_THAT(slope.ToVector<float>(), ElementsAre(27));
  EXPECT_THAT(tape.Gradient(slope, {x})[0].ToVector<float>(), ElementsAre(18));
}

TEST(Tape, MistakesAreNamed) {
  const Tape tape;
  const Value x = Of({2}, {1, 2});
  EXPECT_THAT(tape.Gradient(x * x, {x})[0].error(),
              HasSubstr("expected one element"));
  EXPECT_THAT(tape.Gradient(ReduceSum(CumSum(x), {0}), {x})[0].error(),
              HasSubstr("CumSum has no gradient rule"));
  EXPECT_THAT(tape.Gradient(Value(), {x})[0].error(), HasSubstr("no value"));
}

// ---- A network ----

class Training : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const Device device(GetParam());
    if (!device.ok()) GTEST_SKIP() << "no device " << GetParam();
    ASSERT_TRUE(Device::SetDefault(device));
  }
  void TearDown() override { Device::SetDefault(before_); }

  const Device before_;
};

INSTANTIATE_TEST_SUITE_P(Devices, Training,
                         ::testing::Values("host", "opencl:0"),
                         [](const auto& info) {
                           return info.param.substr(0, 4);
                         });

TEST_P(Training, HalvesTheLossWithinAHundredSteps) {
  const train_digits::Digits digits =
      train_digits::ReadDigits("samples/digits/data/heldout.bin");
  ASSERT_EQ(digits.labels.size(), 450u);
  constexpr std::size_t kBatch = 25;
  std::vector<Variable> weights;
  std::vector<int> all;
  for (const Value& value : train_digits::FirstWeights(1)) {
    all.push_back(static_cast<int>(weights.size()));
    weights.emplace_back(value);
  }
  float first = 0;
  float last = 0;
  int64_t memory = 0;
  for (std::size_t step = 0; step < 100; ++step) {
    const train_digits::Batch batch =
        train_digits::BatchOf(digits, step * kBatch, kBatch);
    Values now;
    for (const Variable& weight : weights) now.push_back(weight.Read());
    const Gradients found = ValueAndGrad(
        [&](const Values& w) { return Values{train_digits::Loss(batch, w)}; },
        all)(now);
    ASSERT_TRUE(found.value.Wait()) << found.value.error();
    for (size_t i = 0; i < weights.size(); ++i) {
      weights[i].Assign(now[i] - found.gradients[i] * 0.2f);
    }
    last = found.value.ToVector<float>()[0];
    if (step == 0) first = last;
    const int64_t reserved = Device().memory().reserved;
    if (step == 3) memory = reserved;
    if (step > 3) {
      EXPECT_EQ(reserved, memory) << "step " << step;
    }
    if (last < first / 2 && step > 10) break;
  }
  EXPECT_LT(last, first / 2);
}

// The forward part is there once.
TEST(TrainedGraphs, AreSmall) {
  train_digits::Digits digits;
  digits.pixels.assign(64, 0.5f);
  digits.labels.assign(1, 3);
  const train_digits::Batch batch = train_digits::BatchOf(digits, 0, 2);
  const Values weights = train_digits::FirstWeights(1);
  std::vector<Spec> specs;
  std::vector<int> all;
  for (const Value& weight : weights) {
    all.push_back(static_cast<int>(specs.size()));
    specs.push_back(weight.spec());
  }
  const Graph loss = Graph::Capture(
      [&](const Values& w) { return Values{train_digits::Loss(batch, w)}; },
      specs);
  const Graph gradient = Differentiate(loss, all);
  ASSERT_TRUE(gradient.ok()) << gradient.error();
  const size_t forward = loss.FindAll(Pattern::Op("")).size();
  const size_t nodes = gradient.FindAll(Pattern::Op("")).size();
  EXPECT_LE(static_cast<double>(nodes), 3.5 * static_cast<double>(forward));
  EXPECT_EQ(gradient.FindAll(Pattern::Op("tim.LogSoftmax")).size(), 1u);
}

}  // namespace
}  // namespace tim::values
