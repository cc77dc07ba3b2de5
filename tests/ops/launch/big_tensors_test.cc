// Tensors of more elements than kernels count: tests of 4 GiB and more, for
// tools/test.sh --long.  in_pieces_test.cc has the same with a small limit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/support/long_tests.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr uint32_t kMore = (uint32_t{1} << 31) + 1000;

class BigTensors : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RunsLongTests()) {
      GTEST_SKIP() << "4 GiB of memory: only with TIMCL_TEST_LONG";
    }
    context_ = ContextOn("opencl");
    if (context_ == nullptr) GTEST_SKIP() << "no OpenCL device";
  }

  static vx::TensorSpec Codes(vx::DataType type, const vx::ShapeType& shape,
                              vx::TensorAttribute attribute) {
    return vx::TensorSpec(type, shape, attribute,
                          vx::Quantization(vx::QuantType::ASYMMETRIC, 0.5f, 3));
  }

  // Runs one operation; what was logged.
  std::string Run(
      const vx::ShapeType& shape,
      const std::function<void(vx::Graph&, std::shared_ptr<vx::Tensor>,
                               std::shared_ptr<vx::Tensor>)>& add) {
    const auto graph = context_->CreateGraph();
    size_t count = 1;
    for (const uint32_t extent : shape) count *= extent;
    in_.resize(count);
    out_.assign(count, 0xcd);
    for (size_t i = 0; i < count; ++i) in_[i] = In(i);
    const auto input = graph->CreateTensor(
        Codes(vx::DataType::UINT8, shape, vx::INPUT), in_.data());
    const auto output = graph->CreateTensor(
        Codes(vx::DataType::UINT8, shape, vx::OUTPUT), out_.data());
    add(*graph, input, output);
    ::testing::internal::CaptureStderr();
    EXPECT_TRUE(graph->Run()) << vx::LastError();
    EXPECT_TRUE(output->CopyDataFromTensor(out_.data())) << vx::LastError();
    return ::testing::internal::GetCapturedStderr();
  }

  static uint8_t In(size_t i) {
    return static_cast<uint8_t>(i * 2654435761u >> 13);
  }

  std::shared_ptr<vx::Context> context_;
  std::vector<uint8_t> in_, out_;
};

TEST_F(BigTensors, ReluOfOneAxis) {
  const std::string log = Run({kMore}, [](vx::Graph& graph, auto input,
                                          auto output) {
    graph.CreateOperation<vx::ops::Relu>()->BindInput(input).BindOutput(output);
  });
  EXPECT_THAT(log, Not(HasSubstr("runs on the host")));
  size_t wrong = 0;
  for (size_t i = 0; i < out_.size(); ++i) {
    wrong += out_[i] != std::max<uint8_t>(In(i), 3);
  }
  EXPECT_EQ(wrong, 0u);
}

TEST_F(BigTensors, AddOfAnImageAndItself) {
  const std::string log = Run({1 << 15, 257, 256, 1},
                              [](vx::Graph& graph, auto input, auto output) {
                                graph.CreateOperation<vx::ops::Add>()
                                    ->BindInputs({input, input})
                                    .BindOutput(output);
                              });
  EXPECT_THAT(log, Not(HasSubstr("runs on the host")));
  size_t wrong = 0;
  for (size_t i = 0; i < out_.size(); ++i) {
    wrong += out_[i] != std::min(std::max(2 * In(i) - 3, 0), 255);
  }
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace tim::testing
