// What the constants of graphs cost, and how long they live.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "base/memory_count.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/vx/vx_graph.h"
#include "tim/vx/platform/native.h"
#include "tim/vx/shared_constant.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

TIM_FOR_CPU_KERNELS();

using vx::TensorAttribute;
using TensorPtr = std::shared_ptr<vx::Tensor>;
using Values = std::vector<float>;

// Residual blocks of two 3x3 convolutions on small images, as in the last
// stage of ResNet, and a fully connected layer.
class SmallResNet {
 public:
  static constexpr uint32_t kSize = 7;
  static constexpr uint32_t kChannels = 128;
  static constexpr uint32_t kClasses = 128;

  explicit SmallResNet(vx::Context& context) : graph_(context.CreateGraph()) {
    input_ = graph_->CreateTensor(
        Floats({kSize, kSize, kChannels, 1}, TensorAttribute::INPUT));
    TensorPtr x = input_;
    for (float block = 0; block < 3; ++block) {
      const TensorPtr y = Relu(Conv2d(x, 0.25f + block));
      x = Relu(Add(x, Conv2d(y, 0.5f + block)));
    }
    output_ =
        graph_->CreateTensor(Floats({kClasses, 1}, TensorAttribute::OUTPUT));
    weights_ = Constant({kSize * kSize * kChannels, kClasses}, 0.75f);
    graph_->CreateOperation<vx::ops::FullyConnected>(2)
        ->BindInputs({x, weights_, Constant({kClasses}, 1)})
        .BindOutput(output_);
  }

  static Values Image() { return Values(kSize * kSize * kChannels, 0.01f); }
  Values Run() {
    Write(input_, Image());
    EXPECT_TRUE(graph_->Run()) << vx::LastError();
    return Read(output_);
  }

  std::vector<char> Binary() {
    size_t size = 0;
    EXPECT_TRUE(graph_->CompileToBinary(nullptr, &size)) << vx::LastError();
    std::vector<char> binary(size);
    EXPECT_TRUE(graph_->CompileToBinary(binary.data(), &size))
        << vx::LastError();
    return binary;
  }

  vx::Graph& graph() { return *graph_; }
  const std::shared_ptr<vx::Graph>& pointer() const { return graph_; }
  /// Weights of the last convolution.
  const TensorPtr& filters() const { return filters_; }
  int64_t weight_bytes() const { return weight_bytes_; }
  /// Of the fully connected layer, which is not packed.
  static constexpr int64_t kPlainBytes =
      4 * kSize * kSize * kChannels * kClasses;
  /// Of the fully connected layer.
  void SetWeights(float scale) {
    Write(weights_, Pattern(kSize * kSize * kChannels * kClasses, scale));
  }

 private:
  static Values Pattern(size_t count, float scale) {
    Values values(count);
    for (size_t i = 0; i < count; ++i) {
      values[i] = scale * (static_cast<float>(i % 17) - 8) / 4096;
    }
    return values;
  }

  TensorPtr Transient() {
    return graph_->CreateTensor(Floats({}, TensorAttribute::TRANSIENT));
  }
  TensorPtr Constant(const vx::ShapeType& shape, float scale) {
    const vx::TensorSpec spec = Floats(shape, TensorAttribute::CONSTANT);
    weight_bytes_ += spec.GetByteSize();
    return graph_->CreateTensor(
        spec, Pattern(static_cast<size_t>(spec.GetElementNum()), scale).data());
  }
  TensorPtr Conv2d(const TensorPtr& x, float scale) {
    const TensorPtr y = Transient();
    filters_ = Constant({3, 3, kChannels, kChannels}, scale);
    graph_
        ->CreateOperation<vx::ops::Conv2d>(std::array<uint32_t, 4>{1, 1, 1, 1},
                                           std::array<uint32_t, 2>{1, 1},
                                           std::array<uint32_t, 2>{1, 1}, 0)
        ->BindInputs({x, filters_, Constant({kChannels}, scale)})
        .BindOutput(y);
    return y;
  }
  TensorPtr Relu(const TensorPtr& x) {
    const TensorPtr y = Transient();
    graph_->CreateOperation<vx::ops::Relu>()->BindInput(x).BindOutput(y);
    return y;
  }
  TensorPtr Add(const TensorPtr& x, const TensorPtr& y) {
    const TensorPtr sum = Transient();
    graph_->CreateOperation<vx::ops::Add>()->BindInputs({x, y}).BindOutput(sum);
    return sum;
  }

  std::shared_ptr<vx::Graph> graph_;
  TensorPtr input_, output_, weights_, filters_;
  int64_t weight_bytes_ = 0;
};

class ConstantMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    context_ = ContextOn("opencl");
    if (context_ == nullptr) GTEST_SKIP() << "no OpenCL device";
  }
  std::shared_ptr<vx::Context> context_;
};

TEST_F(ConstantMemory, IsHeldOnceByACompiledGraph) {
  const int64_t before = CountedMemory();
  {
    SmallResNet network(*context_);
    network.Run();
    const auto held = static_cast<double>(CountedMemory() - before);
    const auto weights = static_cast<double>(network.weight_bytes());
    EXPECT_LE(held, 1.05 * weights);
    EXPECT_GE(held, weights);
  }
  EXPECT_EQ(CountedMemory(), before);
}

TEST_F(ConstantMemory, IsMadeAgainForWhoReadsIt) {
  SmallResNet network(*context_);
  const Values weights = Read(network.filters());
  network.Run();
  const int64_t held = CountedMemory();
  EXPECT_EQ(Read(network.filters()), weights);
  EXPECT_EQ(CountedMemory(), held);
}

TEST_F(ConstantMemory, IsMadeAgainForATensorThatOutlivesItsGraph) {
  auto network = std::make_unique<SmallResNet>(*context_);
  const Values weights = Read(network->filters());
  network->Run();
  const TensorPtr filters = network->filters();
  network = nullptr;
  EXPECT_EQ(Read(filters), weights);
}

TEST_F(ConstantMemory, IsMadeAgainForAGraphThatHasChanged) {
  SmallResNet network(*context_);
  const Values first = network.Run();
  const Values weights = Read(network.filters());
  const int64_t held = CountedMemory();
  Write(network.filters(), Values(weights.size()));
  EXPECT_NE(network.Run(), first);
  EXPECT_EQ(CountedMemory(), held);
  Write(network.filters(), weights);
  EXPECT_EQ(network.Run(), first);
  EXPECT_EQ(CountedMemory(), held);
}

TEST_F(ConstantMemory, IsMadeAgainForABinaryGraph) {
  SmallResNet network(*context_);
  const Values expected = network.Run();
  const int64_t held = CountedMemory();
  const auto binary = network.Binary();
  EXPECT_EQ(CountedMemory(), held);
  const auto graph = context_->CreateGraph();
  const TensorPtr input = graph->CreateTensor(Floats(
      {SmallResNet::kSize, SmallResNet::kSize, SmallResNet::kChannels, 1},
      TensorAttribute::INPUT));
  const TensorPtr output = graph->CreateTensor(
      Floats({SmallResNet::kClasses, 1}, TensorAttribute::OUTPUT));
  graph->CreateOperation<vx::ops::NBG>(binary.data(), size_t{1}, size_t{1})
      ->BindInput(input)
      .BindOutput(output);
  Write(input, SmallResNet::Image());
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(output), expected);
}

// Executables have the bytes, once for all of them, as long as they are there.
TEST_F(ConstantMemory, IsMadeAgainOnceForExecutables) {
  const auto executor = vx::platform::IDevice::Enumerate()[0]->CreateExecutor();
  ASSERT_NE(executor, nullptr) << vx::LastError();
  SmallResNet network(*executor->Contex());
  const Values expected = network.Run();
  const int64_t held = CountedMemory();
  auto first = executor->Compile(network.pointer());
  ASSERT_NE(first, nullptr) << vx::LastError();
  const int64_t with_one = CountedMemory();
  auto second = executor->Compile(network.pointer());
  ASSERT_NE(second, nullptr) << vx::LastError();
  EXPECT_GT(with_one, held);
  EXPECT_LT(CountedMemory() - with_one, (with_one - held) / 10);
  first = second = nullptr;
  EXPECT_EQ(CountedMemory(), held);
  EXPECT_EQ(network.Run(), expected);
}

TEST_F(ConstantMemory, OfTheClientIsNotHeldBesideWhatIsPacked) {
  const auto graph = context_->CreateGraph();
  auto weights = std::make_shared<Values>(64 * 64);
  for (size_t i = 0; i < weights->size(); ++i) {
    (*weights)[i] = static_cast<float>(i);
  }
  const Values expected = *weights;
  const std::weak_ptr<Values> client = weights;
  const TensorPtr filters = vx::CreateSharedConstant(
      graph, Floats({1, 1, 64, 64}, TensorAttribute::CONSTANT),
      std::shared_ptr<const void>(weights, weights->data()));
  weights = nullptr;
  graph
      ->CreateOperation<vx::ops::Conv2d>(vx::PadType::VALID,
                                         std::array<uint32_t, 2>{1, 1},
                                         std::array<uint32_t, 2>{1, 1})
      ->BindInputs(
          {graph->CreateTensor(Floats({5, 5, 64, 1}, TensorAttribute::INPUT)),
           filters})
      .BindOutput(
          graph->CreateTensor(Floats({5, 5, 64, 1}, TensorAttribute::OUTPUT)));
  EXPECT_FALSE(client.expired());
  ASSERT_TRUE(graph->Compile()) << vx::LastError();
  EXPECT_TRUE(client.expired());
  EXPECT_EQ(Read(filters), expected);
}

// Weights of 3x3 and of 1x1 convolutions, and of a fully connected layer.
class CodeConstants : public ConstantMemory,
                      public ::testing::WithParamInterface<vx::DataType> {
 protected:
  static constexpr uint32_t kSize = 6;
  static constexpr uint32_t kChannels = 80;
  static constexpr uint32_t kClasses = 128;

  vx::TensorSpec Codes(const vx::ShapeType& shape, TensorAttribute attribute) {
    vx::TensorSpec spec(GetParam(), shape, attribute);
    const bool is_signed = GetParam() == vx::DataType::INT8;
    return spec.SetQuantization(
        vx::Quantization(vx::QuantType::ASYMMETRIC, 0.5f, is_signed ? 3 : 131));
  }
  // All codes, in no period of the kernels'.
  TensorPtr Weights(const vx::ShapeType& shape) {
    const vx::TensorSpec spec = Codes(shape, TensorAttribute::CONSTANT);
    std::vector<uint8_t>& codes = codes_.emplace_back(spec.GetElementNum());
    for (size_t i = 0; i < codes.size(); ++i) {
      codes[i] = static_cast<uint8_t>(i * 89 + i / 251);
    }
    return tensors_.emplace_back(graph_->CreateTensor(spec, codes.data()));
  }
  TensorPtr Conv2d(const TensorPtr& x, uint32_t kernel) {
    const TensorPtr y =
        graph_->CreateTensor(Codes({}, TensorAttribute::TRANSIENT));
    graph_
        ->CreateOperation<vx::ops::Conv2d>(vx::PadType::SAME,
                                           std::array<uint32_t, 2>{1, 1},
                                           std::array<uint32_t, 2>{1, 1})
        ->BindInputs({x, Weights({kernel, kernel, kChannels, kChannels})})
        .BindOutput(y);
    return y;
  }

  std::shared_ptr<vx::Graph> graph_;
  std::vector<TensorPtr> tensors_;
  std::vector<std::vector<uint8_t>> codes_;
};

TEST_P(CodeConstants, AreHeldOnceAndMadeAgain) {
  graph_ = context_->CreateGraph();
  const TensorPtr input = graph_->CreateTensor(
      Codes({kSize, kSize, kChannels, 1}, TensorAttribute::INPUT));
  const TensorPtr output =
      graph_->CreateTensor(Codes({kClasses, 1}, TensorAttribute::OUTPUT));
  const int64_t before = CountedMemory();
  const TensorPtr x = Conv2d(Conv2d(input, 3), 1);
  graph_->CreateOperation<vx::ops::FullyConnected>(2)
      ->BindInputs({x, Weights({kSize * kSize * kChannels, kClasses})})
      .BindOutput(output);
  const int64_t weights = CountedMemory() - before;
  ASSERT_TRUE(graph_->Compile()) << vx::LastError();
  EXPECT_LT(CountedMemory() - before, 1.25 * weights);
  for (size_t i = 0; i < tensors_.size(); ++i) {
    EXPECT_EQ(Read<uint8_t>(tensors_[i]), codes_[i]) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, CodeConstants,
                         ::testing::Values(vx::DataType::INT8,
                                           vx::DataType::UINT8));

TEST_F(ConstantMemory, OfADeviceIsOneBlockAndWhatIsReadInPlace) {
  SmallResNet network(*context_);
  ASSERT_TRUE(network.graph().Compile()) << vx::LastError();
  const ir::Plan& plan = *vx::CompiledPlan(network.graph());
  ASSERT_EQ(plan.constants.size(), 2u);
  const bool block_first = plan.constants[0].constants.size() > 1;
  const ir::ConstantBlock& block = plan.constants[block_first ? 0 : 1];
  const ir::ConstantBlock& in_place = plan.constants[block_first ? 1 : 0];
  EXPECT_EQ(block.device, 1);
  EXPECT_GE(block.constants.size(), 13u);
  EXPECT_EQ(in_place.device, 1);
  EXPECT_EQ(in_place.constants.size(), 1u);
  EXPECT_EQ(in_place.bytes, SmallResNet::kPlainBytes);
}

TEST_F(ConstantMemory, IsReplacedWhenAConstantIsWritten) {
  SmallResNet network(*context_);
  const Values first = network.Run();
  const int64_t held = CountedMemory();
  network.SetWeights(0.25f);
  const Values second = network.Run();
  EXPECT_NE(first, second);
  EXPECT_EQ(CountedMemory(), held);
  network.SetWeights(0.75f);
  EXPECT_EQ(network.Run(), first);
  EXPECT_EQ(CountedMemory(), held);
}

TEST_F(ConstantMemory, IsFreedBeforeItIsReplaced) {
  const int64_t before = CountedMemory();
  SmallResNet network(*context_);
  int64_t compiling = 0;
  network.graph().Override<vx::ops::Relu>(
      [&](vx::Graph* graph, const vx::Operation&) {
        compiling = CountedMemory() - before;
        return graph->CreateOperation<vx::ops::Relu>();
      });
  for (const float scale : {0.25f, 0.5f}) {
    network.SetWeights(scale);
    network.Run();
    EXPECT_LE(static_cast<double>(compiling),
              1.1 * static_cast<double>(network.weight_bytes()));
  }
}

TEST_F(ConstantMemory, OfGraphsIsTheirOwn) {
  const int64_t before = CountedMemory();
  auto first = std::make_unique<SmallResNet>(*context_);
  SmallResNet second(*context_);
  const Values expected = first->Run();
  EXPECT_EQ(second.Run(), expected);
  const int64_t both = CountedMemory() - before;
  first = nullptr;
  EXPECT_EQ(CountedMemory() - before, both / 2);
  EXPECT_EQ(second.Run(), expected);
}

TEST_F(ConstantMemory, OutlivesTheContext) {
  SmallResNet network(*context_);
  const Values expected = network.Run();
  context_ = nullptr;
  EXPECT_EQ(network.Run(), expected);
}

}  // namespace
}  // namespace tim::testing
