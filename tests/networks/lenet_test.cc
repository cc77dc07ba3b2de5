// A trained uint8 LeNet (TIMCL_TEST_DATA/lenet) through the public API, equal
// to the last code on every device and split between two.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <utility>

#include "base/options.h"
#include "device/host/host_device.h"
#include "device/opencl/opencl_device.h"
#include "tests/support/devices/fake_device.h"
#include "tests/support/status_macros.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/ops.h"
#include "vx/graph/context_impl.h"

namespace tim::vx {
namespace {

using Bytes = std::vector<char>;
using TensorPtr = std::shared_ptr<Tensor>;

Bytes ReadFile(const std::string& name) {
  const char* folder = std::getenv("TIMCL_TEST_DATA");
  const std::string root = folder != nullptr ? folder : "../shared/data";
  std::ifstream file(root + "/lenet/" + name, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

Quantization Asymmetric(float scale, int32_t zero_point) {
  return Quantization(QuantType::ASYMMETRIC, scale, zero_point);
}

// Offsets, shapes and scales are those of the data folder's README.
class Lenet {
 public:
  Lenet(const std::shared_ptr<Context>& context, const Bytes& weights)
      : graph_(context->CreateGraph()), weights_(weights) {
    input_ = Make({28, 28, 1, 1}, INPUT, Asymmetric(1.0f, 0));
    TensorPtr x = Conv(input_, 1.0f, 80, {5, 5, 1, 20}, 0.0033623368944972754f,
                       119, 0, Asymmetric(5.209146976470947f, 131));
    x = Pool(x, Asymmetric(5.209146976470947f, 131));
    x = Conv(x, 5.209146976470947f, 780, {5, 5, 20, 50}, 0.0011482049012556672f,
             128, 580, Asymmetric(10.594023704528809f, 145));
    x = Pool(x, Asymmetric(10.594023704528809f, 145));
    const Quantization hidden = Asymmetric(4.961546421051025f, 0);
    x = Dense(x, 2, 500, 10.594023704528809f, 27780, {800, 500},
              0.0007354848785325885f, 130, 25780, Transient(hidden));
    const TensorPtr relu = Transient(hidden);
    graph_->CreateOperation<ops::Relu>()->BindInput(x).BindOutput(relu);
    codes_ = Make({10, 1}, OUTPUT, Asymmetric(16.404624938964844f, 81));
    Dense(relu, 0, 10, 4.961546421051025f, 427820, {500, 10},
          0.0015804264694452286f, 135, 427780, codes_);
    probabilities_ =
        graph_->CreateTensor(TensorSpec(DataType::FLOAT32, {10, 1}, OUTPUT));
    graph_->CreateOperation<ops::Softmax>(1.0f, 0)
        ->BindInput(codes_)
        .BindOutput(probabilities_);
  }

  Graph& graph() { return *graph_; }
  bool Write(const Bytes& image) {
    return input_->CopyDataToTensor(image.data());
  }
  std::vector<int> Codes() {
    std::vector<uint8_t> codes(10);
    codes_->CopyDataFromTensor(codes.data());
    return {codes.begin(), codes.end()};
  }
  std::vector<float> Probabilities() {
    std::vector<float> values(10);
    probabilities_->CopyDataFromTensor(values.data());
    return values;
  }

 private:
  TensorPtr Make(const ShapeType& shape, TensorAttribute attribute,
                 const Quantization& quantization) {
    return graph_->CreateTensor(
        TensorSpec(DataType::UINT8, shape, attribute, quantization));
  }
  TensorPtr Transient(const Quantization& quantization) {
    return Make({}, TRANSIENT, quantization);
  }
  TensorPtr Constant(DataType type, size_t offset, const ShapeType& shape,
                     const Quantization& quantization) {
    return graph_->CreateTensor(TensorSpec(type, shape, CONSTANT, quantization),
                                weights_.data() + offset);
  }

  TensorPtr Conv(const TensorPtr& input, float input_scale, size_t offset,
                 const ShapeType& shape, float scale, int32_t zero_point,
                 size_t bias_offset, const Quantization& output) {
    const TensorPtr result = Transient(output);
    graph_
        ->CreateOperation<ops::Conv2d>(PadType::VALID,
                                       std::array<uint32_t, 2>{1, 1},
                                       std::array<uint32_t, 2>{1, 1})
        ->BindInputs({input,
                      Constant(DataType::UINT8, offset, shape,
                               Asymmetric(scale, zero_point)),
                      Constant(DataType::INT32, bias_offset, {shape[3]},
                               Asymmetric(input_scale * scale, 0))})
        .BindOutput(result);
    return result;
  }

  TensorPtr Pool(const TensorPtr& input, const Quantization& quantization) {
    const TensorPtr result = Transient(quantization);
    graph_
        ->CreateOperation<ops::Pool2d>(PoolType::MAX, PadType::NONE,
                                       std::array<uint32_t, 2>{2, 2},
                                       std::array<uint32_t, 2>{2, 2})
        ->BindInput(input)
        .BindOutput(result);
    return result;
  }

  TensorPtr Dense(const TensorPtr& input, uint32_t axis, uint32_t units,
                  float input_scale, size_t offset, const ShapeType& shape,
                  float scale, int32_t zero_point, size_t bias_offset,
                  const TensorPtr& output) {
    graph_->CreateOperation<ops::FullyConnected>(axis, units)
        ->BindInputs({input,
                      Constant(DataType::UINT8, offset, shape,
                               Asymmetric(scale, zero_point)),
                      Constant(DataType::INT32, bias_offset, {units},
                               Asymmetric(input_scale * scale, 0))})
        .BindOutput(output);
    return output;
  }

  std::shared_ptr<Graph> graph_;
  const Bytes& weights_;
  TensorPtr input_;
  TensorPtr codes_;
  TensorPtr probabilities_;
};

class LenetTest : public ::testing::Test {
 protected:
  void SetUp() override {
    weights_ = ReadFile("lenet_asymu8.weights.bin");
    digit_ = ReadFile("digit_28x28_u8.bin");
    if (weights_.size() != 432820 || digit_.size() != 784) {
      GTEST_SKIP() << "TIMCL_TEST_DATA/lenet is not there";
    }
  }

  // Runs the digit, another image, and the digit again.
  void Check(const std::shared_ptr<Context>& context) {
    ASSERT_NE(context, nullptr);
    Lenet net(context, weights_);
    ASSERT_TRUE(net.graph().Compile()) << net.graph().ErrorMessage();
    const Bytes blank(784, 0);
    for (const Bytes* image :
         {&std::as_const(digit_), &blank, &std::as_const(digit_)}) {
      ASSERT_TRUE(net.Write(*image));
      ASSERT_TRUE(net.graph().Run()) << net.graph().ErrorMessage();
      const std::vector<int> expected = {254, 8,   110, 14,  0,
                                         116, 115, 45,  107, 107};
      if (image == &digit_) {
        EXPECT_EQ(net.Codes(), expected);
        EXPECT_NEAR(net.Probabilities()[0], 1.0f, 1e-6f);
      } else {
        EXPECT_NE(net.Codes(), expected);
      }
    }
  }

  Bytes weights_;
  Bytes digit_;
};

std::shared_ptr<device::Device> OpenCl() {
  const auto device = device::CreateOpenClDevice(0, GetOptions().on_device);
  EXPECT_OK(device);
  return device.ok() ? *device : nullptr;
}

TEST_F(LenetTest, ExactCodesOnOpenClInStrictMode) {
  Check(
      CreateContext({device::CreateHostDevice(), OpenCl()}, {.strict = true}));
}

TEST_F(LenetTest, ExactCodesOnTheHost) {
  Check(CreateContext({device::CreateHostDevice()}));
}

TEST_F(LenetTest, ExactCodesSplitBetweenOpenClAndFake) {
  std::map<std::string, int> devices;  // by node, in turn
  ContextOptions options{.strict = true};
  options.placement = [&](const ir::Node& node) {
    const int next = 1 + static_cast<int>(devices.size() % 2);
    return devices.emplace(node.name, next).first->second;
  };
  const auto fake = std::make_shared<testing::FakeDevice>();
  Check(CreateContext({device::CreateHostDevice(), OpenCl(), fake}, options));
  EXPECT_EQ(devices.size(), 8u);
  EXPECT_GE(fake->steps_run(), 3 * 4);
}

}  // namespace
}  // namespace tim::vx
