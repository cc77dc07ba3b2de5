// Kernels of one text with other options in one chain: the results are the bits
// of the same kernels launched one by one.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/support/long_tests.h"
#include "tests/support/vx/chained_kernels.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/graph_impl.h"

namespace tim::vx {
namespace {

using testing::ChainedKernels;
using testing::Floats;
using Array2 = std::array<uint32_t, 2>;

// Operators side by side that read one input.
struct Siblings {
  explicit Siblings(Context& context) : graph(context.CreateGraph()) {}

  std::shared_ptr<Tensor> Transient() {
    return graph->CreateTensor(Floats({0, 0, 0, 0}, TRANSIENT));
  }
  std::shared_ptr<Tensor> Result(const ShapeType& shape) {
    outputs.push_back(graph->CreateTensor(Floats(shape, OUTPUT)));
    return outputs.back();
  }
  std::vector<std::vector<float>> Run() {
    std::vector<float> values(input->GetSpec().GetElementNum());
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(static_cast<int>(i * 7 % 41) - 20) / 8;
    }
    testing::Write(input, values);
    EXPECT_TRUE(graph->Run()) << graph->ErrorMessage();
    std::vector<std::vector<float>> all;
    for (const auto& output : outputs) all.push_back(testing::Read(output));
    return all;
  }

  std::shared_ptr<Graph> graph;
  std::shared_ptr<Tensor> input;
  std::vector<std::shared_ptr<Tensor>> outputs;
};

// What is fused is an option of the kernel's text.
struct Convolutions : Siblings {
  explicit Convolutions(Context& context) : Siblings(context) {
    input = graph->CreateTensor(Floats({9, 7, 16, 1}, INPUT));
    Add<ops::Relu>(3);
    Add<ops::HardSwish>(3);
    Add<ops::Relu6>(1);
    if (!testing::RunsLongTests()) return;
    Add<ops::Tanh>(3);
    Add<ops::Sigmoid>(1);
    Add<ops::Relu>(1);
  }
  template <typename Op>
  void Add(uint32_t size) {
    std::vector<float> weights(size * size * 16 * 32);
    for (size_t i = 0; i < weights.size(); ++i) {
      weights[i] = static_cast<float>(i % 13) / 64 - 0.1f;
    }
    const auto sum = Transient();
    graph
        ->CreateOperation<ops::Conv2d>(PadType::SAME, Array2{1, 1},
                                       Array2{1, 1})
        ->BindInputs(
            {input, graph->CreateTensor(Floats({size, size, 16, 32}, CONSTANT),
                                        weights.data())})
        .BindOutput(sum);
    graph->CreateOperation<Op>()->BindInput(sum).BindOutput(
        Result({9, 7, 32, 1}));
  }
};

// So is the type of indices.
struct Gathers : Siblings {
  explicit Gathers(Context& context) : Siblings(context) {
    input = graph->CreateTensor(Floats({5, 8}, INPUT));
    Add<int32_t>(DataType::INT32);
    Add<int16_t>(DataType::INT16);
    Add<int8_t>(DataType::INT8);
    Add<int32_t>(DataType::INT32);
  }
  template <typename T>
  void Add(DataType type) {
    const std::vector<T> indices = {6, 0, 3, 7, 1, 2};
    graph->CreateOperation<ops::Gather>(1)
        ->BindInputs(
            {input, graph->CreateTensor(TensorSpec(type, {6}, CONSTANT),
                                        indices.data())})
        .BindOutput(Result({5, 6}));
  }
};

// And the words that a constant fills.
struct Pads : Siblings {
  explicit Pads(Context& context) : Siblings(context) {
    input = graph->CreateTensor(Floats({5, 8}, INPUT));
    Add(DataType::FLOAT32);
    Add(DataType::FLOAT16);
    Add(DataType::UINT8);
  }
  void Add(DataType type) {
    using Ints = std::vector<uint32_t>;
    TensorSpec spec = Floats({5, 8}, TRANSIENT);
    TensorSpec padded = Floats({40, 11}, TRANSIENT);
    for (TensorSpec* each : {&spec, &padded}) {
      each->SetDataType(type);
      if (type != DataType::UINT8) continue;
      Quantization codes(QuantType::ASYMMETRIC, 0.03f, 90);
      each->SetQuantization(codes);
    }
    const auto x = graph->CreateTensor(spec);
    const auto y = graph->CreateTensor(padded);
    graph->CreateOperation<ops::DataConvert>()->BindInput(input).BindOutput(x);
    graph->CreateOperation<ops::PadV2>(Ints{17, 1}, Ints{18, 2}, 0.75f)
        ->BindInput(x)
        .BindOutput(y);
    graph->CreateOperation<ops::DataConvert>()->BindInput(y).BindOutput(
        Result({40, 11}));
  }
};

class ChainedOptions : public ChainedKernels {
 protected:
  template <typename Graph>
  void ExpectSameBits() {
    Graph chained(*chained_);
    Graph single(*single_);
    const auto found = chained.Run();
    const auto expected = single.Run();
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i], expected[i]) << "output " << i;
    }
    EXPECT_EQ(device_->chained(), CompiledPlan(*chained.graph)->steps.size());
  }
};

TEST_F(ChainedOptions, OfWhatIsFused) { ExpectSameBits<Convolutions>(); }
TEST_F(ChainedOptions, OfTypesOfIndices) { ExpectSameBits<Gathers>(); }
TEST_F(ChainedOptions, OfSizesOfElements) { ExpectSameBits<Pads>(); }

// Elementwise operators, Softmax, normalised rows, matrix products, conversions
// and transposes, in floats, codes and plain integers.
struct Elementwise {
  enum class Type { kFloat, kCodes, kIntegers };

  explicit Elementwise(Context& context) : graph(context.CreateGraph()) {
    input = graph->CreateTensor(Floats(kShape, INPUT));
    const auto x = Unary<ops::Tanh>(input);
    const auto y = Unary<ops::Sigmoid>(x);
    Binary<ops::Add>(x, y, Type::kFloat);
    Binary<ops::Sub>(x, y, Type::kFloat);
    Binary<ops::Minimum>(x, y, Type::kFloat);
    Binary<ops::Div>(x, y, Type::kFloat);
    const auto codes = Convert(x, Type::kCodes);
    const auto more = Convert(y, Type::kCodes);
    Binary<ops::Multiply>(codes, more, Type::kCodes);
    Binary<ops::Maximum>(codes, more, Type::kFloat);
    const auto integers = Convert(input, Type::kIntegers);
    Binary<ops::Multiply>(integers, integers, Type::kIntegers);
    const auto softmax = Result(Type::kFloat);
    graph->CreateOperation<ops::Softmax>(1.0f, 1)->BindInput(x).BindOutput(
        softmax);
    // Kernels of files that declare types, which depend on options.
    graph->CreateOperation<ops::LogSoftmax>(0)->BindInput(x).BindOutput(
        Result(Type::kFloat));
    graph->CreateOperation<ops::L2Normalization>(0)->BindInput(x).BindOutput(
        Result(Type::kFloat));
    Product(codes, Type::kCodes);
    Product(integers, Type::kIntegers);
    const auto turned = graph->CreateTensor(Floats({5, 37, 3}, OUTPUT));
    outputs.push_back(turned);
    graph->CreateOperation<ops::Transpose>(std::vector<uint32_t>{1, 0, 2})
        ->BindInput(y)
        .BindOutput(turned);
  }

  TensorSpec SpecOf(Type type, TensorAttribute attribute) const {
    switch (type) {
      case Type::kCodes:
        return {DataType::UINT8, kShape, attribute,
                Quantization(QuantType::ASYMMETRIC, 0.01f, 100)};
      case Type::kIntegers:
        return {DataType::INT32, kShape, attribute};
      default:
        return Floats(kShape, attribute);
    }
  }
  std::shared_ptr<Tensor> Result(Type type) {
    outputs.push_back(graph->CreateTensor(SpecOf(type, OUTPUT)));
    return outputs.back();
  }
  template <typename Op>
  std::shared_ptr<Tensor> Unary(const std::shared_ptr<Tensor>& x) {
    const auto y = graph->CreateTensor(Floats(kShape, TRANSIENT));
    graph->CreateOperation<Op>()->BindInput(x).BindOutput(y);
    return y;
  }
  template <typename Op>
  void Binary(const std::shared_ptr<Tensor>& a,
              const std::shared_ptr<Tensor>& b, Type type) {
    graph->CreateOperation<Op>()->BindInputs({a, b}).BindOutput(Result(type));
  }
  // Products of the rows of `x` with each other.
  void Product(const std::shared_ptr<Tensor>& x, Type type) {
    outputs.push_back(
        graph->CreateTensor(SpecOf(type, OUTPUT).SetShape({5, 5, 3})));
    graph->CreateOperation<ops::Matmul>(false, true)
        ->BindInputs({x, x})
        .BindOutput(outputs.back());
  }
  std::shared_ptr<Tensor> Convert(const std::shared_ptr<Tensor>& x, Type type) {
    const auto y = graph->CreateTensor(SpecOf(type, TRANSIENT));
    graph->CreateOperation<ops::DataConvert>()->BindInput(x).BindOutput(y);
    return y;
  }

  std::vector<std::vector<uint8_t>> Run(const std::vector<float>& values) {
    testing::Write(input, values);
    EXPECT_TRUE(graph->Run()) << graph->ErrorMessage();
    std::vector<std::vector<uint8_t>> all;
    for (const auto& result : outputs) {
      all.emplace_back(result->GetSpec().GetByteSize());
      EXPECT_TRUE(result->CopyDataFromTensor(all.back().data())) << LastError();
    }
    return all;
  }

  const ShapeType kShape = {37, 5, 3};
  std::shared_ptr<Graph> graph;
  std::shared_ptr<Tensor> input;
  std::vector<std::shared_ptr<Tensor>> outputs;
};

TEST_F(ChainedKernels, OfElementsGiveTheSameBits) {
  Elementwise chained(*chained_);
  Elementwise single(*single_);
  std::vector<float> values(37 * 5 * 3);
  for (int run = 0; run < 5; ++run) {
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] =
          static_cast<float>(static_cast<int>(i * 7 + run) % 41 - 20) / 8;
    }
    EXPECT_EQ(chained.Run(values), single.Run(values)) << run;
  }
  EXPECT_EQ(device_->chained(), CompiledPlan(*chained.graph)->steps.size());
}

}  // namespace
}  // namespace tim::vx
