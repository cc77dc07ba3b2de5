// Sums of a convolution and a residual lie where the residual lay, results of
// elementwise operators and Softmax where an operand lay, if nothing else needs
// it.
#include <gtest/gtest.h>

#include "tests/support/vx_graph.h"
#include "vx/graph_impl.h"

namespace tim::testing {
namespace {

using vx::TensorAttribute;
using TensorPtr = std::shared_ptr<vx::Tensor>;
using Values = std::vector<float>;

constexpr uint32_t kChannels = 32;
constexpr uint32_t kSize = 9;
constexpr size_t kElements = size_t{kSize} * kSize * kChannels;
constexpr int64_t kBytes = 4 * int64_t{kElements};

Values Pattern(size_t count, int modulus) {
  Values values(count);
  for (size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(static_cast<int>(i % modulus) - 5) / 16;
  }
  return values;
}

// Which value is added to the convolution of `a`.
enum class Residual { kOther, kItsInput, kReadLater };

// a = conv(input), b = conv(a), sum = conv(a) + residual,
// output = conv(sum) + input or b.
struct Sums {
  Sums(vx::Context& context, Residual residual) : graph(context.CreateGraph()) {
    input = graph->CreateTensor(
        Floats({kSize, kSize, kChannels, 1}, TensorAttribute::INPUT));
    output = graph->CreateTensor(
        Floats({kSize, kSize, kChannels, 1}, TensorAttribute::OUTPUT));
    const TensorPtr a = Conv(input, 7);
    const TensorPtr b = Conv(a, 11);
    const TensorPtr added = residual == Residual::kItsInput ? a : b;
    const TensorPtr sum = Add(Conv(a, 13), added, Transient());
    if (residual == Residual::kReadLater) {
      Add(Conv(sum, 17), b, output);
    } else {
      Add(Conv(sum, 17), input, output);
    }
  }

  Values Run() {
    Write(input, Pattern(kElements, 23));
    EXPECT_TRUE(graph->Run()) << graph->ErrorMessage();
    return Read(output);
  }

  TensorPtr Transient() {
    return graph->CreateTensor(
        Floats({0, 0, 0, 0}, TensorAttribute::TRANSIENT));
  }
  TensorPtr Conv(const TensorPtr& x, int modulus) {
    const TensorPtr result = Transient();
    const Values weights = Pattern(9 * kChannels * kChannels, modulus);
    graph
        ->CreateOperation<vx::ops::Conv2d>(vx::PadType::SAME,
                                           std::array<uint32_t, 2>{1, 1},
                                           std::array<uint32_t, 2>{1, 1})
        ->BindInputs(
            {x, graph->CreateTensor(Floats({3, 3, kChannels, kChannels},
                                           TensorAttribute::CONSTANT),
                                    weights.data())})
        .BindOutput(result);
    return result;
  }
  TensorPtr Add(const TensorPtr& x, const TensorPtr& y, const TensorPtr& sum) {
    graph->CreateOperation<vx::ops::Add>()->BindInputs({x, y}).BindOutput(sum);
    return sum;
  }

  std::shared_ptr<vx::Graph> graph;
  TensorPtr input, output;
};

// Slots of one allocation that steps read and write.
int InPlaceSteps(const ir::Plan& plan, int64_t bytes = kBytes) {
  int count = 0;
  for (const ir::Step& step : plan.steps) {
    for (size_t i = 0; i < step.operands.size(); ++i) {
      for (size_t j = 0; j < step.operands.size(); ++j) {
        const ir::Slot& read = plan.slots[step.operands[i]];
        const ir::Slot& written = plan.slots[step.operands[j]];
        count += !step.written[i] && step.written[j] &&
                 read.kind == ir::SlotKind::kArena && read.bytes == bytes &&
                 written.kind == ir::SlotKind::kArena &&
                 read.offset == written.offset;
      }
    }
  }
  return count;
}

class InPlace : public ::testing::TestWithParam<Residual> {};

TEST_P(InPlace, OnlyWhereNothingElseNeedsTheResidual) {
  const auto context = ContextOn("opencl");
  if (context == nullptr) GTEST_SKIP() << "no OpenCL device";
  Sums sums(*context, GetParam());
  Sums reference(*HostContext(), GetParam());
  for (int run = 0; run < 2; ++run) {
    const Values actual = sums.Run();
    const Values expected = reference.Run();
    for (size_t i = 0; i < kElements; ++i) {
      ASSERT_NEAR(actual[i], expected[i], 1e-3 + 1e-5 * std::abs(expected[i]))
          << i;
    }
  }
  // The last sum can always be: nothing comes after it.
  EXPECT_EQ(InPlaceSteps(*vx::CompiledPlan(*sums.graph)),
            GetParam() == Residual::kOther ? 2 : 1);
}

INSTANTIATE_TEST_SUITE_P(Residuals, InPlace,
                         ::testing::Values(Residual::kOther,
                                           Residual::kItsInput,
                                           Residual::kReadLater));

// Elementwise operators and Softmax over values of `shape`, and two that must
// not be written over what they read: a square of one value, and a row that is
// added to every other.
struct Elementwise {
  explicit Elementwise(vx::Context& context) : graph(context.CreateGraph()) {
    input = graph->CreateTensor(Floats({kColumns, kRows}, vx::INPUT));
    row = graph->CreateTensor(Floats({kColumns, 1}, vx::INPUT));
    output = graph->CreateTensor(Floats({kColumns, kRows}, vx::OUTPUT));
    const TensorPtr first = Transient();
    graph->CreateOperation<vx::ops::Sigmoid>()->BindInput(input).BindOutput(
        first);
    const TensorPtr second = Transient();  // in place of the first
    graph->CreateOperation<vx::ops::Softmax>(1.0f, 0)
        ->BindInput(first)
        .BindOutput(second);
    const TensorPtr square = Transient();
    graph->CreateOperation<vx::ops::Multiply>()
        ->BindInputs({second, second})
        .BindOutput(square);
    const TensorPtr third = Transient();  // in place of the square or second
    graph->CreateOperation<vx::ops::Sub>()
        ->BindInputs({second, square})
        .BindOutput(third);
    const TensorPtr small = Transient();
    graph->CreateOperation<vx::ops::Tanh>()->BindInput(row).BindOutput(small);
    graph->CreateOperation<vx::ops::Add>()
        ->BindInputs({small, third})
        .BindOutput(output);
  }

  Values Run() {
    Write(input, Pattern(size_t{kColumns} * kRows, 23));
    Write(row, Pattern(kColumns, 7));
    EXPECT_TRUE(graph->Run()) << graph->ErrorMessage();
    return Read(output);
  }
  TensorPtr Transient() {
    return graph->CreateTensor(Floats({0, 0}, vx::TRANSIENT));
  }

  static constexpr uint32_t kColumns = 37;
  static constexpr uint32_t kRows = 19;
  std::shared_ptr<vx::Graph> graph;
  TensorPtr input, row, output;
};

TEST(InPlaceElementwise, OnlyOverTheLastUseOfAnEqualOperand) {
  const auto context = ContextOn("opencl");
  if (context == nullptr) GTEST_SKIP() << "no OpenCL device";
  Elementwise graph(*context);
  Elementwise reference(*HostContext());
  for (int run = 0; run < 2; ++run) {
    const Values actual = graph.Run();
    const Values expected = reference.Run();
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) {
      ASSERT_NEAR(actual[i], expected[i], 1e-6) << i;
    }
  }
  EXPECT_EQ(InPlaceSteps(*vx::CompiledPlan(*graph.graph),
                         4 * Elementwise::kColumns * Elementwise::kRows),
            2);
}

}  // namespace
}  // namespace tim::testing
