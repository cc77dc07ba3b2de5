// Parts of a tensor along its outermost axis are read where the tensor is.
#include <gtest/gtest.h>

#include <cmath>
#include <variant>

#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

using TensorPtr = std::shared_ptr<vx::Tensor>;
using Tensors = std::vector<TensorPtr>;
using Values = std::vector<float>;

constexpr uint32_t kRow = 16;  // a cache line of floats

// `count` rows from row `first` of 0, 1, 2 ... + `start`.
Values Rows(int first, int count, float start = 0, uint32_t row = kRow) {
  Values values(size_t{row} * count);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = start + static_cast<float>(size_t{row} * first + i);
  }
  return values;
}

Values Sum(Values a, const Values& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

class PartViews : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto context = ContextOn(GetParam());
    if (context == nullptr) GTEST_SKIP() << "no " << GetParam();
    graph_ = context->CreateGraph();
  }

  TensorPtr Tensor(const vx::ShapeType& shape, vx::TensorAttribute attribute) {
    return graph_->CreateTensor(Floats(shape, attribute));
  }
  TensorPtr Input(const vx::ShapeType& shape) {
    return Tensor(shape, vx::INPUT);
  }
  TensorPtr Output(const vx::ShapeType& shape) {
    return Tensor(shape, vx::OUTPUT);
  }
  TensorPtr Between() { return Tensor({}, vx::TRANSIENT); }
  Tensors Between(size_t count) {
    Tensors out;
    while (out.size() < count) out.push_back(Between());
    return out;
  }

  template <typename Op, typename... Args>
  TensorPtr Apply(const Tensors& inputs, const TensorPtr& output,
                  const Args&... args) {
    graph_->CreateOperation<Op>(args...)->BindInputs(inputs).BindOutput(output);
    return output;
  }
  TensorPtr Relu(const TensorPtr& x) {
    return Apply<vx::ops::Relu>({x}, Between());
  }
  TensorPtr AddTo(const TensorPtr& a, const TensorPtr& b,
                  const vx::ShapeType& shape) {
    return Apply<vx::ops::Add>({a, b}, Output(shape));
  }
  Tensors Split(const TensorPtr& x, uint32_t axis,
                const std::vector<uint32_t>& slices) {
    const Tensors parts = Between(slices.size());
    graph_->CreateOperation<vx::ops::Split>(axis, slices)
        ->BindInput(x)
        .BindOutputs(parts);
    return parts;
  }
  TensorPtr SliceOf(const TensorPtr& x, const std::vector<int32_t>& start,
                    const std::vector<int32_t>& length) {
    const auto dims = static_cast<uint32_t>(start.size());
    return Apply<vx::ops::Slice>({x}, Between(), dims, start, length);
  }

  void Run() { ASSERT_TRUE(graph_->Run()) << vx::LastError(); }
  const ir::Plan& Plan() const { return *vx::CompiledPlan(*graph_); }

  // Steps of operations of this name.
  int Steps(const std::string& name) const {
    int count = 0;
    for (const ir::Step& step : Plan().steps) {
      count += step.label.find(name) != std::string::npos;
    }
    return count;
  }
  // Steps that write graph output `index`.
  int WritersOf(int index) const {
    int count = 0;
    for (const ir::Step& step : Plan().steps) {
      for (size_t i = 0; i < step.operands.size(); ++i) {
        const ir::Slot& slot = Plan().slots[step.operands[i]];
        count += step.written[i] && slot.kind == ir::SlotKind::kOutput &&
                 slot.index == index;
      }
    }
    return count;
  }

  std::shared_ptr<vx::Graph> graph_;
};

INSTANTIATE_TEST_SUITE_P(Devices, PartViews,
                         ::testing::Values("host", "opencl"));

TEST_P(PartViews, AlongTheOutermostAxisNoStepMakesThem) {
  const auto x = Input({kRow, 9});
  const Tensors parts = Split(Relu(x), 1, {1, 3, 2, 3});
  const auto y = AddTo(parts[1], parts[3], {kRow, 3});
  const auto rows = Between(3);
  graph_->CreateOperation<vx::ops::Unstack>(1, 3u)
      ->BindInput(parts[1])
      .BindOutputs(rows);
  const auto slice = SliceOf(parts[3], {0, 1}, {kRow, 1});
  const auto z = AddTo(rows[2], slice, {kRow, 1});
  const auto w = AddTo(parts[0], rows[0], {kRow, 1});
  for (const float start : {0.0f, 1000.0f}) {
    Write(x, Rows(0, 9, start));
    Run();
    EXPECT_EQ(Read(y), Sum(Rows(1, 3, start), Rows(6, 3, start)));
    EXPECT_EQ(Read(z), Sum(Rows(3, 1, start), Rows(7, 1, start)));
    EXPECT_EQ(Read(w), Sum(Rows(0, 1, start), Rows(1, 1, start)));
  }
  for (const char* name : {"Split", "Unstack", "Slice"}) {
    EXPECT_EQ(Steps(name), 0) << name << "\n" << ir::Dump(Plan());
  }
}

TEST_P(PartViews, OfAnInput) {
  const auto x = Input({kRow, 4});
  const Tensors parts = Split(x, 1, {3, 1});
  const auto y = AddTo(parts[0], parts[1], {kRow, 3});
  for (const float start : {1.0f, 50.0f}) {
    Write(x, Rows(0, 4, start));
    Run();
    Values expected = Rows(0, 3, start);
    for (size_t i = 0; i < expected.size(); ++i) {
      expected[i] += Rows(3, 1, start)[i % kRow];
    }
    EXPECT_EQ(Read(y), expected);
  }
  EXPECT_EQ(Steps("Split"), 0);
}

// A register of four rows that moves on by one: what it was and will be.
TEST_P(PartViews, OfAVariable) {
  const auto cache = Tensor({kRow, 4}, vx::VARIABLE);
  const auto row = Input({kRow, 1});
  const Tensors old = Split(cache, 1, {1, 3});
  Apply<vx::ops::Concat>({old[1], row}, cache, 1u, 2);
  const auto first = Apply<vx::ops::Relu>({old[0]}, Output({kRow, 1}));
  const auto rest = Apply<vx::ops::Relu>({old[1]}, Output({kRow, 3}));
  Write(cache, Rows(0, 4));
  for (int i = 0; i < 5; ++i) {
    Write(row, Rows(4 + i, 1));
    Run();
    EXPECT_EQ(Read(first), Rows(i, 1)) << i;
    EXPECT_EQ(Read(rest), Rows(i + 1, 3)) << i;
    EXPECT_EQ(Read(cache), Rows(i + 1, 4)) << i;
  }
  EXPECT_EQ(Steps("Split"), 0);
}

TEST_P(PartViews, AnOutputGetsOneCopy) {
  const auto x = Input({kRow, 5});
  const auto part = Output({kRow, 2});
  const auto other = Between();
  graph_->CreateOperation<vx::ops::Split>(1u, std::vector<uint32_t>{3, 2})
      ->BindInput(Relu(x))
      .BindOutputs({other, part});
  const auto y = AddTo(other, other, {kRow, 3});
  for (const float start : {0.0f, 7.0f}) {
    Write(x, Rows(0, 5, start));
    Run();
    EXPECT_EQ(Read(part), Rows(3, 2, start));
    EXPECT_EQ(Read(y), Sum(Rows(0, 3, start), Rows(0, 3, start)));
  }
  EXPECT_EQ(WritersOf(0), 1);
  EXPECT_LE(Steps("Split"), WritersOf(0)) << "the other part is a view";
}

TEST_P(PartViews, OfAnOutputThatIsReadBesides) {
  const auto x = Input({kRow, 4});
  const auto whole = Apply<vx::ops::Relu>({x}, Output({kRow, 4}));
  const Tensors parts = Split(whole, 1, {2, 2});
  const auto y = AddTo(parts[0], parts[1], {kRow, 2});
  Write(x, Rows(0, 4));
  Run();
  EXPECT_EQ(Read(whole), Rows(0, 4));
  EXPECT_EQ(Read(y), Sum(Rows(0, 2), Rows(2, 2)));
  EXPECT_EQ(Steps("Split"), 0);
}

// The whole lies in the output of a Concat, its parts behind a Reshape.
TEST_P(PartViews, PartsOfPartsAndViewsFollow) {
  const auto x = Input({kRow, 4});
  const auto y = Input({kRow, 2});
  const auto whole = Relu(x);
  const auto joined =
      Apply<vx::ops::Concat>({Relu(y), whole}, Between(), 1u, 2);
  const Tensors halves = Split(whole, 1, {2, 2});
  const auto flat = Apply<vx::ops::Reshape>({halves[1]}, Between(),
                                            std::vector<uint32_t>{2 * kRow});
  const auto last = SliceOf(flat, {kRow}, {kRow});
  const auto sum = AddTo(last, SliceOf(joined, {0, 2}, {kRow, 1}), {kRow, 1});
  const auto all = Apply<vx::ops::Relu>({joined}, Output({kRow, 6}));
  Write(x, Rows(2, 4));
  Write(y, Rows(0, 2));
  Run();
  EXPECT_EQ(Read(all), Rows(0, 6));
  EXPECT_EQ(Read(sum), Sum(Rows(5, 1), Rows(2, 1)));
  EXPECT_EQ(Steps("Split"), 0);
  EXPECT_EQ(Steps("Slice"), 0);
}

// Were a result made over a part, the other one would be gone.
TEST_P(PartViews, NothingIsWrittenOverThem) {
  const auto x = Input({kRow, 4});
  const Tensors parts = Split(Relu(x), 1, {2, 2});
  const auto negative = Apply<vx::ops::Neg>({parts[0]}, Between());
  const auto again = Apply<vx::ops::Neg>({negative}, Between());
  const auto y = AddTo(again, parts[1], {kRow, 2});
  const auto z = AddTo(negative, parts[0], {kRow, 2});
  for (const float start : {0.0f, 3.0f}) {
    Write(x, Rows(0, 4, start));
    Run();
    EXPECT_EQ(Read(y), Sum(Rows(0, 2, start), Rows(2, 2, start)));
    EXPECT_EQ(Read(z), Values(size_t{2} * kRow, 0));
  }
  EXPECT_EQ(Steps("Split"), 0);
}

TEST_P(PartViews, OddOffsetsAndInnerAxesAreCopied) {
  const auto odd = Input({5, 3});
  const auto inner = Input({2 * kRow, 2});
  const Tensors rows = Split(Relu(odd), 1, {2, 1});
  const auto y = Apply<vx::ops::Relu>({rows[0]}, Output({5, 2}));
  const auto z = Apply<vx::ops::Relu>({rows[1]}, Output({5, 1}));
  const auto w = Apply<vx::ops::Relu>(
      {SliceOf(Relu(inner), {kRow, 0}, {kRow, 2})}, Output({kRow, 2}));
  Write(odd, Rows(0, 3, 0, 5));
  Write(inner, Rows(0, 4));
  Run();
  EXPECT_EQ(Read(y), Rows(0, 2, 0, 5));
  EXPECT_EQ(Read(z), Rows(2, 1, 0, 5));
  Values columns = Rows(1, 1);
  const Values second = Rows(3, 1);
  columns.insert(columns.end(), second.begin(), second.end());
  EXPECT_EQ(Read(w), columns);
  EXPECT_EQ(Steps("Split"), 1) << "of the part at byte 40";
  EXPECT_EQ(Steps("Slice"), 1);
}

// A user's kernel may need a buffer of its own, or a part of one that begins
// where the device wants.
TEST(PartViewsOfUsers, AreCopied) {
  const auto context = ContextOn("opencl");
  if (context == nullptr) GTEST_SKIP() << "no OpenCL device";
  const auto graph = context->CreateGraph();
  const auto x = graph->CreateTensor(Floats({kRow, 3}, vx::INPUT));
  const auto first = graph->CreateTensor(Floats({}, vx::TRANSIENT));
  const auto second = graph->CreateTensor(Floats({}, vx::TRANSIENT));
  const auto y = graph->CreateTensor(Floats({kRow, 2}, vx::OUTPUT));
  const auto z = graph->CreateTensor(Floats({kRow, 1}, vx::OUTPUT));
  graph->CreateOperation<vx::ops::Split>(1u, std::vector<uint32_t>{1, 2})
      ->BindInput(x)
      .BindOutputs({first, second});
  OpPlan twice;
  twice.source =
      "__kernel void f(__global const float* x, __global float* y) {\n"
      "  const size_t i = get_global_id(0);\n"
      "  y[i] = 2 * x[i];\n"
      "}\n";
  twice.inputs = 1;
  twice.shapes = [](OpPlan::Op& op) {
    op.outputs_size_.assign(op.outputs_size_.size(), {kRow, 2});
  };
  twice.enqueue = Sizes(1, {size_t{2} * kRow, 0, 0}, {0, 0, 0});
  graph->CreateOperation<TestOp>(twice)->BindInput(second).BindOutput(y);
  graph->CreateOperation<vx::ops::Relu>()->BindInput(first).BindOutput(z);
  Write(x, Rows(0, 3));
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(y), Sum(Rows(1, 2), Rows(1, 2)));
  EXPECT_EQ(Read(z), Rows(0, 1));
  int splits = 0;
  for (const ir::Step& step : vx::CompiledPlan(*graph)->steps) {
    splits += step.label.find("Split") != std::string::npos;
  }
  EXPECT_EQ(splits, 1) << "of the part that the user's kernel reads";
}

}  // namespace
}  // namespace tim::testing
