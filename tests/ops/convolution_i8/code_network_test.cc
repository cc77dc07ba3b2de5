// A network of 8-bit codes is made by the kernels for them, in blocks from end
// to end, with the codes of eval.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

#include "ir/plan.h"
#include "tests/support/plans/plan_steps.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

using vx::DataType;
using vx::QuantType;
using vx::ShapeType;
using vx::TensorAttribute;
using vx::TensorSpec;
using TensorPtr = std::shared_ptr<vx::Tensor>;
using Pair = std::array<uint32_t, 2>;

constexpr uint32_t kBatch = 2;
constexpr uint32_t kClasses = 1000;
constexpr char kConv[] = "ops/convolution_i8/conv2d_nchw16c_i8.cl";
constexpr char kDepthwise[] =
    "ops/convolution_i8/conv2d_depthwise_nchw16c_i8.cl";
constexpr char kReorder[] = "ops/movement/reorder.cl";

enum class Weights { kAsymmetric, kPerChannel };

// Dense uint8 or int8 input, a stem, an inverted bottleneck, groups, classes.
class Network {
 public:
  Network(vx::Context& context, Weights weights)
      : weights_(weights), graph_(context.CreateGraph()) {
    input_ = Values({33, 31, 3, kBatch}, TensorAttribute::INPUT);
    TensorPtr x = Conv(input_, {3, 3, 3, 32}, 2, 0);
    x = Conv(Limited(x), {1, 1, 32, 48}, 1, 0);
    x = Conv(Limited(x), {3, 3, 48, 1}, 1, 1);
    x = Conv(Limited(x), {1, 1, 48, 64}, 1, 0);
    x = Conv(x, {3, 3, 16, 64}, 1, 0);
    x = Conv(Limited(x), {17, 16, 64, 24}, 1, 0, vx::PadType::VALID);
    output_ = Values({kClasses, kBatch}, TensorAttribute::OUTPUT);
    graph_->CreateOperation<vx::ops::FullyConnected>(2, kClasses)
        ->BindInputs({x, Constant({24, kClasses}, 1)})
        .BindOutput(output_);
  }

  std::vector<uint8_t> Run() {
    std::mt19937 rng(3);
    std::vector<uint8_t> pixels(33 * 31 * 3 * kBatch);
    for (uint8_t& pixel : pixels) pixel = static_cast<uint8_t>(rng());
    Write(input_, pixels);
    EXPECT_TRUE(graph_->Run()) << graph_->ErrorMessage();
    return Read<uint8_t>(output_);
  }

  vx::Graph& graph() { return *graph_; }

 private:
  DataType Type() const {
    return weights_ == Weights::kAsymmetric ? DataType::UINT8 : DataType::INT8;
  }

  TensorPtr Values(const ShapeType& shape, TensorAttribute attribute) {
    const int32_t zero = weights_ == Weights::kAsymmetric ? 121 : -7;
    return graph_->CreateTensor(
        TensorSpec(Type(), shape, attribute,
                   vx::Quantization(QuantType::ASYMMETRIC, 0.05f, zero)));
  }

  TensorPtr Constant(const ShapeType& shape, int axis) {
    std::vector<uint8_t> bytes(std::accumulate(
        shape.begin(), shape.end(), size_t{1}, std::multiplies<size_t>()));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(rng_());
    const auto terms = static_cast<float>(bytes.size() / shape[axis]);
    // Results keep the deviation of the inputs.
    const float scale = 1.0f / (75.0f * std::sqrt(terms));
    vx::Quantization quantization(QuantType::ASYMMETRIC, scale, 118);
    if (weights_ == Weights::kPerChannel) {
      quantization = vx::Quantization(QuantType::SYMMETRIC_PER_CHANNEL, axis,
                                      std::vector<float>(shape[axis], scale),
                                      std::vector<int32_t>(shape[axis], 0));
    }
    return graph_->CreateTensor(
        TensorSpec(Type(), shape, TensorAttribute::CONSTANT, quantization),
        bytes.data());
  }

  TensorPtr Conv(const TensorPtr& from, const ShapeType& shape, uint32_t stride,
                 int32_t multiplier, vx::PadType pad = vx::PadType::SAME) {
    const int axis = multiplier > 0 ? 2 : 3;
    const std::vector<int32_t> bias(shape[axis], 250);
    const TensorPtr to = Values({}, TensorAttribute::TRANSIENT);
    graph_
        ->CreateOperation<vx::ops::Conv2d>(pad, Pair{stride, stride},
                                           Pair{1, 1}, multiplier)
        ->BindInputs(
            {from, Constant(shape, axis),
             graph_->CreateTensor(TensorSpec(DataType::INT32, {shape[axis]},
                                             TensorAttribute::CONSTANT),
                                  bias.data())})
        .BindOutput(to);
    return to;
  }

  TensorPtr Limited(const TensorPtr& from) {
    const TensorPtr to = Values({}, TensorAttribute::TRANSIENT);
    graph_->CreateOperation<vx::ops::Relu6>()->BindInput(from).BindOutput(to);
    return to;
  }

  const Weights weights_;
  std::mt19937 rng_{5};
  std::shared_ptr<vx::Graph> graph_;
  TensorPtr input_;
  TensorPtr output_;
};

void Check(Weights weights) {
  const auto device = ContextOn("opencl");
  const auto host = HostContext();
  if (device == nullptr) GTEST_SKIP() << "no OpenCL device";
  Network network(*device, weights);
  ASSERT_TRUE(network.graph().Compile()) << network.graph().ErrorMessage();
  const ir::Plan& plan = *vx::CompiledPlan(network.graph());
  EXPECT_EQ(CountSource(plan, kConv), 5) << ir::Dump(plan);
  const bool quads =
      weights == Weights::kPerChannel && plan.devices[1].has_vnni;
  EXPECT_EQ(CountSource(plan, kDepthwise), 1) << ir::Dump(plan);
  EXPECT_EQ(CountSource(plan, kDepthwise, "-DQUADS="), quads ? 1 : 0)
      << ir::Dump(plan);
  // A convolution of single pixels gives what FullyConnected reads.
  EXPECT_LE(CountSource(plan, kReorder), 1) << ir::Dump(plan);
  EXPECT_GE(CountSource(plan, "ops/gemm/gemm_i8.cl"), 1) << ir::Dump(plan);
  if (plan.devices[1].chains) {
    ASSERT_EQ(plan.chains.size(), 1u) << ir::Dump(plan);
    EXPECT_EQ(plan.chains[0].count, static_cast<int>(plan.steps.size()));
  }
  Network expected(*host, weights);
  ASSERT_TRUE(expected.graph().Compile()) << expected.graph().ErrorMessage();
  EXPECT_EQ(network.Run(), expected.Run());
}

TEST(CodeNetwork, OfAsymmetricWeights) { Check(Weights::kAsymmetric); }

TEST(CodeNetwork, OfWeightsPerChannel) { Check(Weights::kPerChannel); }

}  // namespace
}  // namespace tim::testing
