// Bias and codes that are hardly meant as they are declared.
#include <gtest/gtest.h>

#include <array>

#include "tests/support/vx/binary_graph.h"
#include "tests/support/vx/doubts.h"

namespace tim::testing {
namespace {

using vx::DataType;
using vx::Quantization;
using vx::QuantType;
using vx::ShapeType;
using vx::TensorSpec;
namespace ops = vx::ops;

using Pair = std::array<uint32_t, 2>;

TensorSpec Spec(DataType type, const ShapeType& shape,
                const Quantization& quantization = Quantization(),
                vx::TensorAttribute attribute = vx::INPUT) {
  return TensorSpec(type, shape, attribute, quantization);
}

Quantization Scaled(float scale, int32_t zero_point = 0) {
  return Quantization(QuantType::ASYMMETRIC, scale, zero_point);
}

struct Sum {
  TensorSpec input = Spec(DataType::UINT8, {4, 4, 2, 1}, Scaled(0.5f, 3));
  TensorSpec weights = Spec(DataType::UINT8, {1, 1, 2, 2}, Scaled(0.5f, 128));
  TensorSpec bias = Spec(DataType::INT32, {2}, Scaled(0.25f));
  TensorSpec output =
      Spec(DataType::UINT8, {4, 4, 2, 1}, Scaled(1, 100), vx::OUTPUT);
};

Sum FloatSum() {
  Sum sum;
  for (TensorSpec* spec : {&sum.input, &sum.weights, &sum.bias, &sum.output}) {
    *spec = Spec(DataType::FLOAT32, spec->shape_, {}, spec->attr_);
  }
  return sum;
}

MakeGraph Convolution(const Sum& sum) {
  return [=](vx::Context& context) {
    auto graph = context.CreateGraph();
    auto x = graph->CreateTensor(sum.input);
    auto w = graph->CreateTensor(sum.weights);
    auto b = graph->CreateTensor(sum.bias);
    auto y = graph->CreateTensor(sum.output);
    graph
        ->CreateOperation<ops::Conv2d>(vx::PadType::VALID, Pair{1, 1},
                                       Pair{1, 1})
        ->BindInputs({x, w, b})
        .BindOutput(y);
    return graph;
  };
}

TEST(BiasDoubt, WhatIsMeantIsSilent) {
  ExpectNoDoubt(Convolution(Sum()));
  ExpectNoDoubt(Convolution(FloatSum()));
  Sum sum;
  sum.bias.quantization_ = Scaled(0.25f * 1.01f);  // within the tolerance
  ExpectNoDoubt(Convolution(sum));
  sum.bias.quantization_ = Quantization();  // in units of the sums
  ExpectNoDoubt(Convolution(sum));
  sum.bias = Spec(DataType::FLOAT32, {2});
  ExpectNoDoubt(Convolution(sum));
}

TEST(BiasDoubt, IntegersInAFloatConvolution) {
  Sum sum = FloatSum();
  sum.bias = Spec(DataType::INT32, {2});
  ExpectDoubt(Convolution(sum), {"operation Conv2d#1", "the bias, input 2",
                                 "int32", "float32", "float type"});
}

TEST(BiasDoubt, AnotherScaleThanTheProduct) {
  Sum sum;
  sum.bias.quantization_ = Scaled(0.9f);
  ExpectDoubt(Convolution(sum),
              {"the bias, input 2, has the scale 0.9", "expected 0.25",
               "input 0 (0.5)", "input 1 (0.5)"});
}

TEST(BiasDoubt, AnotherScaleOfAChannel) {
  Sum sum;
  sum.weights.datatype_ = DataType::INT8;
  sum.weights.quantization_ =
      Quantization(QuantType::SYMMETRIC_PER_CHANNEL, 3, {0.5f, 0.25f}, {0, 0});
  sum.bias.quantization_ = Quantization(QuantType::SYMMETRIC_PER_CHANNEL, 0,
                                        {0.25f, 0.125f}, {0, 0});
  ExpectNoDoubt(Convolution(sum));
  sum.bias.quantization_ =
      Quantization(QuantType::SYMMETRIC_PER_CHANNEL, 0, {0.25f, 0.25f}, {0, 0});
  ExpectDoubt(Convolution(sum),
              {"has the scale 0.25 of channel 1", "expected 0.125"});
}

TEST(BiasDoubt, OfOtherSums) {
  const auto make = [](DataType bias) {
    return [bias](vx::Context& context) {
      auto graph = context.CreateGraph();
      auto x = graph->CreateTensor(Floats({3, 2}, vx::INPUT));
      auto w = graph->CreateTensor(Floats({3, 4}, vx::INPUT));
      auto b = graph->CreateTensor(Spec(bias, {4}));
      auto y = graph->CreateTensor(Floats({}, vx::OUTPUT));
      graph->CreateOperation<ops::FullyConnected>(0)
          ->BindInputs({x, w, b})
          .BindOutput(y);
      return graph;
    };
  };
  ExpectDoubt(make(DataType::INT32), {"FullyConnected#1", "the bias, input 2"});
  ExpectNoDoubt(make(DataType::FLOAT32));
  // One operation, not the one that it is made of.
  ExpectDoubt(
      [](vx::Context& context) {
        auto graph = context.CreateGraph();
        auto x = graph->CreateTensor(Floats({8, 2, 1}, vx::INPUT));
        auto w = graph->CreateTensor(Floats({3, 2, 4}, vx::INPUT));
        auto b = graph->CreateTensor(Spec(DataType::INT32, {4}));
        auto y = graph->CreateTensor(Floats({}, vx::OUTPUT));
        graph->CreateOperation<ops::Conv1d>(vx::PadType::VALID, 1u, 1u)
            ->BindInputs({x, w, b})
            .BindOutput(y);
        return graph;
      },
      {"operation Conv1d#1", "the bias, input 2"});
}

TEST(CodesDoubt, OfSums) {
  Sum sum;
  sum.input.quantization_ = Quantization();
  ExpectDoubt(Convolution(sum),
              {"input 0 (uint8 [4, 4, 2, 1]", "without quantization",
               "beside input 1", "scale 1 and zero point 0"});
  sum = Sum();
  sum.output.quantization_ = Quantization();
  ExpectDoubt(Convolution(sum), {"output 0 (uint8", "without quantization"});
}

template <typename Op>
MakeGraph OfTwo(const TensorSpec& a, const TensorSpec& b, TensorSpec out) {
  return [=](vx::Context& context) {
    auto graph = context.CreateGraph();
    auto x = graph->CreateTensor(a);
    auto z = graph->CreateTensor(b);
    auto y = graph->CreateTensor(out);
    graph->CreateOperation<Op>()->BindInputs({x, z}).BindOutput(y);
    return graph;
  };
}

TEST(CodesDoubt, OfElements) {
  const TensorSpec codes = Spec(DataType::UINT8, {4}, Scaled(0.5f, 3));
  const TensorSpec bare = Spec(DataType::UINT8, {4});
  const TensorSpec out =
      Spec(DataType::UINT8, {4}, Scaled(0.5f, 3), vx::OUTPUT);
  ExpectDoubt(OfTwo<ops::Add>(codes, bare, out), {"input 1 (uint8"});
  ExpectNoDoubt(OfTwo<ops::Add>(codes, codes, out));
  const TensorSpec truth = Spec(DataType::BOOL8, {4}, {}, vx::OUTPUT);
  ExpectDoubt(OfTwo<ops::Greater>(codes, bare, truth), {"input 1 (uint8"});
  ExpectNoDoubt(OfTwo<ops::Greater>(codes, codes, truth));
  const TensorSpec int8_truth = Spec(DataType::INT8, {4}, {}, vx::OUTPUT);
  ExpectNoDoubt(OfTwo<ops::Greater>(codes, codes, int8_truth));
}

// The output's codes would be other numbers.
TEST(CodesDoubt, OfMovedElements) {
  const auto make = [](const Quantization& quantization) {
    return [quantization](vx::Context& context) {
      auto graph = context.CreateGraph();
      auto x =
          graph->CreateTensor(Spec(DataType::UINT8, {4, 2}, Scaled(0.5f, 3)));
      auto y = graph->CreateTensor(
          Spec(DataType::UINT8, {2, 4}, quantization, vx::OUTPUT));
      graph->CreateOperation<ops::Transpose>(std::vector<uint32_t>{1, 0})
          ->BindInput(x)
          .BindOutput(y);
      return graph;
    };
  };
  ExpectDoubt(make({}), {"output 0 (uint8 [2, 4])", "beside input 0"});
  ExpectNoDoubt(make(Scaled(0.5f, 3)));
}

// It was said when the graph was compiled.
TEST(CodesDoubt, IsNotRepeatedByBinaryGraphs) {
  Sum sum;
  sum.bias.quantization_ = Scaled(0.9f);
  const auto context = HostContext();
  const auto graph = Convolution(sum)(*context);
  std::vector<char> binary;
  EXPECT_EQ(Count(LogOf([&] { binary = ToBinary(*graph); }), "[warning]"), 1);
  const LoadedBinary loaded(binary, *graph, context->CreateGraph());
  // With another operation it is no stored plan, but compiled.
  auto x = loaded.graph->CreateTensor(Floats({1}, vx::INPUT));
  auto y = loaded.graph->CreateTensor(Floats({1}, vx::OUTPUT));
  loaded.graph->CreateOperation<ops::Relu>()->BindInput(x).BindOutput(y);
  EXPECT_EQ(Count(LogOf([&] {
                    EXPECT_TRUE(loaded.graph->Compile()) << vx::LastError();
                  }),
                  "[warning]"),
            0);
}

}  // namespace
}  // namespace tim::testing
