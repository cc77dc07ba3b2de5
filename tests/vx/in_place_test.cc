// Sums of a convolution and a residual lie where the residual lay, results of
// elementwise operators and Softmax where an operand lay, if nothing else needs
// it.
#include <gtest/gtest.h>

#include <thread>

#include "tests/support/kernels/kernel_set.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

TIM_FOR_CPU_KERNELS();

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

// Elementwise operators, Softmax and conversions of values of kColumns x kRows,
// and what must not be written over: a square's two operands, a row that is
// added to every other, and a value that is read later through a view.
struct Elementwise {
  explicit Elementwise(vx::Context& context) : graph(context.CreateGraph()) {
    input = graph->CreateTensor(Floats({kColumns, kRows}, vx::INPUT));
    row = graph->CreateTensor(Floats({kColumns, 1}, vx::INPUT));
    const TensorPtr first = Apply<vx::ops::Sigmoid>({input});
    const TensorPtr second =  // in place: rows
        ApplyTo({first}, Like(Floats({}, vx::TRANSIENT)),
                graph->CreateOperation<vx::ops::Softmax>(1.0f, 0));
    const TensorPtr square = Apply<vx::ops::Multiply>({second, second});
    const TensorPtr third =  // in place of one of them
        Apply<vx::ops::Sub>({second, square});
    const TensorPtr fourth =  // in place: columns
        ApplyTo({third}, Like(Floats({}, vx::TRANSIENT)),
                graph->CreateOperation<vx::ops::Softmax>(1.0f, 1));
    const TensorPtr small = graph->CreateTensor(Floats({0, 0}, vx::TRANSIENT));
    graph->CreateOperation<vx::ops::Tanh>()->BindInput(row).BindOutput(small);
    const TensorPtr fifth =  // in place of the second operand
        Apply<vx::ops::Add>({small, fourth});

    const TensorPtr viewed =
        graph->CreateTensor(Floats({kColumns * kRows}, vx::TRANSIENT));
    graph
        ->CreateOperation<vx::ops::Reshape>(
            std::vector<uint32_t>{kColumns * kRows})
        ->BindInput(fifth)
        .BindOutput(viewed);
    const TensorPtr codes = ApplyTo(
        {fifth}, Like(Codes()), graph->CreateOperation<vx::ops::DataConvert>());
    const TensorPtr table =  // in place: a table of 8-bit codes
        ApplyTo({codes}, Like(Codes()),
                graph->CreateOperation<vx::ops::Sigmoid>());
    ApplyTo({table}, Output(Floats({kColumns, kRows}, vx::OUTPUT)),
            graph->CreateOperation<vx::ops::DataConvert>());
    ApplyTo({viewed}, Output(Floats({kColumns * kRows}, vx::OUTPUT)),
            graph->CreateOperation<vx::ops::Tanh>());
  }

  static vx::TensorSpec Codes() {
    return {vx::DataType::UINT8,
            {},
            vx::TRANSIENT,
            vx::Quantization(vx::QuantType::ASYMMETRIC, 0.01f, 100)};
  }
  TensorPtr Like(vx::TensorSpec spec) {
    return graph->CreateTensor(spec.SetShape({0, 0}));
  }
  TensorPtr Output(const vx::TensorSpec& spec) {
    outputs.push_back(graph->CreateTensor(spec));
    return outputs.back();
  }
  TensorPtr ApplyTo(const std::vector<TensorPtr>& operands,
                    const TensorPtr& result,
                    const std::shared_ptr<vx::Operation>& operation) {
    operation->BindInputs(operands).BindOutput(result);
    return result;
  }
  template <typename Op>
  TensorPtr Apply(const std::vector<TensorPtr>& operands) {
    return ApplyTo(operands, Like(Floats({}, vx::TRANSIENT)),
                   graph->CreateOperation<Op>());
  }

  Values Run() {
    Write(input, Pattern(size_t{kColumns} * kRows, 23));
    Write(row, Pattern(kColumns, 7));
    EXPECT_TRUE(graph->Run()) << graph->ErrorMessage();
    Values all;
    for (const TensorPtr& output : outputs) {
      const Values values = Read(output);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }

  static constexpr uint32_t kColumns = 37;
  static constexpr uint32_t kRows = 19;
  std::shared_ptr<vx::Graph> graph;
  TensorPtr input, row;
  std::vector<TensorPtr> outputs;
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
  const ir::Plan& plan = *vx::CompiledPlan(*graph.graph);
  const int64_t elements = Elementwise::kColumns * Elementwise::kRows;
  EXPECT_EQ(InPlaceSteps(plan, 4 * elements), 4);
  EXPECT_EQ(InPlaceSteps(plan, elements), 1);
}

// Long rows are made in pieces, and a piece again where an approximation does
// not decide, here because powers are subnormal: its logits must still be
// there.
TEST(InPlaceSoftmax, PiecesThatAreMadeTwiceFindTheirInput) {
  constexpr uint32_t kColumns = 600;
  const auto run = [&](vx::Context& context, uint32_t rows, int* in_place) {
    const auto graph = context.CreateGraph();
    const TensorPtr input =
        graph->CreateTensor(Floats({kColumns, rows}, vx::INPUT));
    const TensorPtr output =
        graph->CreateTensor(Floats({kColumns, rows}, vx::OUTPUT));
    const auto transient = [&] {
      return graph->CreateTensor(Floats({0, 0}, vx::TRANSIENT));
    };
    const TensorPtr logits = transient();
    const TensorPtr powers = transient();
    graph->CreateOperation<vx::ops::Relu>()->BindInput(input).BindOutput(
        logits);
    graph->CreateOperation<vx::ops::Softmax>(1.0f, 0)
        ->BindInput(logits)
        .BindOutput(powers);
    graph->CreateOperation<vx::ops::Relu>()->BindInput(powers).BindOutput(
        output);
    Values values = Pattern(size_t{kColumns} * rows, 23);
    for (size_t i = 0; i < values.size(); i += 11) values[i] = 90.0f;
    Write(input, values);
    EXPECT_TRUE(graph->Run()) << graph->ErrorMessage();
    *in_place =
        InPlaceSteps(*vx::CompiledPlan(*graph), int64_t{4} * kColumns * rows);
    return Read(output);
  };
  const auto context = ContextOn("opencl");
  if (context == nullptr) GTEST_SKIP() << "no OpenCL device";
  // Rows one by one, and sixteen of them at a time.
  const uint32_t cores = std::thread::hardware_concurrency();
  for (const uint32_t rows : {19u, 64 * cores + 3}) {
    int in_place = 0;
    int ignored = 0;
    const Values actual = run(*context, rows, &in_place);
    EXPECT_EQ(actual, run(*HostContext(), rows, &ignored)) << rows << " rows";
    EXPECT_EQ(in_place, 1) << rows << " rows";
  }
}

}  // namespace
}  // namespace tim::testing
