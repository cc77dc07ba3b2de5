// The custom operators under the check that the SDK offers for those of users:
// kernels against HostEval(), guarded, with other local sizes.
#include <gtest/gtest.h>

#include "custom_ops/detection_postprocess.h"
#include "custom_ops/gemm.h"
#include "custom_ops/hswish.h"
#include "custom_ops/non_max_suppression.h"
#include "custom_ops/softmax_cl.h"
#include "custom_ops/yolo_decode.h"
#include "tests/support/long_tests.h"
#include "tests/support/vx/vx_graph.h"
#include "tim/vx/custom_op_check.h"

namespace tim::custom_ops {
namespace {

using vx::DataType;
using vx::Graph;
using vx::check::CheckedOperator;
using vx::check::ExtentRange;
using vx::check::Operands;
using Storage = HSwish::Storage;

class Checked : public ::testing::Test {
 protected:
  void SetUp() override {
    if (testing::ContextOn("opencl") == nullptr) {
      GTEST_SKIP() << "no OpenCL device";
    }
  }
};

// Every shape takes the time of a kernel: many of them in long runs only.
void ExpectPasses(const CheckedOperator& checked, uint32_t cases) {
  vx::check::CheckOptions options;
  options.cases = testing::RunsLongTests() ? 20 * cases : cases;
  const auto result = vx::check::CheckCustomOp(checked, options);
  EXPECT_TRUE(result.passed()) << result.text;
  EXPECT_GE(result.cases, options.cases);
}

template <typename Create>
CheckedOperator Operator(const Create& create, size_t inputs, size_t outputs) {
  CheckedOperator checked;
  checked.create = create;
  checked.inputs.resize(inputs);
  checked.outputs.resize(outputs);
  return checked;
}

void SetShape(const std::vector<ExtentRange>& extents,
              vx::check::InputRange* range) {
  range->least_rank = range->most_rank = static_cast<uint32_t>(extents.size());
  range->extents = extents;
}

TEST_F(Checked, HSwish) {
  for (const Storage storage : {Storage::kImage, Storage::kBuffer}) {
    CheckedOperator checked = Operator(
        [storage](Graph* graph, const Operands&) {
          return graph->CreateOperation<HSwish>(1.0f, 0.0f, 1.0f, 0.0f,
                                                storage);
        },
        1, 1);
    checked.inputs[0].types = {DataType::FLOAT32, DataType::UINT8,
                               DataType::FLOAT16, DataType::UINT16};
    // As codes of bfloat16 these are 0 to 8.
    checked.inputs[0].most_value = 16640;
    checked.inputs[0].least_value = 0;
    ExpectPasses(checked, 4);
  }
}

TEST_F(Checked, SoftmaxCl) {
  CheckedOperator checked = Operator(
      [](Graph* graph, const Operands&) {
        return graph->CreateOperation<SoftmaxCl>(0.5f);
      },
      1, 1);
  checked.inputs[0].types = {DataType::FLOAT32, DataType::UINT8};
  checked.inputs[0].most_rank = 2;
  checked.outputs[0].type = DataType::FLOAT32;
  checked.outputs[0].tolerance.absolute = 1e-6;
  checked.outputs[0].tolerance.relative = 4e-6;
  ExpectPasses(checked, 2);
}

TEST_F(Checked, Gemm) {
  for (const bool transposed : {false, true}) {
    if (transposed && !testing::RunsLongTests()) continue;
    CheckedOperator checked = Operator(
        [transposed](Graph* graph, const Operands&) {
          return graph->CreateOperation<Gemm>(transposed);
        },
        2, 1);
    for (auto& input : checked.inputs) {
      input.types = {DataType::FLOAT32, DataType::UINT8};
      input.least_rank = input.most_rank = 2;
      input.least_value = 0;
    }
    checked.fit = [transposed](Operands* operands) {
      auto& inputs = operands->inputs;
      inputs[1].shape_[1] = inputs[0].shape_[transposed ? 1 : 0];
      return true;
    };
    checked.outputs[0].tolerance.relative = 1e-5;
    ExpectPasses(checked, 2);
  }
}

TEST_F(Checked, NonMaxSuppression) {
  if (!testing::RunsLongTests()) GTEST_SKIP() << "in long runs only";
  CheckedOperator checked = Operator(
      [](Graph* graph, const Operands&) {
        return graph->CreateOperation<NonMaxSuppression>(
            NonMaxSuppression::Parameters{5, 0.5f});
      },
      2, 2);
  SetShape({{4, 4}, {1, 100}, {1, 2}}, &checked.inputs[0]);
  SetShape({{1, 100}, {1, 3}, {1, 2}}, &checked.inputs[1]);
  checked.fit = [](Operands* operands) {
    operands->inputs[1].shape_[0] = operands->inputs[0].shape_[1];
    operands->inputs[1].shape_[2] = operands->inputs[0].shape_[2];
    return true;
  };
  ExpectPasses(checked, 1);
}

TEST_F(Checked, YoloDecode) {
  if (!testing::RunsLongTests()) GTEST_SKIP() << "in long runs only";
  YoloDecode::Parameters parameters;
  parameters.num_classes = 3;
  parameters.strides = {8};
  parameters.anchors = {4, 5, 6, 7};
  CheckedOperator checked = Operator(
      [parameters](Graph* graph, const Operands&) {
        return graph->CreateOperation<YoloDecode>(parameters);
      },
      1, 2);
  SetShape({{1, 9}, {1, 9}, {16, 16}, {1, 2}}, &checked.inputs[0]);
  checked.outputs[0].tolerance.absolute = 1e-3;
  checked.outputs[1].tolerance.absolute = 1e-6;
  ExpectPasses(checked, 1);
}

TEST_F(Checked, DetectionPostProcess) {
  if (!testing::RunsLongTests()) GTEST_SKIP() << "in long runs only";
  DetectionPostProcess::Parameters parameters;
  parameters.num_classes = 3;
  parameters.use_regular_nms = true;
  CheckedOperator checked = Operator(
      [parameters](Graph* graph, const Operands&) {
        return graph->CreateOperation<DetectionPostProcess>(parameters);
      },
      3, 4);
  SetShape({{4, 4}, {1, 40}, {1, 1}}, &checked.inputs[0]);
  SetShape({{4, 4}, {1, 40}, {1, 1}}, &checked.inputs[1]);
  SetShape({{4, 4}, {1, 40}}, &checked.inputs[2]);
  checked.inputs[2].least_value = 0.5;
  checked.fit = [](Operands* operands) {
    operands->inputs[1].shape_[1] = operands->inputs[0].shape_[1];
    operands->inputs[2].shape_[1] = operands->inputs[0].shape_[1];
    return true;
  };
  for (auto& output : checked.outputs) output.tolerance.absolute = 1e-3;
  ExpectPasses(checked, 1);
}

}  // namespace
}  // namespace tim::custom_ops
