// The plan of the demo's network: kernels, layouts, reorders and memory.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "base/options.h"
#include "custom_ops/softmax_cl.h"
#include "device/host/host_device.h"
#include "device/opencl/opencl_device.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/long_tests.h"
#include "tests/support/plans/plan_steps.h"
#include "tests/support/status_macros.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/ops.h"
#include "vx/graph/context_impl.h"
#include "vx/graph/graph_impl.h"

namespace tim::vx {
namespace {

TIM_FOR_CPU_KERNELS();

using TensorPtr = std::shared_ptr<Tensor>;
using Pair = std::array<uint32_t, 2>;

// conv 3x3 - relu - conv 3x3 - relu - max pool - fc - relu - fc - softmax, the
// last a custom operator, as samples/digits builds it, with seeded weights.
class Network {
 public:
  Network(DataType type, uint32_t batch) : type_(type) {
    const auto opencl = device::CreateOpenClDevice(0, GetOptions().on_device);
    EXPECT_OK(opencl);
    graph_ =
        CreateContext({device::CreateHostDevice(), *opencl}, {.strict = true})
            ->CreateGraph();
    TensorPtr x = Make(type, {16, 16, 1, batch}, INPUT);
    x = Relu(Conv(x, 1, 32));
    x = Relu(Conv(x, 32, 64));
    x = MaxPool(x);
    x = Relu(Dense(x, 2, 8 * 8 * 64, 64));
    x = Dense(x, 0, 64, 10);
    const TensorPtr y = graph_->CreateTensor(
        TensorSpec(DataType::FLOAT32, {10, batch}, OUTPUT));
    graph_->CreateOperation<custom_ops::SoftmaxCl>()->BindInput(x).BindOutput(
        y);
  }

  const ir::Plan* Compile() {
    if (!graph_->Compile() || !graph_->Run()) {
      ADD_FAILURE() << graph_->ErrorMessage();
      return nullptr;
    }
    return CompiledPlan(*graph_);
  }

 private:
  TensorPtr Make(DataType type, const ShapeType& shape,
                 TensorAttribute attribute, const void* data = nullptr) {
    TensorSpec spec(type, shape, attribute);
    if (type == DataType::UINT8) {
      spec.SetQuantization(Quantization(QuantType::ASYMMETRIC, 0.5f, 0));
    }
    return graph_->CreateTensor(spec, data);
  }
  TensorPtr Weights(const ShapeType& shape) {
    size_t count = 1;
    for (const uint32_t dim : shape) count *= dim;
    if (type_ == DataType::UINT8) {
      std::vector<uint8_t> codes(count);
      for (uint8_t& code : codes) code = static_cast<uint8_t>(rng_());
      return Make(type_, shape, CONSTANT, codes.data());
    }
    std::vector<float> values(count);
    for (float& v : values) v = static_cast<float>(rng_() % 200) / 100 - 1;
    return Make(type_, shape, CONSTANT, values.data());
  }
  template <typename Op>
  TensorPtr Bind(const std::shared_ptr<Op>& op,
                 const std::vector<TensorPtr>& inputs) {
    const TensorPtr y = Make(type_, {}, TRANSIENT);
    op->BindInputs(inputs).BindOutput(y);
    return y;
  }
  TensorPtr Conv(const TensorPtr& x, uint32_t in, uint32_t out) {
    return Bind(graph_->CreateOperation<ops::Conv2d>(PadType::SAME, Pair{1, 1},
                                                     Pair{1, 1}),
                {x, Weights({3, 3, in, out})});
  }
  TensorPtr Dense(const TensorPtr& x, uint32_t axis, uint32_t in,
                  uint32_t out) {
    return Bind(graph_->CreateOperation<ops::FullyConnected>(axis, out),
                {x, Weights({in, out})});
  }
  TensorPtr Relu(const TensorPtr& x) {
    return Bind(graph_->CreateOperation<ops::Relu>(), {x});
  }
  TensorPtr MaxPool(const TensorPtr& x) {
    return Bind(graph_->CreateOperation<ops::Pool2d>(
                    PoolType::MAX, PadType::VALID, Pair{2, 2}, Pair{2, 2}),
                {x});
  }

  DataType type_;
  std::mt19937 rng_{20261121};
  std::shared_ptr<Graph> graph_;
};

TEST(DigitsPlan, ConvolutionsAreBlockedAndActivationsFused) {
  Network network(DataType::FLOAT32, 8);
  const ir::Plan* plan = network.Compile();
  ASSERT_NE(plan, nullptr);
  SCOPED_TRACE(ir::Dump(*plan));
  EXPECT_EQ(testing::CountSource(*plan, "ops/elements/unary.cl"), 0);
  EXPECT_GE(testing::CountSource(*plan, "ops/convolution/conv2d_nchw16c.cl"),
            1);
  EXPECT_EQ(testing::CountSource(*plan, "ops/pooling/pool2d_nchw16c.cl"), 1);
  EXPECT_LE(testing::CountSource(*plan, "ops/movement/reorder.cl"), 2);
}

TEST(DigitsPlan, MemoryIsWithinFivePercentOfItsBound) {
  testing::Sample sample(3);
  for (const DataType type : {DataType::FLOAT32, DataType::UINT8}) {
    for (const uint32_t batch : {1u, 8u}) {
      if (!sample.Takes()) continue;
      Network network(type, batch);
      const ir::Plan* plan = network.Compile();
      ASSERT_NE(plan, nullptr);
      EXPECT_GT(plan->memory.lower_bound, 0);
      EXPECT_LE(plan->memory.peak, 1.05 * plan->memory.lower_bound);
      EXPECT_LT(plan->memory.peak, plan->memory.no_reuse_sum);
      EXPECT_OK(ir::Verify(*plan));
    }
  }
}

TEST(DigitsPlan, EndsInTheUsersKernel) {
  for (const DataType type : {DataType::FLOAT32, DataType::UINT8}) {
    Network network(type, 2);
    const ir::Plan* plan = network.Compile();
    ASSERT_NE(plan, nullptr);
    int user_kernels = 0;
    for (const ir::Step& step : plan->steps) {
      user_kernels += std::holds_alternative<ir::UserLaunch>(step.action);
    }
    EXPECT_EQ(user_kernels, 1);
  }
}

TEST(DigitsPlan, QuantizedNetworkHasNoHostStep) {
  Network network(DataType::UINT8, 2);
  const ir::Plan* plan = network.Compile();
  ASSERT_NE(plan, nullptr);
  for (const ir::Step& step : plan->steps) {
    EXPECT_FALSE(std::holds_alternative<ir::HostCall>(step.action))
        << step.label;
  }
  EXPECT_EQ(testing::CountSource(*plan, "ops/elements/unary.cl"), 0);
  EXPECT_EQ(testing::CountSource(*plan, "ops/elements/unary_table.cl"), 0);
}

}  // namespace
}  // namespace tim::vx
