// The kernel rmsnormalization_f32: lengths of rows, fusion, chains, refusals.
#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/status_macros.h"
#include "tests/support/vx/chained_kernels.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

TIM_FOR_CPU_KERNELS();

using ir::TensorDesc;
using Ints = std::vector<int64_t>;

constexpr char kKernel[] = "rmsnormalization_f32";

TensorDesc F32(Ints shape) {
  return Desc(ir::DataType::kFloat32, std::move(shape));
}

// A node with a constant gamma.
Result<TestNode> RmsNorm(Ints shape, Ints gamma, int64_t axis = 0) {
  std::mt19937 rng = SeededRng(51);
  return MakeNode("tim.RmsNormalization", {{"axis", axis}, {"eps", 1e-5}},
                  {F32(shape), F32(gamma)}, {F32(shape)},
                  {{1, RandomTensor(F32(gamma), rng)}});
}

TEST(RmsNormalizationF32, EqualsEvalAroundVectorsAndGroups) {
  std::mt19937 rng = SeededRng(52);
  for (const int64_t count : {32, 33, 47, 63, 64, 65, 127, 129, 1000}) {
    for (const int64_t rows : {1, 3, 63, 70}) {
      SCOPED_TRACE(StrCat(rows, " rows of ", count));
      const auto node = RmsNorm({count, rows}, {count});
      ASSERT_OK(node);
      ASSERT_OK(Supports(*node, kKernel));
      EXPECT_OK(CheckKernels(*node, rng));
    }
  }
}

TEST(RmsNormalizationF32, FusedOperatorsHaveTheBitsOfTheOperators) {
  std::mt19937 rng = SeededRng(53);
  const TensorDesc y = F32({65, 4});
  const auto norm = RmsNorm({65, 4}, {65});
  ASSERT_OK(norm);
  const auto add = Fuse(*norm, "tim.Add", {}, {F32({65})}, y);
  ASSERT_OK(add);
  const auto sum = Fuse(*add, "tim.Add", {}, {y}, y);
  ASSERT_OK(sum);
  for (const char* op : {"tim.Relu", "tim.Swish"}) {
    const auto fused = Fuse(*sum, op, {}, {}, y);
    ASSERT_OK(fused);
    ASSERT_OK(Supports(*fused, kKernel));
    EXPECT_OK(CheckKernels(*fused, rng)) << op;
  }
}

TEST(RmsNormalizationF32, Refusals) {
  const auto refusal = [](const Result<TestNode>& node) {
    return node.ok() ? Supports(*node, kKernel) : node.status();
  };
  EXPECT_ERROR(refusal(RmsNorm({40, 33}, {33}, 1)), "takes axis 0, not 1");
  EXPECT_ERROR(refusal(RmsNorm({31, 2}, {31})), "rows of 32 elements or more");
  EXPECT_ERROR(refusal(RmsNorm({32, 32}, {1, 32})), "a gamma along the rows");
  const ir::AttributeMap attributes = {{"axis", int64_t{0}}, {"eps", 1e-5}};
  const auto refusal_of = [&](const TensorDesc& x, const TensorDesc& gamma) {
    return refusal(
        MakeNode("tim.RmsNormalization", attributes, {x, gamma}, {x}));
  };
  const TensorDesc half = Desc(ir::DataType::kFloat16, {40});
  EXPECT_ERROR(refusal_of(F32({40}), F32({40})), "a constant gamma only");
  EXPECT_ERROR(refusal_of(F32({40}), half), "input 1 is float16");
  EXPECT_ERROR(refusal_of(half, half), "the output is float16");
  const auto node = RmsNorm({40}, {40});
  ASSERT_OK(node);
  EXPECT_ERROR(Supports(*node, kKernel, TestDevice(ir::DeviceClass::kGpu)),
               "for CPU devices");
}

// Two of normalization, Add of a vector, Add of `other` and Swish.
struct Blocks {
  Blocks(vx::Context& context, uint32_t count, uint32_t rows)
      : graph(context.CreateGraph()),
        shape({count, rows}),
        input(graph->CreateTensor(Floats(shape, vx::INPUT))),
        other(graph->CreateTensor(Floats(shape, vx::INPUT))),
        output(graph->CreateTensor(Floats(shape, vx::OUTPUT))) {
    AddBlock(AddBlock(input, nullptr), output);
  }

  std::shared_ptr<vx::Tensor> Vector() {
    const TensorData data = RandomTensor(F32({shape[0]}), rng);
    return graph->CreateTensor(Floats({shape[0]}, vx::CONSTANT),
                               data.bytes.data());
  }
  std::shared_ptr<vx::Tensor> Add(
      std::shared_ptr<vx::Operation> operation,
      const std::vector<std::shared_ptr<vx::Tensor>>& inputs,
      std::shared_ptr<vx::Tensor> result = nullptr) {
    if (result == nullptr) {
      result = graph->CreateTensor(Floats(shape, vx::TRANSIENT));
    }
    operation->BindInputs(inputs).BindOutput(result);
    return result;
  }
  std::shared_ptr<vx::Tensor> AddBlock(std::shared_ptr<vx::Tensor> x,
                                       std::shared_ptr<vx::Tensor> result) {
    x = Add(graph->CreateOperation<vx::ops::RmsNormalization>(0, 1e-5f),
            {x, Vector()});
    x = Add(graph->CreateOperation<vx::ops::Add>(), {x, Vector()});
    x = Add(graph->CreateOperation<vx::ops::Add>(), {x, other});
    return Add(graph->CreateOperation<vx::ops::Swish>(), {x}, result);
  }
  std::vector<float> Run(const TensorData& x, const TensorData& y) {
    Write(input, Values<float>(x));
    Write(other, Values<float>(y));
    EXPECT_TRUE(graph->Run()) << graph->ErrorMessage();
    return Read(output);
  }

  std::mt19937 rng = SeededRng(54);
  std::shared_ptr<vx::Graph> graph;
  vx::ShapeType shape;
  std::shared_ptr<vx::Tensor> input;
  std::shared_ptr<vx::Tensor> other;
  std::shared_ptr<vx::Tensor> output;
};

class RmsNormalizationF32Chains : public ChainedKernels {};

TEST_F(RmsNormalizationF32Chains, HaveTheBitsOfTheHost) {
  std::mt19937 rng = SeededRng(55);
  for (const uint32_t count : {1, 3, 7, 17, 1000, 4096}) {
    for (const uint32_t rows : {1, 5}) {
      SCOPED_TRACE(StrCat(rows, " rows of ", count));
      const TensorDesc desc = F32({count, rows});
      const TensorData x = RandomTensor(desc, rng);
      const TensorData y = RandomTensor(desc, rng);
      const size_t before = device_->chained();
      const auto chained = Blocks(*chained_, count, rows).Run(x, y);
      if (count >= 32) {
        // A kernel for each block.
        EXPECT_EQ(device_->chained() - before, 2u);
      }
      EXPECT_EQ(chained, Blocks(*single_, count, rows).Run(x, y));
      EXPECT_EQ(chained, Blocks(*HostContext(), count, rows).Run(x, y));
    }
  }
}

}  // namespace
}  // namespace tim::testing
