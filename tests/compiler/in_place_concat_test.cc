// Concat without copies: its inputs are made in its output's memory.
#include <gtest/gtest.h>

#include <variant>

#include "tests/support/vx/vx_graph.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

using vx::Tensor;
using vx::TensorAttribute;
using Values = std::vector<float>;
using TensorPtr = std::shared_ptr<Tensor>;

class InPlaceConcat : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto context = ContextOn("opencl");
    if (context == nullptr) GTEST_SKIP() << "no OpenCL device";
    graph_ = context->CreateGraph();
  }

  TensorPtr Input(const vx::ShapeType& shape) {
    return graph_->CreateTensor(Floats(shape, TensorAttribute::INPUT));
  }
  TensorPtr Output(const vx::ShapeType& shape) {
    return graph_->CreateTensor(Floats(shape, TensorAttribute::OUTPUT));
  }
  TensorPtr Between() {
    return graph_->CreateTensor(Floats({}, TensorAttribute::TRANSIENT));
  }
  template <typename Op, typename... Args>
  TensorPtr Apply(const std::vector<TensorPtr>& inputs, const TensorPtr& output,
                  Args... args) {
    graph_->CreateOperation<Op>(args...)->BindInputs(inputs).BindOutput(output);
    return output;
  }
  TensorPtr Relu(const TensorPtr& x) {
    return Apply<vx::ops::Relu>({x}, Between());
  }
  TensorPtr Concat(const std::vector<TensorPtr>& parts, uint32_t axis) {
    return Apply<vx::ops::Concat>(parts, Between(), axis,
                                  static_cast<int>(parts.size()));
  }

  // Steps of the Concats after compilation.
  int Copies() {
    EXPECT_TRUE(graph_->Run()) << vx::LastError();
    const ir::Plan* plan = vx::CompiledPlan(*graph_);
    int count = 0;
    for (const ir::Step& step : plan->steps) {
      count += step.label.find("Concat") != std::string::npos;
    }
    return count;
  }

  std::shared_ptr<vx::Graph> graph_;
};

Values Range(int first, int count) {
  Values values;
  for (int i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(first + i));
  }
  return values;
}

TEST_F(InPlaceConcat, PartsAlongTheOutermostAxisAreMadeInPlace) {
  const auto a = Input({16, 2});
  const auto b = Input({16, 3});
  const auto y =
      Apply<vx::ops::Relu>({Concat({Relu(a), Relu(b)}, 1)}, Output({16, 5}));
  for (const int first : {1, 1000}) {
    Write(a, Range(first, 32));
    Write(b, Range(first + 32, 48));
    EXPECT_EQ(Copies(), 0);
    EXPECT_EQ(Read(y), Range(first, 80));
  }
}

TEST_F(InPlaceConcat, PartsOfPartsAndViewsFollow) {
  const auto a = Input({16, 1});
  const auto b = Input({32});
  const auto reshaped = Apply<vx::ops::Reshape>({Relu(b)}, Between(),
                                                std::vector<uint32_t>{16, 2});
  const auto inner = Concat({Relu(a), Relu(reshaped)}, 1);
  const auto y =
      Apply<vx::ops::Relu>({Concat({inner, Relu(a)}, 1)}, Output({16, 4}));
  Write(a, Range(1, 16));
  Write(b, Range(17, 32));
  EXPECT_EQ(Copies(), 0);
  Values expected = Range(1, 48);
  const Values tail = Range(1, 16);
  expected.insert(expected.end(), tail.begin(), tail.end());
  EXPECT_EQ(Read(y), expected);
}

TEST_F(InPlaceConcat, APartMayBeReadBesides) {
  const auto a = Input({16});
  const auto part = Relu(a);
  const auto y =
      Apply<vx::ops::Relu>({Concat({part, Relu(a)}, 0)}, Output({32}));
  const auto z = Apply<vx::ops::Add>({part, a}, Output({16}));
  Write(a, Values(16, 3));
  EXPECT_EQ(Copies(), 0);
  EXPECT_EQ(Read(y), Values(32, 3));
  EXPECT_EQ(Read(z), Values(16, 6));
}

TEST_F(InPlaceConcat, WhatCannotLieThereIsCopied) {
  const auto a = Input({16});
  const auto twice = Relu(a);
  // A graph input, the same value twice, and an inner axis.
  const auto y =
      Apply<vx::ops::Relu>({Concat({a, twice, twice}, 0)}, Output({48}));
  Write(a, Values(16, 2));
  EXPECT_EQ(Copies(), 2);
  EXPECT_EQ(Read(y), Values(48, 2));
}

TEST_F(InPlaceConcat, AnInnerAxisIsCopied) {
  const auto a = Input({2, 8});
  const auto y =
      Apply<vx::ops::Relu>({Concat({Relu(a), Relu(a)}, 0)}, Output({4, 8}));
  Write(a, Values(16, 2));
  EXPECT_EQ(Copies(), 2);
  EXPECT_EQ(Read(y), Values(32, 2));
}

TEST_F(InPlaceConcat, OddSizesKeepTheirAlignment) {
  const auto a = Input({5});
  const auto b = Input({7});
  const auto y =
      Apply<vx::ops::Relu>({Concat({Relu(a), Relu(b)}, 0)}, Output({12}));
  Write(a, Range(1, 5));
  Write(b, Range(6, 7));
  EXPECT_EQ(Copies(), 1) << "the second part starts at byte 20";
  EXPECT_EQ(Read(y), Range(1, 12));
}

}  // namespace
}  // namespace tim::testing
