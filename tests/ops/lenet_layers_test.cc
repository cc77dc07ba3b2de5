// The layers of a trained uint8 LeNet through eval and every kernel, one by
// one, to the known codes of its last layer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::TensorDesc;
using Ints = std::vector<int64_t>;

std::vector<char> ReadFile(const std::string& name) {
  const char* folder = std::getenv("TIMCL_TEST_DATA");
  const std::string root = folder != nullptr ? folder : "../shared/data";
  std::ifstream file(root + "/lenet/" + name, std::ios::binary);
  return std::vector<char>(std::istreambuf_iterator<char>(file), {});
}

struct Layer {
  const char* op;
  ir::AttributeMap attributes;
  Ints weights;
  int64_t weights_offset;
  float scale;
  int32_t zero_point;
  int64_t bias_offset;
  float output_scale;
  int32_t output_zero;
};

// The output codes of a layer; every kernel must give the same.
TensorData RunLayer(const Layer& layer, const TensorData& input,
                    const std::vector<char>& data) {
  const auto constant = [&](const TensorDesc& desc, int64_t offset) {
    const int64_t bytes = *ir::ByteSize(desc);
    return MakeTensor<char>(
        desc, {data.begin() + offset, data.begin() + offset + bytes});
  };
  const TensorDesc weights =
      Desc(DataType::kUint8, layer.weights, layer.scale, layer.zero_point);
  const TensorDesc bias =
      Desc(DataType::kInt32, {layer.weights.back()},
           input.desc.quantization.Scale() * layer.scale, 0);
  TensorDesc output =
      Desc(DataType::kUint8, {}, layer.output_scale, layer.output_zero);
  output.shape = ir::Shape();
  const auto node = MakeNode(layer.op, layer.attributes,
                             {input.desc, weights, bias}, {output},
                             {{1, constant(weights, layer.weights_offset)},
                              {2, constant(bias, layer.bias_offset)}});
  EXPECT_OK(node);
  if (!node.ok()) return input;
  EXPECT_OK(CheckKernels(*node, {input}));
  const auto result = Eval(*node, {input});
  EXPECT_OK(result);
  return (*result)[0];
}

// Maximum of 2 x 2 windows, stride 2.
TensorData Pool(const TensorData& input) {
  const ir::Shape& shape = input.desc.shape;
  const std::vector<uint8_t> x = Values<uint8_t>(input);
  TensorDesc desc = input.desc;
  desc.shape = ir::Shape({shape[0] / 2, shape[1] / 2, shape[2], shape[3]});
  std::vector<uint8_t> y;
  for (int64_t plane = 0; plane < shape[2] * shape[3]; ++plane) {
    for (int64_t h = 0; h + 1 < shape[1]; h += 2) {
      for (int64_t w = 0; w + 1 < shape[0]; w += 2) {
        const int64_t at = (plane * shape[1] + h) * shape[0] + w;
        y.push_back(std::max(std::max(x[at], x[at + 1]),
                             std::max(x[at + shape[0]], x[at + shape[0] + 1])));
      }
    }
  }
  return MakeTensor(desc, y);
}

TensorData Relu(const TensorData& input) {
  std::vector<uint8_t> codes = Values<uint8_t>(input);
  const int32_t zero = input.desc.quantization.ZeroPoint();
  for (uint8_t& code : codes) {
    code = static_cast<uint8_t>(std::max<int32_t>(code, zero));
  }
  return MakeTensor(input.desc, codes);
}

TEST(Lenet, LayersGiveTheKnownCodes) {
  const std::vector<char> data = ReadFile("lenet_asymu8.weights.bin");
  const std::vector<char> digit = ReadFile("digit_28x28_u8.bin");
  if (data.size() != 432820 || digit.size() != 784) {
    GTEST_SKIP() << "TIMCL_TEST_DATA/lenet is missing";
  }
  const ir::AttributeMap valid = {{"padding", int64_t{1}}};
  TensorData x =
      MakeTensor(Desc(DataType::kUint8, {28, 28, 1, 1}, 1.0f, 0), digit);
  x = Pool(RunLayer({"tim.Conv2d",
                     valid,
                     {5, 5, 1, 20},
                     80,
                     0.0033623368944972754f,
                     119,
                     0,
                     5.209146976470947f,
                     131},
                    x, data));
  x = Pool(RunLayer({"tim.Conv2d",
                     valid,
                     {5, 5, 20, 50},
                     780,
                     0.0011482049012556672f,
                     128,
                     580,
                     10.594023704528809f,
                     145},
                    x, data));
  x = Relu(RunLayer({"tim.FullyConnected",
                     {{"axis", int64_t{2}}},
                     {800, 500},
                     27780,
                     0.0007354848785325885f,
                     130,
                     25780,
                     4.961546421051025f,
                     0},
                    x, data));
  x = RunLayer({"tim.FullyConnected",
                {{"axis", int64_t{0}}},
                {500, 10},
                427820,
                0.0015804264694452286f,
                135,
                427780,
                16.404624938964844f,
                81},
               x, data);
  EXPECT_THAT(
      Values<uint8_t>(x),
      ::testing::ElementsAre(254, 8, 110, 14, 0, 116, 115, 45, 107, 107));
}

}  // namespace
}  // namespace tim::testing
