// Networks as functions of values: one program for several inputs, and a block
// of a transformer in all modes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "samples/attention/block.h"
#include "tests/support/kernels/kernel_set.h"
#include "tim/values/values.h"

namespace tim::values {
namespace {

TIM_FOR_CPU_KERNELS();

using ::testing::ElementsAreArray;

const bool g_options = [] {
  setenv("TIMCL_DEVICE", "host", 1);
  setenv("TIMCL_STRICT", "0", 1);
  setenv("TIMCL_CACHE_DIR", "off", 1);  // programs are built and counted
  return true;
}();

using Values = std::vector<Value>;

void ExpectNear(const Value& found, const Value& expected, double tolerance) {
  const std::vector<float> a = found.ToVector<float>();
  const std::vector<float> b = expected.ToVector<float>();
  ASSERT_FALSE(b.empty()) << expected.error();
  ASSERT_EQ(a.size(), b.size()) << found.error();
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance) << i;
}

// ---- LeNet ------------------------------------------------------------------

std::vector<uint8_t> ReadFile(const std::string& name) {
  const char* const folder = std::getenv("TIMCL_TEST_DATA");
  const std::string root = folder != nullptr ? folder : "../shared/data";
  std::ifstream file(root + "/lenet/" + name, std::ios::binary);
  return std::vector<uint8_t>(std::istreambuf_iterator<char>(file), {});
}

struct Codes {
  float scale = 1;
  int zero_point = 0;
};

Spec SpecOf(Type type, const Shape& shape, const Codes& codes) {
  Spec spec(type, shape);
  spec.quantization.kind = 1;
  spec.quantization.scales = {codes.scale};
  spec.quantization.zero_points = {codes.zero_point};
  return spec;
}

// Offsets, shapes and scales are those of the data folder's README.
class Lenet {
 public:
  explicit Lenet(std::vector<uint8_t> weights) : weights_(std::move(weights)) {}

  /// The codes before the softmax, and the probabilities.
  Values operator()(const Values& in) const {
    Value x = Conv(in[0], 1.0f, 80, {5, 5, 1, 20},
                   {0.0033623368944972754f, 119}, 0, {5.209146976470947f, 131});
    x = Pool(x, {5.209146976470947f, 131});
    x = Conv(x, 5.209146976470947f, 780, {5, 5, 20, 50},
             {0.0011482049012556672f, 128}, 580, {10.594023704528809f, 145});
    x = Pool(x, {10.594023704528809f, 145});
    const Codes hidden = {4.961546421051025f, 0};
    x = Dense(x, 2, 10.594023704528809f, 27780, {800, 500},
              {0.0007354848785325885f, 130}, 25780, hidden);
    x = Call("tim.Relu", {x}, Output(hidden));
    const Value codes =
        Dense(x, 0, 4.961546421051025f, 427820, {500, 10},
              {0.0015804264694452286f, 135}, 427780, {16.404624938964844f, 81});
    return {codes,
            Call("tim.Softmax", {codes},
                 {{"beta", 1.0}, {"axis", 0}, {"output_type", "float32"}})};
  }

 private:
  static Attributes Output(const Codes& codes, Attributes more = {}) {
    more.emplace_back("output_type", "uint8");
    more.emplace_back("output_scale", static_cast<double>(codes.scale));
    more.emplace_back("output_zero_point", codes.zero_point);
    return more;
  }
  Value Weights(size_t offset, const Shape& shape, const Codes& codes) const {
    return Value::Constant(SpecOf(Type::kUint8, shape, codes),
                           weights_.data() + offset);
  }
  Value Bias(size_t offset, int64_t count, float scale) const {
    std::vector<int32_t> aligned(static_cast<size_t>(count));
    std::copy_n(weights_.data() + offset, aligned.size() * sizeof(int32_t),
                reinterpret_cast<uint8_t*>(aligned.data()));
    return Value::Constant(SpecOf(Type::kInt32, {count}, {scale, 0}),
                           aligned.data());
  }
  Value Conv(const Value& x, float input_scale, size_t offset,
             const Shape& shape, const Codes& codes, size_t bias,
             const Codes& output) const {
    return Call("tim.Conv2d",
                {x, Weights(offset, shape, codes),
                 Bias(bias, shape[3], input_scale * codes.scale)},
                Output(output, {{"stride", std::vector<int64_t>{1, 1}},
                                {"padding", "valid"}}));
  }
  static Value Pool(const Value& x, const Codes& output) {
    return Call("tim.Pool2d", {x},
                Output(output, {{"type", "max"},
                                {"ksize", std::vector<int64_t>{2, 2}},
                                {"stride", std::vector<int64_t>{2, 2}}}));
  }
  Value Dense(const Value& x, int64_t axis, float input_scale, size_t offset,
              const Shape& shape, const Codes& codes, size_t bias,
              const Codes& output) const {
    return Call("tim.FullyConnected",
                {x, Weights(offset, shape, codes),
                 Bias(bias, shape[1], input_scale * codes.scale)},
                Output(output, {{"axis", axis}}));
  }

  const std::vector<uint8_t> weights_;
};

TEST(Networks, LenetRunsWithoutAShape) {
  const std::vector<uint8_t> digit = ReadFile("digit_28x28_u8.bin");
  std::vector<uint8_t> weights = ReadFile("lenet_asymu8.weights.bin");
  if (weights.size() != 432820 || digit.size() != 784) {
    GTEST_SKIP() << "TIMCL_TEST_DATA/lenet is not there";
  }
  const Lenet lenet(std::move(weights));
  const Graph graph =
      Graph::Capture([&](const Values& in) { return lenet(in); },
                     {SpecOf(Type::kUint8, Shape(), {1.0f, 0})});
  ASSERT_TRUE(graph.ok()) << graph.error();
  EXPECT_EQ(graph.Level(), 0);
  const Program program = graph.Compile();
  const std::vector<uint8_t> expected = {254, 8,   110, 14,  0,
                                         116, 115, 45,  107, 107};
  for (const int64_t batch : {1, 3}) {
    std::vector<uint8_t> images;
    std::vector<uint8_t> codes;
    for (int64_t i = 0; i < batch; ++i) {
      images.insert(images.end(), digit.begin(), digit.end());
      codes.insert(codes.end(), expected.begin(), expected.end());
    }
    const Spec spec = SpecOf(Type::kUint8, {28, 28, 1, batch}, {1.0f, 0});
    const Value x = Value::FromHost(spec, images.data());
    const Values frozen = program.Run({x});
    ASSERT_TRUE(frozen[0].ok()) << frozen[0].error();
    EXPECT_THAT(frozen[0].ToVector<uint8_t>(), ElementsAreArray(codes));
    EXPECT_NEAR(frozen[1].ToVector<float>().at(0), 1.0f, 1e-6f);
    const Graph known = graph.Specialize({spec});
    ASSERT_TRUE(known.ok()) << known.error();
    EXPECT_EQ(known.Level(), 2);
    EXPECT_THAT(known.Compile().Run({x})[0].ToVector<uint8_t>(),
                ElementsAreArray(codes));
    EXPECT_THAT(lenet({x})[0].ToVector<uint8_t>(), ElementsAreArray(codes));
  }
  EXPECT_EQ(program.stats().plans, 2);
}

// ---- MobileNet --------------------------------------------------------------

std::vector<float> Numbers(int64_t count, float scale) {
  std::vector<float> data;
  for (int64_t i = 0; i < count; ++i) {
    data.push_back((static_cast<float>(i * 7919 % 1009) / 504 - 1) * scale);
  }
  return data;
}

Value Weights(const Shape& shape, float scale) {
  return Value::Constant(Spec(Type::kFloat32, shape),
                         Numbers(shape.NumElements(), scale).data());
}

// A convolution per channel, and one of one pixel.
Value Separable(const Value& x, int64_t in, int64_t out, int64_t stride) {
  Conv2dOptions deep;
  deep.stride = {stride, stride};
  deep.padding = "same";
  deep.multiplier = 1;
  const Value channels =
      Relu6(Conv2d(x, Weights({3, 3, in, 1}, 0.4f), Weights({in}, 0.1f), deep));
  return Relu6(Conv2d(channels, Weights({1, 1, in, out}, 0.5f)));
}

// A network as MobileNet, from [W, H, 3, N] of any extents to [5, N].
Values MobileNet(const Values& in) {
  Conv2dOptions first;
  first.stride = {2, 2};
  first.padding = "same";
  Value x = Relu6(
      Conv2d(in[0], Weights({3, 3, 3, 8}, 0.4f), Weights({8}, 0.1f), first));
  x = Separable(x, 8, 16, 1);
  x = Separable(x, 16, 16, 2);
  x = x + Separable(x, 16, 16, 1);
  x = ReduceMean(x, {0, 1});
  x = FullyConnected(x, Weights({16, 5}, 0.5f));
  return {Softmax(x, 1, 0)};
}

// LeNet in float32, whose weights are inputs too: those of the first dense
// layer follow from the image.
Values FloatLenet(const Values& in) {
  Value x = Relu(Conv2d(in[0], in[1]));
  x = MaxPool2d(x);
  x = Relu(Conv2d(x, in[2]));
  x = MaxPool2d(x);
  x = Relu(FullyConnected(x, in[3], Value(), 2));
  return {Softmax(FullyConnected(x, in[4]), 1, 0)};
}

Value Plane(const Shape& shape, float scale) {
  return Value::Of<float>(shape, Numbers(shape.NumElements(), scale));
}

Values LenetInputs(int64_t width, int64_t height) {
  const int64_t joined =
      ((width - 4) / 2 - 4) / 2 * (((height - 4) / 2 - 4) / 2) * 16;
  return {Plane({width, height, 1, 1}, 1), Plane({5, 5, 1, 6}, 0.3f),
          Plane({5, 5, 6, 16}, 0.1f), Plane({joined, 120}, 0.05f),
          Plane({120, 10}, 0.2f)};
}

Values MobileNetInputs(int64_t width, int64_t height) {
  return {Plane({width, height, 3, 1}, 1)};
}

struct Resolution {
  int64_t width = 0;
  int64_t height = 0;
};

// One program without shapes, at several resolutions, the first of which builds
// what all need.
void ExpectOneProgramServes(
    const Function& network, const std::string& device,
    const std::function<Values(int64_t width, int64_t height)>& inputs_of,
    const std::vector<Resolution>& resolutions) {
  ProgramOptions options;
  options.devices = device;
  options.many_shapes = true;
  const size_t count = inputs_of(32, 32).size();
  const Graph graph =
      Graph::Capture(network, std::vector<Spec>(count), "network");
  ASSERT_TRUE(graph.ok()) << graph.error();
  EXPECT_EQ(graph.Level(), 0);
  const Program program = graph.Compile(options);
  ASSERT_TRUE(program.ok()) << program.error();
  std::vector<Values> inputs;
  Values results;
  const int64_t before = program.stats().program_builds;
  std::vector<int64_t> builds;
  for (const Resolution& at : resolutions) {
    inputs.push_back(inputs_of(at.width, at.height));
    results.push_back(program.Run(inputs.back())[0]);
    ASSERT_TRUE(results.back().Wait()) << results.back().error();
    builds.push_back(program.stats().program_builds);
    EXPECT_EQ(builds.back(), builds[0]) << at.width << " x " << at.height;
  }
  if (device != "host") {
    EXPECT_GT(builds[0], before);
  }
  EXPECT_EQ(program.stats().plans, static_cast<int64_t>(resolutions.size()));
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::vector<Spec> specs;
    for (const Value& input : inputs[i]) specs.push_back(input.spec());
    const Graph known = graph.Specialize(specs);
    ASSERT_TRUE(known.ok()) << known.error();
    EXPECT_EQ(known.Level(), 2);
    ExpectNear(results[i], known.Compile().Run(inputs[i])[0], 1e-5);
  }
}

TEST(Networks, RunAtTwoResolutions) {
  ExpectOneProgramServes(FloatLenet, "host", LenetInputs, {{28, 28}, {36, 30}});
  ExpectOneProgramServes(MobileNet, "host", MobileNetInputs,
                         {{40, 40}, {56, 48}});
}

// Kernels have programs for some four sizes: these are of one class.
TEST(Networks, NeedNoProgramsForAnotherResolution) {
  if (!Device("opencl:0").ok()) GTEST_SKIP() << "no OpenCL: " << LastError();
  ExpectOneProgramServes(FloatLenet, "opencl:0", LenetInputs,
                         {{28, 28}, {36, 30}});
  ExpectOneProgramServes(MobileNet, "opencl:0", MobileNetInputs,
                         {{40, 40}, {56, 48}, {96, 80}});
}

// ---- A block of a transformer -----------------------------------------------

// The last of the tokens that follow from the first.
Value Read(attention::Block& block, const Function& step) {
  block.Start();
  Value token = block.FirstToken();
  for (int64_t i = 0; i < block.sizes().tokens; ++i) {
    token = step({token, attention::Block::Position(i)})[0];
  }
  return token;
}

TEST(Blocks, GiveTheSameInAllModes) {
  attention::Block block({.width = 24, .heads = 3, .tokens = 7, .hidden = 40});
  const Function step = [&](const Values& in) { return block.Step(in); };
  const Value eager = Read(block, step);
  ASSERT_TRUE(eager.Wait()) << eager.error();
  // A token depends on those before it.
  const Value alone =
      step({block.FirstToken(), attention::Block::Position(3)})[0];
  block.Start();
  const Value fresh =
      step({block.FirstToken(), attention::Block::Position(3)})[0];
  EXPECT_NE(alone.ToVector<float>(), fresh.ToVector<float>());
  {
    const ModeScope lazy(Mode::kLazy);
    ExpectNear(Read(block, step), eager, 1e-5);
    // Token by token what comes again is compiled.
    const Value last = Read(block, [&](const Values& in) {
      const Values out = block.Step(in);
      EXPECT_TRUE(out[0].Wait()) << out[0].error();
      return out;
    });
    ExpectNear(last, eager, 1e-5);
  }
  const Graph graph = Graph::Capture(step, {Spec(), Spec()}, "block");
  ASSERT_TRUE(graph.ok()) << graph.error();
  const Function captured = [&](const Values& in) {
    return Values{Value(graph.Call(in))};
  };
  ExpectNear(Read(block, captured), eager, 1e-5);
  const Program program = graph.Compile();
  const Function frozen = [&](const Values& in) { return program.Run(in); };
  ExpectNear(Read(block, frozen), eager, 1e-5);
  EXPECT_EQ(program.stats().plans, 1);
}

}  // namespace
}  // namespace tim::values
