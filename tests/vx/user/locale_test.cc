// Numbers in a process whose locale has a decimal comma: in what kernels are
// built from, in files and in messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "custom_ops/yolo_decode.h"
#include "tests/support/child_process.h"
#include "tests/support/comma_locale.h"
#include "tests/support/long_tests.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using vx::DataType;
using vx::Quantization;
using vx::QuantType;
using vx::TensorSpec;

// y = x * the scale of x, of int8.
std::vector<float> RealValues(const Quantization& quantization) {
  OpPlan plan;
  plan.source =
      "__kernel void f(__global const char* x, __global float* y) {\n"
      "  y[get_global_id(0)] = TIM_SCALE_INPUT0 * x[get_global_id(0)];\n"
      "}\n";
  plan.types = [](OpPlan::Op& op) { op.SetOutputType(0, DataType::FLOAT32); };
  const auto graph = OpenClGraph();
  const auto x = graph->CreateTensor(
      TensorSpec(DataType::INT8, {2}, vx::INPUT, quantization));
  const auto y = graph->CreateTensor(Floats({2}, vx::OUTPUT));
  graph->CreateOperation<TestOp>(plan)->BindInput(x).BindOutput(y);
  Write<int8_t>(x, {-8, 16});
  EXPECT_TRUE(graph->Run()) << vx::LastError();
  return Read(y);
}

TEST(CommaLocale, ScalesOfCustomOperatorsAreNumbers) {
  const CommaLocale locale;
  Sample sample(3);
  for (const float scale : {0.0125f, 0.1f, 1.0f, 1e-20f, 3e4f}) {
    if (!sample.Takes()) continue;
    EXPECT_THAT(RealValues(Quantization(QuantType::ASYMMETRIC, scale, 0)),
                ElementsAre(-8 * scale, 16 * scale));
  }
}

TEST(CommaLocale, SavedTensorsHavePoints) {
  const CommaLocale locale;
  const auto graph = HostGraph();
  const std::vector<float> values = {0.5f, -1234567.0f, 1e-10f, 3.4e38f};
  const auto x = graph->CreateTensor(
      TensorSpec(DataType::FLOAT32, {4}, vx::CONSTANT), values.data());
  const std::string path = ::testing::TempDir() + "timcl_saved.txt";
  ASSERT_TRUE(x->SaveTensorToTextByFp32(path)) << vx::LastError();
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text,
            "0.5000000000000000\n-1234567.0000000000000000\n"
            "0.0000000001000000\n"
            "339999995214436424907732413799364296704.0000000000000000\n");
}

TEST(CommaLocale, MessagesOfCustomOperatorsHavePoints) {
  const CommaLocale locale;
  const auto graph = OpenClGraph();
  custom_ops::YoloDecode::Parameters parameters;
  parameters.strides = {-0.5f};
  const auto head = graph->CreateTensor(Floats({1, 1, 6, 1}, vx::INPUT));
  const auto boxes = graph->CreateTensor(Floats({}, vx::OUTPUT));
  const auto scores = graph->CreateTensor(Floats({}, vx::OUTPUT));
  graph->CreateOperation<custom_ops::YoloDecode>(parameters)
      ->BindInput(head)
      .BindOutputs({boxes, scores});
  EXPECT_TRUE(
      CompileFailsWith(*graph, "a stride is -0.500000, expected above 0"));
}

TEST(CommaLocale, DumpsHavePoints) {
  const CommaLocale locale;
  const auto graph = HostGraph();
  const auto x = graph->CreateTensor(Floats({1234, 4}, vx::INPUT));
  const auto y = graph->CreateTensor(Floats({1234, 4}, vx::OUTPUT));
  graph->CreateOperation<vx::ops::Softmax>(0.5f, 0)->BindInput(x).BindOutput(y);
  ::testing::internal::CaptureStderr();
  graph->PrintGraph();
  const std::string printed = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(printed, HasSubstr("beta: 0.5"));
  EXPECT_THAT(printed, HasSubstr("[1234, 4]"));
}

// x [512, 64] -> Matmul with a constant -> Softmax -> y.
std::vector<float> Probabilities() {
  const auto graph = OpenClGraph();
  std::vector<float> weights(512 * 8);
  std::vector<float> input(512 * 64);
  for (size_t i = 0; i < weights.size(); ++i) {
    weights[i] = static_cast<float>(i % 7) * 0.125f;
  }
  for (size_t i = 0; i < input.size(); ++i) {
    input[i] = static_cast<float>(i % 5) * 0.0625f;
  }
  const auto x = graph->CreateTensor(Floats({512, 64}, vx::INPUT));
  const auto w =
      graph->CreateTensor(Floats({8, 512}, vx::CONSTANT), weights.data());
  const auto product = graph->CreateTensor(Floats({}, vx::TRANSIENT));
  const auto y = graph->CreateTensor(Floats({8, 64}, vx::OUTPUT));
  graph->CreateOperation<vx::ops::Matmul>()->BindInputs({x, w}).BindOutput(
      product);
  graph->CreateOperation<vx::ops::Softmax>(0.5f, 0)
      ->BindInput(product)
      .BindOutput(y);
  Write(x, input);
  EXPECT_TRUE(graph->Run()) << vx::LastError();
  return Read(y);
}

// With caches of its own, so that its programs are built under the locale.
TEST(CommaLocale, BuiltInKernelsAreBuiltAsEver) {
  if (IsChild()) {
    std::vector<float> under_comma;
    {
      const CommaLocale locale;
      under_comma = Probabilities();
    }
    EXPECT_EQ(under_comma, Probabilities());
    return;
  }
  std::string folder = ::testing::TempDir() + "timcl_caches_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const ChildResult child =
      RunAsChild({{"TIMCL_CACHE_DIR", "off"}, {"POCL_CACHE_DIR", folder}});
  EXPECT_EQ(child.exit_status, 0) << child.output;
}

}  // namespace
}  // namespace tim::testing
