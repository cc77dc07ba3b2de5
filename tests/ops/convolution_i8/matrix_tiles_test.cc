// Convolutions and matrix products of 8-bit codes by tiles of AMX: where they
// are taken, and the bits.  What runs needs a processor that has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/ops/convolution_i8/code_convolutions.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

TIM_FOR_CPU_KERNELS();

using ir::DataType;
using ir::TensorDesc;
using Ints = std::vector<int64_t>;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kConvolution[] = "conv2d_nchw16c_i8";
constexpr char kDeconvolution[] = "deconv_nchw16c_i8";
constexpr char kMatmul[] = "matmul_gemm_i8";

// The device as one whose processor has AMX, for lowerings.
ir::DeviceInfo WithAmx() {
  ir::DeviceInfo device = TestDeviceOfLanes(16);
  device.has_vnni = device.has_amx = true;
  return device;
}

// Options of the last launch.
std::string OptionsOf(const Result<TestNode>& node, const char* kernel,
                      const ir::DeviceInfo& device) {
  if (!node.ok()) return node.status().ToString();
  const auto launches = LaunchesOf(*node, kernel, device);
  return launches.ok() ? launches->back().options
                       : launches.status().ToString();
}

// Lowered for tiles of AMX, and, on a processor that has them, run.
Status Check(const Result<TestNode>& node, const char* kernel,
             std::mt19937& rng) {
  TIM_RETURN_IF_ERROR(node.status());
  const std::string options = OptionsOf(node, kernel, WithAmx());
  if (options.find("-DPART=") == std::string::npos) {
    return InvalidArgument("no tiles of AMX: ", options);
  }
  if (!TestDevice().has_amx) return OkStatus();
  return CheckCodes(*node, kernel, TestDevice(), rng);
}

Result<TestNode> Product(const Ints& a, const Ints& b, bool transpose_a,
                         bool transpose_b, DataType type, std::mt19937& rng,
                         bool constant) {
  const TensorDesc left = Desc(type, a, 0.01f, 3);
  const TensorDesc right = Desc(DataType::kUint8, b, 0.01f, 120);
  TensorDesc result = Inferred(DataType::kUint8);
  result.quantization = ir::Quantization::PerTensor(0.1f, 128);
  std::map<int, TensorData> constants;
  if (constant) constants[1] = RandomTensor(right, rng);
  return MakeNode("tim.Matmul",
                  {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}},
                  {left, right}, {result}, std::move(constants));
}

// One part or two along x, two along y, a last tile that moves back.
TEST(MatrixTiles, Images) {
  std::mt19937 rng = SeededRng(1);
  for (const Ints& image : {Ints{7, 7}, Ints{14, 3}, Ints{16, 2}, Ints{17, 5},
                            Ints{19, 4}, Ints{33, 3}, Ints{65, 2}}) {
    for (const int64_t kernel : {1, 3}) {
      EXPECT_OK(Check(NodeOf({.input = {image[0], image[1], 256, 2},
                              .kernel = {kernel, kernel, 256, 48}},
                             kSignedCodes, rng),
                      kConvolution, rng))
          << image[0] << " x " << image[1] << ", kernel " << kernel;
    }
  }
}

// Blocks of 64 channels that end inside of a block of 16, or after one of them.
TEST(MatrixTiles, Channels) {
  std::mt19937 rng = SeededRng(2);
  for (const int64_t inputs : {65, 80, 127, 129, 192}) {
    for (const int64_t outputs : {1, 16, 33, 65}) {
      EXPECT_OK(Check(
          NodeOf(
              {.input = {16, 5, inputs, 1}, .kernel = {3, 3, inputs, outputs}},
              outputs == 33 ? kUnsignedCodes : kSignedCodes, rng),
          kConvolution, rng))
          << inputs << " to " << outputs;
    }
  }
}

// A dense input is read where it is: a row of the kernel is a step.
TEST(MatrixTiles, FewChannels) {
  std::mt19937 rng = SeededRng(11);
  for (const int64_t channels : {1, 3, 7, 15}) {
    for (const int64_t width : {7, 16}) {
      for (const int64_t stride : {1, 2}) {
        EXPECT_OK(
            Check(NodeOf({.input = {63, 9, channels, 2},
                          .kernel = {width, 7, channels, 60},
                          .stride = {stride, stride}},
                         stride == 1 ? kUnsignedCodes : kSignedCodes, rng),
                  kConvolution, rng))
            << channels << " channels, " << width << " wide, stride " << stride;
      }
    }
  }
  for (const CodeConvolution& other :
       {CodeConvolution{.input = {41, 9, 3, 1}, .kernel = {17, 7, 3, 60}},
        CodeConvolution{.input = {41, 9, 3, 1},
        .kernel = {7, 7, 3, 60},
        .dilation = {2, 1}}}) {
    EXPECT_THAT(
        OptionsOf(NodeOf(other, kSignedCodes, rng), kConvolution, WithAmx()),
        Not(HasSubstr("-DPART=")));
  }
}

TEST(MatrixTiles, StridesPadsAndDilations) {
  std::mt19937 rng = SeededRng(3);
  for (const int64_t stride : {1, 2, 3}) {
    for (const int64_t dilation : {1, 2}) {
      EXPECT_OK(Check(NodeOf({.input = {23, 11, 128, 1},
                              .kernel = {3, 3, 128, 40},
                              .padding = 0,
                              .pad = {2, 1, 3, 0},
                              .stride = {stride, stride},
                              .dilation = {dilation, dilation}},
                             kUnsignedCodes, rng),
                      kConvolution, rng))
          << "stride " << stride << ", dilation " << dilation;
    }
  }
}

// Weights whose zero points count take the sums of pixels beside the tiles.
TEST(MatrixTiles, ZeroPointsOfWeights) {
  std::mt19937 rng = SeededRng(4);
  for (const CodeTypes& types : ExtremeZeroPoints()) {
    EXPECT_OK(Check(NodeOf({.input = {9, 4, 144, 1}, .kernel = {3, 3, 144, 18}},
                           types, rng),
                    kConvolution, rng))
        << types.ToString();
  }
}

TEST(MatrixTiles, Groups) {
  std::mt19937 rng = SeededRng(5);
  struct Case {
    int64_t groups;
    Ints kernel;
  };
  for (const auto& [groups, kernel] :
       {Case{2, {3, 3, 64, 128}}, Case{2, {3, 3, 96, 64}},
        Case{3, {3, 3, 32, 96}}}) {
    EXPECT_OK(Check(
        NodeOf({.input = {13, 4, kernel[2] * groups, 1}, .kernel = kernel},
               kSignedCodes, rng),
        kConvolution, rng))
        << groups << " groups of " << kernel[2];
  }
}

TEST(MatrixTiles, ResidualAndTotals) {
  std::mt19937 rng = SeededRng(6);
  const CodeConvolution convolution = {.input = {13, 6, 128, 1},
                                       .kernel = {3, 3, 128, 48}};
  const auto node = NodeOf(convolution, kSignedCodes, rng);
  ASSERT_OK(node);
  const TensorDesc y = Desc(DataType::kInt8, {13, 6, 48, 1}, 0.7f, -4);
  const auto sum = Fuse(*node, "tim.Add", {}, {y}, y);
  EXPECT_OK(Check(sum, kConvolution, rng));

  const TensorDesc weights = Desc(DataType::kInt8, {3, 3, 128, 48});
  const auto total =
      MakeNode("tim.Conv2d", convolution.attributes(),
               {Desc(DataType::kUint8, convolution.input), weights},
               {Inferred(DataType::kInt32)}, {{1, RandomTensor(weights, rng)}});
  EXPECT_OK(Check(total, kConvolution, rng));
}

TEST(MatrixTiles, Deconvolution) {
  std::mt19937 rng = SeededRng(7);
  const TensorDesc weights = Desc(DataType::kInt8, {2, 2, 256, 20}, 0.01f, 0);
  TensorDesc output = Inferred(DataType::kUint8);
  output.quantization = ir::Quantization::PerTensor(0.5f, 100);
  const auto node = MakeNode(
      "tim.DeConv2d", {{"pad", Ints{0, 0, 0, 0}}, {"stride", Ints{2, 2}}},
      {Desc(DataType::kUint8, {16, 6, 256, 1}, 0.02f, 7), weights}, {output},
      {{1, RandomTensor(weights, rng)}});
  EXPECT_OK(Check(node, kDeconvolution, rng));
}

// Few products, few channels, a device without: the older form.
TEST(MatrixTiles, AreLeftWhereTheyDoNotPay) {
  std::mt19937 rng = SeededRng(8);
  ir::DeviceInfo without = WithAmx();
  without.has_amx = false;
  const auto wide =
      NodeOf({.input = {14, 14, 256, 1}, .kernel = {3, 3, 256, 32}},
             kSignedCodes, rng);
  EXPECT_THAT(OptionsOf(wide, kConvolution, WithAmx()), HasSubstr("-DPART="));
  EXPECT_THAT(OptionsOf(wide, kConvolution, without),
              Not(HasSubstr("-DPART=")));
  const auto narrow = NodeOf(
      {.input = {14, 14, 32, 1}, .kernel = {1, 1, 32, 32}}, kSignedCodes, rng);
  EXPECT_THAT(OptionsOf(narrow, kConvolution, WithAmx()),
              Not(HasSubstr("-DPART=")));
  const auto pixel = NodeOf(
      {.input = {1, 1, 512, 1}, .kernel = {1, 1, 512, 64}}, kSignedCodes, rng);
  EXPECT_THAT(OptionsOf(pixel, kConvolution, WithAmx()),
              Not(HasSubstr("-DPART=")));
  const auto row =
      Product({512, 1}, {64, 512}, false, false, DataType::kUint8, rng, true);
  EXPECT_THAT(OptionsOf(row, kMatmul, WithAmx()), Not(HasSubstr("-DPART=")));
}

// Rows, columns and depths at both sides of tiles.
TEST(MatrixTiles, Products) {
  std::mt19937 rng = SeededRng(9);
  for (const int64_t rows : {16, 17, 31, 32, 33, 50}) {
    for (const int64_t depth : {191, 192, 193}) {
      for (const int64_t columns : {16, 17, 48, 67}) {
        EXPECT_OK(
            Check(Product({depth, rows}, {columns, depth}, false, false,
                          rows % 2 == 0 ? DataType::kUint8 : DataType::kInt8,
                          rng, columns != 17),
                  kMatmul, rng))
            << rows << " x " << depth << " x " << columns;
      }
    }
  }
}

TEST(MatrixTiles, ProductsOfTransposedAndBatchedFactors) {
  std::mt19937 rng = SeededRng(10);
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      EXPECT_OK(
          Check(Product(transpose_a ? Ints{37, 200, 3} : Ints{200, 37, 3},
                        transpose_b ? Ints{200, 41, 3} : Ints{41, 200, 3},
                        transpose_a, transpose_b, DataType::kInt8, rng, false),
                kMatmul, rng))
          << transpose_a << transpose_b;
    }
  }
}

}  // namespace
}  // namespace tim::testing
