// Pads that convolutions and means take over.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "base/options.h"
#include "runtime/device_pool.h"
#include "tests/support/long_tests.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/context_impl.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

using vx::DataType;
using vx::TensorAttribute;
using vx::TensorSpec;
using Counts = std::vector<uint32_t>;
using TensorPtr = std::shared_ptr<vx::Tensor>;
using Zeros = vx::ops::PadV2;

// The type of all activations; weights are of the same type.
struct Element {
  DataType type = DataType::FLOAT32;
  vx::Quantization quantization;
};

// Values are multiples of 1/8, so that float sums are exact in any order; and
// no convolution is one for Winograd's algorithm, whose are not.
std::vector<float> RandomValues(size_t count, uint32_t seed) {
  std::mt19937 rng(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(rng() % 65) / 8 - 4;
  return values;
}

size_t CountOf(const vx::ShapeType& shape) {
  return std::accumulate(shape.begin(), shape.end(), size_t{1},
                         std::multiplies<>());
}

// Steps that pad.
int PadsOf(const vx::Graph& graph) {
  int count = 0;
  for (const ir::Step& step : vx::CompiledPlan(graph)->steps) {
    count += step.label.find("Pad") != std::string::npos;
  }
  return count;
}

std::shared_ptr<vx::Context> AnyContext() {
  const auto context = ContextOn("opencl");
  return context != nullptr ? context : HostContext();
}

// A graph of operators one after the other.
class Sequential {
 public:
  Sequential(const Element& element, const vx::ShapeType& input,
             const std::shared_ptr<vx::Context>& context = AnyContext())
      : element_(element), graph_(context->CreateGraph()) {
    last_ = input_ = Create(input, TensorAttribute::INPUT);
  }

  template <typename Op, typename... Args>
  Sequential& Then(Args... args) {
    const TensorPtr next = Create({}, TensorAttribute::TRANSIENT);
    graph_->CreateOperation<Op>(args...)->BindInput(last_).BindOutput(next);
    last_ = next;
    return *this;
  }

  template <typename... Args>
  Sequential& ThenConv2d(const vx::ShapeType& kernel, Args... args) {
    const std::vector<float> real = RandomValues(CountOf(kernel), 3);
    const TensorPtr weights = CreateConstant(kernel, real);
    const TensorPtr next = Create({}, TensorAttribute::TRANSIENT);
    graph_->CreateOperation<vx::ops::Conv2d>(args...)
        ->BindInputs({last_, weights})
        .BindOutput(next);
    last_ = next;
    return *this;
  }

  // The last values also go to an output of the graph.
  Sequential& Output(const vx::ShapeType& shape) {
    tapped_ = Create(shape, TensorAttribute::OUTPUT);
    graph_->CreateOperation<vx::ops::Relu>()->BindInput(last_).BindOutput(
        tapped_);
    return *this;
  }

  // Runs on codes (or floats) and gives those of the last tensor, `shape`.
  template <typename T>
  std::vector<T> Run(const std::vector<T>& values, const vx::ShapeType& shape) {
    const TensorPtr output = Create(shape, TensorAttribute::OUTPUT);
    graph_->CreateOperation<vx::ops::Reshape>(shape)
        ->BindInput(last_)
        .BindOutput(output);
    EXPECT_TRUE(graph_->Compile()) << vx::LastError();
    Write(input_, values);
    EXPECT_TRUE(graph_->Run()) << vx::LastError();
    return Read<T>(output);
  }

  int Pads() const { return PadsOf(*graph_); }

  const TensorPtr& tapped() const { return tapped_; }

 private:
  TensorPtr Create(const vx::ShapeType& shape, TensorAttribute attribute) {
    return graph_->CreateTensor(
        TensorSpec(element_.type, shape, attribute, element_.quantization));
  }

  TensorPtr CreateConstant(const vx::ShapeType& shape,
                           const std::vector<float>& real) {
    if (element_.type == DataType::FLOAT32) {
      return graph_->CreateTensor(Floats(shape, TensorAttribute::CONSTANT),
                                  real.data());
    }
    std::vector<uint8_t> codes;
    for (const float value : real) {
      codes.push_back(static_cast<uint8_t>(100 + value * 8));
    }
    return graph_->CreateTensor(
        TensorSpec(element_.type, shape, TensorAttribute::CONSTANT,
                   vx::Quantization(vx::QuantType::ASYMMETRIC, 0.125f, 100)),
        codes.data());
  }

  Element element_;
  std::shared_ptr<vx::Graph> graph_;
  TensorPtr input_;
  TensorPtr last_;
  TensorPtr tapped_;
};

struct Sizes {
  Counts front;
  Counts back;
};

vx::ShapeType Padded(const vx::ShapeType& shape, const Sizes& sizes) {
  vx::ShapeType padded = shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    padded[i] += sizes.front[i] + sizes.back[i];
  }
  return padded;
}

// `values` with `fill` around them.
template <typename T>
std::vector<T> PadByHand(const std::vector<T>& values,
                         const vx::ShapeType& shape, const Sizes& sizes,
                         T fill) {
  const vx::ShapeType padded = Padded(shape, sizes);
  std::vector<T> out(CountOf(padded), fill);
  for (size_t i = 0; i < values.size(); ++i) {
    size_t rest = i;
    size_t at = 0;
    size_t stride = 1;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      at += (rest % shape[axis] + sizes.front[axis]) * stride;
      rest /= shape[axis];
      stride *= padded[axis];
    }
    out[at] = values[i];
  }
  return out;
}

constexpr float kZero = 0.0f;
const vx::ShapeType kImage = {13, 11, 16, 1};
const Sizes kUneven = {{1, 0, 0, 0}, {2, 3, 0, 0}};
const std::array<uint32_t, 2> kStep = {2, 1};
const std::array<uint32_t, 2> kDense = {1, 1};

// What `add` appends makes the same of a Pad as of an input that is padded by
// hand; `pads`: Pads that remain in the plan.
template <typename Add>
void ExpectSame(const Sizes& sizes, const vx::ShapeType& output, int pads,
                Add add, float fill = 0.0f) {
  static Sample on_any(3);  // the others do without programs of OpenCL
  const auto context = on_any.Takes() ? AnyContext() : HostContext();
  const std::vector<float> x = RandomValues(CountOf(kImage), 1);
  Sequential with({}, kImage, context);
  with.Then<Zeros>(sizes.front, sizes.back, fill);
  add(with);
  const auto found = with.Run(x, output);
  EXPECT_EQ(with.Pads(), pads);
  Sequential without({}, Padded(kImage, sizes), context);
  add(without);
  EXPECT_EQ(found, without.Run(PadByHand(x, kImage, sizes, fill), output));
}

TEST(AbsorbPadding, Conv2dWithoutPaddingOfItsOwn) {
  // (16 - 3) / 2 + 1 and 14 - 2 + 1.
  ExpectSame(kUneven, {7, 13, 32, 1}, 0, [](Sequential& net) {
    net.ThenConv2d({3, 2, 16, 32}, vx::PadType::VALID, kStep, kDense);
  });
}

TEST(AbsorbPadding, Conv2dWithPaddingOfItsOwn) {
  const std::array<uint32_t, 4> pad = {1, 0, 2, 1};
  ExpectSame(kUneven, {8, 16, 32, 1}, 0, [&](Sequential& net) {
    net.ThenConv2d({3, 2, 16, 32}, pad, kStep, kDense);
  });
  ExpectSame(kUneven, {8, 14, 32, 1}, 0, [](Sequential& net) {
    net.ThenConv2d({3, 2, 16, 32}, vx::PadType::SAME, kStep, kDense);
  });
}

TEST(AbsorbPadding, Conv2dOfWindowsInThePaddingAlone) {
  const Sizes wide = {{7, 5, 0, 0}, {9, 6, 0, 0}};
  ExpectSame(wide, {27, 21, 32, 1}, 0, [](Sequential& net) {
    net.ThenConv2d({3, 2, 16, 32}, vx::PadType::VALID, kDense, kDense);
  });
}

TEST(AbsorbPadding, DepthwiseConv2d) {
  ExpectSame(kUneven, {14, 12, 16, 1}, 0, [](Sequential& net) {
    net.ThenConv2d({3, 3, 16, 1}, vx::PadType::VALID, kDense, kDense, 1);
  });
}

TEST(AbsorbPadding, MeansThatCountPadding) {
  const std::array<uint32_t, 2> size = {2, 4};
  ExpectSame(kUneven, {8, 11, 16, 1}, 0, [&](Sequential& net) {
    net.Then<vx::ops::Pool2d>(vx::PoolType::AVG, vx::PadType::VALID, size,
                              kStep);
  });
}

TEST(AbsorbPadding, MeansWithPaddingOfTheirOwn) {
  const std::array<uint32_t, 2> size = {2, 4};
  const std::array<uint32_t, 4> pad = {1, 0, 2, 1};
  ExpectSame(kUneven, {8, 14, 16, 1}, 0, [&](Sequential& net) {
    net.Then<vx::ops::Pool2d>(vx::PoolType::AVG, pad, size, kStep);
  });
  ExpectSame(kUneven, {8, 14, 16, 1}, 0, [&](Sequential& net) {
    net.Then<vx::ops::Pool2d>(vx::PoolType::AVG, vx::PadType::SAME, size,
                              kStep);
  });
  for (const uint32_t last : {0, 1}) {
    const std::array<uint32_t, 4> pads = {1, last, 2, 1};
    ExpectSame(kUneven, {9, 14, 16, 1}, 0, [&](Sequential& net) {
      net.Then<vx::ops::Pool2d>(vx::PoolType::AVG_PADDED, pads, size, kStep,
                                vx::RoundType::CEILING);
    });
  }
  ExpectSame(kUneven, {9, 11, 16, 1}, 0, [&](Sequential& net) {
    net.Then<vx::ops::Pool2d>(vx::PoolType::AVG, vx::PadType::VALID,
                              std::array<uint32_t, 2>{1, 4}, kStep,
                              vx::RoundType::CEILING);
  });
}

// Their windows come from the extents.
TEST(AbsorbPadding, GlobalAndAdaptiveMeansKeepIt) {
  const std::array<uint32_t, 2> size = {16, 14};
  ExpectSame(kUneven, {1, 1, 16, 1}, 1, [&](Sequential& net) {
    net.Then<vx::ops::Pool2d>(vx::PoolType::AVG, size);
  });
  const std::array<uint32_t, 2> output = {4, 7};
  ExpectSame(kUneven, {4, 7, 16, 1}, 1, [&](Sequential& net) {
    net.Then<vx::ops::Pool2d>(vx::PoolType::AVG, size, output);
  });
}

TEST(AbsorbPadding, TwoInARow) {
  ExpectSame(kUneven, {17, 13, 32, 1}, 0, [](Sequential& net) {
    net.Then<Zeros>(Counts{2, 0, 0, 0}, Counts{1, 0, 0, 0}, kZero)
        .ThenConv2d({3, 2, 16, 32}, vx::PadType::VALID, kDense, kDense);
  });
}

TEST(AbsorbPadding, OtherPoolingsKeepIt) {
  const std::array<uint32_t, 2> size = {2, 4};
  for (const auto type : {vx::PoolType::MAX, vx::PoolType::AVG_ANDROID}) {
    ExpectSame(kUneven, {8, 11, 16, 1}, 1, [&](Sequential& net) {
      net.Then<vx::ops::Pool2d>(type, vx::PadType::VALID, size, kStep);
    });
  }
}

TEST(AbsorbPadding, OtherConstantsKeepIt) {
  const auto convolve = [](Sequential& net) {
    net.ThenConv2d({3, 2, 16, 32}, vx::PadType::VALID, kDense, kDense);
  };
  ExpectSame(kUneven, {14, 13, 32, 1}, 1, convolve, 0.5f);
}

TEST(AbsorbPadding, PaddingOfChannelsKeepIt) {
  const Sizes channels = {{1, 1, 4, 0}, {1, 1, 12, 0}};
  ExpectSame(channels, {13, 12, 8, 1}, 1, [](Sequential& net) {
    net.ThenConv2d({3, 2, 32, 8}, vx::PadType::VALID, kDense, kDense);
  });
}

TEST(AbsorbPadding, PaddingOfTheBatchKeepIt) {
  const Sizes batch = {{1, 1, 0, 0}, {1, 1, 0, 1}};
  ExpectSame(batch, {13, 12, 8, 2}, 1, [](Sequential& net) {
    net.ThenConv2d({3, 2, 16, 8}, vx::PadType::VALID, kDense, kDense);
  });
}

TEST(AbsorbPadding, OtherModesKeepIt) {
  Sequential net({}, kImage);
  net.Then<Zeros>(kUneven.front, kUneven.back, kZero, Zeros::PAD_MODE_EDGE)
      .ThenConv2d({3, 2, 16, 32}, vx::PadType::VALID, kDense, kDense);
  net.Run(RandomValues(CountOf(kImage), 1), {14, 13, 32, 1});
  EXPECT_EQ(net.Pads(), 1);
}

TEST(AbsorbPadding, APadWithOtherReadersStaysForThem) {
  const std::vector<float> x = RandomValues(CountOf(kImage), 1);
  const vx::ShapeType output = {14, 13, 32, 1};
  Sequential net({}, kImage);
  net.Then<Zeros>(kUneven.front, kUneven.back, kZero)
      .Output(Padded(kImage, kUneven))
      .ThenConv2d({3, 2, 16, 32}, vx::PadType::VALID, kDense, kDense);
  const auto found = net.Run(x, output);
  EXPECT_EQ(net.Pads(), 1);
  std::vector<float> padded = PadByHand(x, kImage, kUneven, kZero);
  Sequential alone({}, Padded(kImage, kUneven));
  alone.ThenConv2d({3, 2, 16, 32}, vx::PadType::VALID, kDense, kDense);
  EXPECT_EQ(found, alone.Run(padded, output));
  for (float& value : padded) value = std::max(value, 0.0f);
  EXPECT_EQ(Read(net.tapped()), padded);
}

// A convolution of codes behind a Pad of zeros and behind a padding of `fill`.
void ExpectSameCodes(const Element& codes, uint8_t fill, int pads) {
  const vx::ShapeType output = {14, 13, 32, 1};
  std::vector<uint8_t> x(CountOf(kImage));
  std::mt19937 rng(5);
  for (uint8_t& code : x) code = static_cast<uint8_t>(rng());
  const auto convolve = [](Sequential& net) {
    net.ThenConv2d({3, 2, 16, 32}, vx::PadType::VALID, kDense, kDense);
  };
  Sequential with(codes, kImage);
  with.Then<vx::ops::Pad>(kUneven.front, kUneven.back, 0);
  convolve(with);
  const auto found = with.Run(x, output);
  EXPECT_EQ(with.Pads(), pads);
  Sequential without(codes, Padded(kImage, kUneven));
  convolve(without);
  EXPECT_EQ(found,
            without.Run(PadByHand<uint8_t>(x, kImage, kUneven, fill), output));
}

TEST(AbsorbPadding, QuantizedZeroIsTheZeroPoint) {
  ExpectSameCodes(
      {DataType::UINT8, vx::Quantization(vx::QuantType::ASYMMETRIC, 0.5f, 90)},
      90, 0);
}

// Where no code is zero the padding is not, either.
TEST(AbsorbPadding, SaturatedZeroKeepsIt) {
  ExpectSameCodes(
      {DataType::UINT8, vx::Quantization(vx::QuantType::ASYMMETRIC, 0.5f, 300)},
      255, 1);
}

TEST(AbsorbPadding, APadWhoseDeviceIsChosenStaysThere) {
  auto devices = runtime::SelectDevices("opencl", GetOptions().on_device);
  if (!devices.ok()) GTEST_SKIP() << devices.status().message();
  const auto placement = [](const ir::Node& node) {
    return node.name.find("Pad") != std::string::npos ? 0 : -1;
  };
  Sequential net({}, kImage,
                 vx::CreateContext(*devices, {.placement = placement}));
  net.Then<Zeros>(kUneven.front, kUneven.back, kZero)
      .ThenConv2d({3, 2, 16, 32}, vx::PadType::VALID, kDense, kDense);
  net.Run(RandomValues(CountOf(kImage), 1), {14, 13, 32, 1});
  EXPECT_EQ(net.Pads(), 1);
}

TEST(AbsorbPadding, APadThatConvertsStays) {
  const auto graph = AnyContext()->CreateGraph();
  const auto spec = [](float scale, const vx::ShapeType& shape,
                       TensorAttribute attribute) {
    return TensorSpec(DataType::UINT8, shape, attribute,
                      vx::Quantization(vx::QuantType::ASYMMETRIC, scale, 9));
  };
  const auto padded =
      graph->CreateTensor(spec(0.25f, {}, TensorAttribute::TRANSIENT));
  graph
      ->CreateOperation<vx::ops::Pad>(Counts{1, 1, 0, 0}, Counts{1, 1, 0, 0}, 0)
      ->BindInput(
          graph->CreateTensor(spec(0.5f, {4, 4, 1, 1}, TensorAttribute::INPUT)))
      .BindOutput(padded);
  const std::array<uint32_t, 2> size = {2, 2};
  graph
      ->CreateOperation<vx::ops::Pool2d>(vx::PoolType::AVG, vx::PadType::VALID,
                                         size, kDense)
      ->BindInput(padded)
      .BindOutput(graph->CreateTensor(
          spec(0.25f, {5, 5, 1, 1}, TensorAttribute::OUTPUT)));
  ASSERT_TRUE(graph->Compile()) << vx::LastError();
  EXPECT_EQ(PadsOf(*graph), 1);
}

}  // namespace
}  // namespace tim::testing
