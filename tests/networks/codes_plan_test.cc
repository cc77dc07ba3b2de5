// A network of 8-bit codes without convolutions, between float tensors: it
// stays in blocks of channels, its ends are converted and reordered at once,
// and it has the bits of eval.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

#include "base/options.h"
#include "device/host/host_device.h"
#include "device/opencl/opencl_device.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/plans/plan_steps.h"
#include "tests/support/status_macros.h"
#include "tests/support/vx/binary_graph.h"
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

constexpr uint32_t kChannels = 48;
const ShapeType kImage = {24, 20, kChannels, 1};
const ShapeType kSmallImage = {12, 10, kChannels, 1};
const ShapeType kChannelValues = {1, 1, kChannels, 1};

// Residual sum, activations, squeeze and excite, concatenation.
class Network {
 public:
  Network(const std::shared_ptr<Context>& context, DataType codes)
      : codes_(codes), graph_(context->CreateGraph()) {
    input_ = Floats(kImage, INPUT);
    TensorPtr x = Apply<ops::DataConvert>(kImage, {input_});
    x = Apply<ops::Pool2d>(kSmallImage, {x}, PoolType::MAX, PadType::SAME,
                           Pair{3, 3}, Pair{2, 2});
    const TensorPtr smooth =
        Apply<ops::Pool2d>(kSmallImage, {x}, PoolType::AVG_ANDROID,
                           PadType::SAME, Pair{3, 3}, Pair{1, 1});
    x = Apply<ops::Add>(kSmallImage, {x, smooth});
    x = Apply<ops::HardSwish>(kSmallImage, {x});
    TensorPtr gate = Apply<ops::ReduceMean>(kChannelValues, {x},
                                            std::vector<int32_t>{0, 1}, true);
    gate = Apply<ops::HardSigmoid>(kChannelValues, {gate}, 0.2f, 0.5f);
    const TensorPtr scaled = Apply<ops::Multiply>(kSmallImage, {x, gate});
    x = Apply<ops::Concat>({12, 10, 2 * kChannels, 1}, {scaled, x}, 2u, 2);
    x = Apply<ops::Pool2d>({6, 5, 2 * kChannels, 1}, {x}, PoolType::AVG,
                           PadType::VALID, Pair{2, 2}, Pair{2, 2});
    output_ = Floats({6, 5, 2 * kChannels, 1}, OUTPUT);
    graph_->CreateOperation<ops::DataConvert>()->BindInput(x).BindOutput(
        output_);
  }

  // The results for `values`.
  std::vector<float> Run(const std::vector<float>& values) {
    EXPECT_TRUE(graph_->Compile()) << graph_->ErrorMessage();
    input_->CopyDataToTensor(values.data());
    EXPECT_TRUE(graph_->Run()) << graph_->ErrorMessage();
    std::vector<float> results(size_t{6} * 5 * 2 * kChannels);
    output_->CopyDataFromTensor(results.data());
    return results;
  }

  const ir::Plan* plan() const { return CompiledPlan(*graph_); }

 private:
  TensorPtr Floats(const ShapeType& shape, TensorAttribute role) {
    return graph_->CreateTensor(TensorSpec(DataType::FLOAT32, shape, role));
  }

  // Every value has codes of its own.
  template <typename Op, typename... Args>
  TensorPtr Apply(const ShapeType& shape, const std::vector<TensorPtr>& inputs,
                  const Args&... args) {
    ++made_;
    const int zero = codes_ == DataType::UINT8 ? 100 + made_ : made_ - 20;
    const Quantization quantization(QuantType::ASYMMETRIC,
                                    0.02f + 0.001f * static_cast<float>(made_),
                                    zero);
    const TensorPtr output = graph_->CreateTensor(
        TensorSpec(codes_, shape, TRANSIENT, quantization));
    graph_->CreateOperation<Op>(args...)->BindInputs(inputs).BindOutput(output);
    return output;
  }

  DataType codes_;
  std::shared_ptr<Graph> graph_;
  TensorPtr input_;
  TensorPtr output_;
  int made_ = 0;
};

std::shared_ptr<Context> OpenClContext() {
  const auto opencl = device::CreateOpenClDevice(0, GetOptions().on_device);
  EXPECT_OK(opencl);
  return CreateContext({device::CreateHostDevice(), *opencl}, {.strict = true});
}

std::vector<float> RandomValues() {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<float> values(size_t{24} * 20 * kChannels);
  for (float& value : values) value = normal(random);
  return values;
}

TEST(CodesPlan, StaysInBlocksWithoutReorder) {
  for (const DataType codes : {DataType::UINT8, DataType::INT8}) {
    Network network(OpenClContext(), codes);
    network.Run(RandomValues());
    const ir::Plan* plan = network.plan();
    ASSERT_NE(plan, nullptr);
    const auto count = [&](const char* source) {
      return testing::CountSource(*plan, source);
    };
    EXPECT_EQ(count("ops/movement/reorder.cl"), 0) << ir::Dump(*plan);
    EXPECT_EQ(count("ops/elementwise/data_convert_blocks.cl"), 2);
    EXPECT_EQ(count("ops/pooling/pool2d_nchw16c_codes.cl"), 3);
    EXPECT_EQ(count("ops/elementwise/elementwise.cl"), 2);
    // Two operators are tables; the two parts of Concat are where processors
    // pick many bytes of a table at once.
    EXPECT_EQ(count("ops/elements/unary_table.cl") +
                  count("ops/elementwise/data_convert.cl"),
              4);
  }
}

TEST(CodesPlan, HasTheBitsOfEval) {
  const auto host = CreateContext({device::CreateHostDevice()}, {});
  const std::vector<float> values = RandomValues();
  for (const DataType codes : {DataType::UINT8, DataType::INT8}) {
    EXPECT_EQ(Network(OpenClContext(), codes).Run(values),
              Network(host, codes).Run(values));
  }
}

// A float32 convolution between conversions from and to codes.
struct Converted {
  Converted(const std::shared_ptr<Context>& context,
            ops::DataConvert::Folding folding)
      : graph(context->CreateGraph()) {
    const ShapeType image = {9, 7, 16, 1};
    const auto real = [&](const TensorPtr& codes) {
      const TensorPtr made = graph->CreateTensor(
          TensorSpec(DataType::FLOAT32, codes->GetShape(), TRANSIENT));
      graph->CreateOperation<ops::DataConvert>(folding)
          ->BindInput(codes)
          .BindOutput(made);
      return made;
    };
    input = graph->CreateTensor(
        TensorSpec(DataType::UINT8, image, INPUT,
                   Quantization(QuantType::ASYMMETRIC, 0.02f, 128)));
    std::vector<int8_t> weights(size_t{3} * 3 * 16 * 16);
    std::mt19937 random(5);
    for (int8_t& code : weights) {
      code = static_cast<int8_t>(random() % 255 - 127);
    }
    const TensorPtr constant = graph->CreateTensor(
        TensorSpec(DataType::INT8, {3, 3, 16, 16}, CONSTANT,
                   Quantization(QuantType::ASYMMETRIC, 0.01f, 0)),
        weights.data());
    const TensorPtr sums =
        graph->CreateTensor(TensorSpec(DataType::FLOAT32, image, TRANSIENT));
    (*graph->CreateOperation<ops::Conv2d>(PadType::SAME, Pair{1, 1},
                                          Pair{1, 1}))
        .BindInputs({real(input), real(constant)})
        .BindOutput(sums);
    output = graph->CreateTensor(
        TensorSpec(DataType::UINT8, image, OUTPUT,
                   Quantization(QuantType::ASYMMETRIC, 0.2f, 128)));
    graph->CreateOperation<ops::DataConvert>(folding)
        ->BindInput(sums)
        .BindOutput(output);
  }

  std::shared_ptr<Graph> graph;
  TensorPtr input;
  TensorPtr output;
};

int Conversions(const Graph& graph) {
  const ir::Plan* plan = CompiledPlan(graph);
  if (plan == nullptr) return -1;
  return testing::CountSource(*plan, "ops/elementwise/data_convert.cl") +
         testing::CountSource(*plan, "ops/elementwise/data_convert_blocks.cl");
}

TEST(CodesPlan, FoldsConversionsThatAllowIt) {
  using Folding = ops::DataConvert::Folding;
  Converted plain(OpenClContext(), Folding::NONE);
  ASSERT_TRUE(plain.graph->Compile()) << plain.graph->ErrorMessage();
  EXPECT_EQ(Conversions(*plain.graph), 2);
  Converted folded(OpenClContext(), Folding::ALLOWED);
  ASSERT_TRUE(folded.graph->Compile()) << folded.graph->ErrorMessage();
  EXPECT_EQ(Conversions(*folded.graph), 0);
}

// A plan of the host is of no use to a device, which compiles the graph anew.
TEST(CodesPlan, FoldsConversionsOfABinaryGraph) {
  Converted source(CreateContext({device::CreateHostDevice()}, {}),
                   ops::DataConvert::Folding::ALLOWED);
  const testing::LoadedBinary loaded(testing::ToBinary(*source.graph),
                                     *source.graph,
                                     OpenClContext()->CreateGraph());
  ASSERT_TRUE(loaded.graph->Compile()) << loaded.graph->ErrorMessage();
  EXPECT_EQ(Conversions(*loaded.graph), 0);
}

}  // namespace
}  // namespace tim::vx
