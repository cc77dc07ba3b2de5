// Pad and PadV2 through the public API.
#include <gtest/gtest.h>

#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

class PadGraph : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto context = ContextOn(GetParam());
    ASSERT_NE(context, nullptr);
    graph_ = context->CreateGraph();
  }

  // What a graph of one operation makes of `x`.
  template <typename T, typename Op>
  std::vector<T> Run(const std::shared_ptr<Op>& op, vx::TensorSpec in,
                     vx::TensorSpec out, const std::vector<T>& x) {
    const auto input = graph_->CreateTensor(in);
    const auto output = graph_->CreateTensor(out);
    (*op).BindInput(input).BindOutput(output);
    Write<T>(input, x);
    EXPECT_TRUE(graph_->Run()) << vx::LastError();
    return Read<T>(output);
  }

  std::shared_ptr<vx::Graph> graph_;
};

INSTANTIATE_TEST_SUITE_P(Devices, PadGraph,
                         ::testing::Values("host", "opencl"));

// The constant is a real value: 1 / 0.5 - 3 = -1.
TEST_P(PadGraph, ConstantOfCodes) {
  const vx::Quantization quantization(vx::QuantType::ASYMMETRIC, 0.5f, -3);
  const auto spec = [&](const vx::ShapeType& shape, auto attribute) {
    return vx::TensorSpec(vx::DataType::INT8, shape, attribute, quantization);
  };
  const std::vector<uint32_t> front = {1, 0, 0, 0};
  const std::vector<uint32_t> back = {0, 1, 0, 0};
  EXPECT_EQ(Run<int8_t>(graph_->CreateOperation<vx::ops::Pad>(front, back, 1),
                        spec({2, 2, 1, 1}, vx::INPUT),
                        spec({3, 3, 1, 1}, vx::OUTPUT), {10, 11, 12, 13}),
            (std::vector<int8_t>{-1, 10, 11, -1, 12, 13, -1, -1, -1}));
}

TEST_P(PadGraph, IntegerConstantOfFloats) {
  const std::vector<uint32_t> counts = {1};
  EXPECT_EQ(
      Run<float>(graph_->CreateOperation<vx::ops::Pad>(counts, counts, -7),
                 Floats({2}, vx::INPUT), Floats({4}, vx::OUTPUT), {0.5f, 1.5f}),
      (std::vector<float>{-7, 0.5f, 1.5f, -7}));
}

TEST_P(PadGraph, FractionalConstant) {
  const std::vector<uint32_t> counts = {1};
  EXPECT_EQ(
      Run<float>(graph_->CreateOperation<vx::ops::PadV2>(counts, counts, 0.1f),
                 Floats({2}, vx::INPUT), Floats({4}, vx::OUTPUT), {1, 2}),
      (std::vector<float>{0.1f, 1, 2, 0.1f}));
}

TEST_P(PadGraph, EdgeOfFloats) {
  const std::vector<uint32_t> front = {1, 1};
  const std::vector<uint32_t> back = {2, 0};
  EXPECT_EQ(Run<float>(graph_->CreateOperation<vx::ops::PadV2>(
                           front, back, 0.0f, vx::ops::PadV2::PAD_MODE_EDGE),
                       Floats({2, 2}, vx::INPUT), Floats({}, vx::OUTPUT),
                       {1, 2, 3, 4}),
            (std::vector<float>{1, 1, 2, 2, 2, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4}));
}

// Kernels of different modes in one program where the device chains launches.
TEST_P(PadGraph, ModesOneAfterTheOther) {
  using vx::ops::Pad;
  const std::vector<uint32_t> none = {0}, one = {1}, two = {2};
  const auto between = [&] {
    return graph_->CreateTensor(Floats({}, vx::TRANSIENT));
  };
  const auto constant = between(), reflected = between(), mirrored = between();
  const auto x = graph_->CreateTensor(Floats({2}, vx::INPUT));
  const auto y = graph_->CreateTensor(Floats({7}, vx::OUTPUT));
  graph_->CreateOperation<Pad>(one, none, 5)->BindInput(x).BindOutput(constant);
  graph_->CreateOperation<Pad>(none, two, 0, Pad::PAD_MODE_REFLECT)
      ->BindInput(constant)
      .BindOutput(reflected);
  graph_->CreateOperation<Pad>(one, none, 0, Pad::PAD_MODE_SYMMETRIC)
      ->BindInput(reflected)
      .BindOutput(mirrored);
  graph_->CreateOperation<Pad>(none, one, 0, Pad::PAD_MODE_EDGE)
      ->BindInput(mirrored)
      .BindOutput(y);
  Write<float>(x, {1, 2});
  ASSERT_TRUE(graph_->Run()) << vx::LastError();
  EXPECT_EQ(Read(y), (std::vector<float>{5, 5, 1, 2, 1, 5, 5}));
}

TEST_P(PadGraph, WrongNumberOfCounts) {
  const std::vector<uint32_t> counts = {1};
  graph_->CreateOperation<vx::ops::Pad>(counts, counts, 0)
      ->BindInput(graph_->CreateTensor(Floats({2, 2}, vx::INPUT)))
      .BindOutput(graph_->CreateTensor(Floats({}, vx::OUTPUT)));
  EXPECT_TRUE(CompileFailsWith(*graph_, "has 1 counts"));
}

TEST_P(PadGraph, TooManyElements) {
  // The last 2^24 values of the type are negative counts.
  const std::vector<uint32_t> counts(2, 3'000'000'000);
  graph_->CreateOperation<vx::ops::Pad>(counts, counts, 0)
      ->BindInput(graph_->CreateTensor(Floats({2, 2}, vx::INPUT)))
      .BindOutput(graph_->CreateTensor(Floats({}, vx::OUTPUT)));
  EXPECT_TRUE(CompileFailsWith(*graph_, "overflows 64 bits"));
}

}  // namespace
}  // namespace tim::testing
