// Content in other forms, and the conversion functions.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using vx::DataType;
using vx::Quantization;
using vx::QuantType;
using vx::TensorAttribute;
using vx::TensorSpec;

std::shared_ptr<vx::Tensor> Constant(DataType type, const vx::ShapeType& shape,
                                     const Quantization& quantization,
                                     const void* data = nullptr) {
  return HostGraph()->CreateTensor(
      TensorSpec(type, shape, TensorAttribute::CONSTANT, quantization), data);
}

std::vector<float> RealValues(const std::shared_ptr<vx::Tensor>& tensor) {
  float* real = tensor->ConvertTensorToFloat32Data();
  if (real == nullptr) return {};
  const auto count = static_cast<size_t>(tensor->GetSpec().GetElementNum());
  std::vector<float> values(real, real + count);
  free(real);
  return values;
}

template <typename T>
std::vector<T> Codes(const std::shared_ptr<vx::Tensor>& tensor,
                     const std::vector<float>& real) {
  std::vector<T> codes(real.size());
  EXPECT_TRUE(vx::utils::Float32ToDtype(
      tensor, real, reinterpret_cast<uint8_t*>(codes.data())))
      << vx::LastError();
  return codes;
}

TEST(RealValues, OfEveryQuantization) {
  const int8_t codes[] = {-2, 0, 2, 4};
  const auto of = [&](const Quantization& quantization) {
    return RealValues(Constant(DataType::INT8, {2, 2}, quantization, codes));
  };
  EXPECT_EQ(of(Quantization()), (std::vector<float>{-2, 0, 2, 4}));
  EXPECT_EQ(of(Quantization(QuantType::ASYMMETRIC, 0.5f, 2)),
            (std::vector<float>{-2, -1, 0, 1}));
  EXPECT_EQ(of(Quantization(QuantType::SYMMETRIC_PER_CHANNEL, 0, {1, 10}, {})),
            (std::vector<float>{-2, 0, 2, 40}));
  EXPECT_EQ(
      of(Quantization(QuantType::ASYMMETRIC_PER_CHANNEL, 1, {1, 10}, {0, 2})),
      (std::vector<float>{-2, 0, 0, 20}));
  EXPECT_EQ(of(Quantization(QuantType::DYNAMIC_FIXED_POINT, int8_t{2})),
            (std::vector<float>{-0.5f, 0, 0.5f, 1}));
  EXPECT_EQ(of(Quantization(QuantType::DYNAMIC_FIXED_POINT, int8_t{-3})),
            (std::vector<float>{-16, 0, 16, 32}));
}

TEST(RealValues, OfOtherTypes) {
  const uint16_t halves[] = {0x3C00, 0xC000};
  EXPECT_EQ(RealValues(Constant(DataType::FLOAT16, {2}, {}, halves)),
            (std::vector<float>{1, -2}));
  const int32_t ints[] = {-7, 70000};
  EXPECT_EQ(RealValues(Constant(DataType::INT32, {2}, {}, ints)),
            (std::vector<float>{-7, 70000}));
  const int64_t longs[] = {1};
  EXPECT_EQ(
      Constant(DataType::INT64, {1}, {}, longs)->ConvertTensorToFloat32Data(),
      nullptr);
}

TEST(Float32ToDtype, RoundsHalfToEvenAndSaturates) {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto tensor = Constant(DataType::UINT8, {6},
                               Quantization(QuantType::ASYMMETRIC, 2.0f, 3));
  EXPECT_EQ(Codes<uint8_t>(tensor, {1, 3, 5, -100, infinity, -infinity}),
            (std::vector<uint8_t>{3, 5, 5, 0, 255, 0}));
  const auto wide = Constant(DataType::INT64, {3}, {});
  EXPECT_EQ(Codes<int64_t>(wide, {2.5f, infinity, -infinity}),
            (std::vector<int64_t>{2, INT64_MAX, INT64_MIN}));
}

TEST(Float32ToDtype, OtherQuantizationsAndTypes) {
  EXPECT_EQ(
      Codes<int8_t>(Constant(DataType::INT8, {2, 2},
                             Quantization(QuantType::SYMMETRIC_PER_CHANNEL, 1,
                                          {1.0f, 0.5f}, {0, 0})),
                    {1, 2, 1, 100}),
      (std::vector<int8_t>{1, 2, 2, 127}));
  EXPECT_EQ(Codes<int16_t>(Constant(DataType::INT16, {2},
                                    Quantization(QuantType::DYNAMIC_FIXED_POINT,
                                                 int8_t{8})),
                           {1.5f, -300}),
            (std::vector<int16_t>{384, -32768}));
  EXPECT_EQ(Codes<uint16_t>(Constant(DataType::FLOAT16, {2}, {}), {1, -2}),
            (std::vector<uint16_t>{0x3C00, 0xC000}));
  EXPECT_EQ(Codes<uint8_t>(Constant(DataType::BOOL8, {2}, {}), {0, -2}),
            (std::vector<uint8_t>{0, 1}));
  // Four-bit codes take a byte each and keep their range.
  EXPECT_EQ(Codes<int8_t>(Constant(DataType::INT4, {3}, {}), {-9, 3, 9}),
            (std::vector<int8_t>{-8, 3, 7}));
}

TEST(Float32ToDtype, RefusesTooFewValuesAndNull) {
  const auto tensor = Constant(DataType::FLOAT32, {2}, {});
  uint8_t memory[8];
  EXPECT_FALSE(vx::utils::Float32ToDtype(tensor, {1}, memory));
  EXPECT_NE(vx::LastError().find("1 values for float32 [2]"),
            std::string::npos);
  EXPECT_FALSE(vx::utils::Float32ToDtype(tensor, {1, 2}, nullptr));
  EXPECT_FALSE(vx::utils::Float32ToDtype(nullptr, {1, 2}, memory));
}

TEST(DtypeToFloat32, ConvertsTheFirstElement) {
  const auto tensor = Constant(DataType::UINT8, {2},
                               Quantization(QuantType::ASYMMETRIC, 0.5f, 1));
  uint8_t codes[] = {5, 9};
  float real[] = {-1, -1};
  EXPECT_TRUE(vx::utils::DtypeToFloat32(tensor, codes, real));
  EXPECT_EQ(real[0], 2.0f);
  EXPECT_EQ(real[1], -1.0f);
  EXPECT_FALSE(vx::utils::DtypeToFloat32(tensor, nullptr, real));
  EXPECT_FALSE(vx::utils::DtypeToFloat32(nullptr, codes, real));
}

TEST(SaveTensorToText, OneValuePerLine) {
  const float data[] = {0.5f, -2};
  const auto tensor = Constant(DataType::FLOAT32, {2}, {}, data);
  const std::string path = ::testing::TempDir() + "/saved.txt";
  ASSERT_TRUE(tensor->SaveTensorToTextByFp32(path)) << vx::LastError();
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "0.5000000000000000\n-2.0000000000000000\n");
  EXPECT_FALSE(tensor->SaveTensorToTextByFp32("/no/such/folder/x.txt"));
  EXPECT_NE(vx::LastError().find("/no/such/folder/x.txt"), std::string::npos);
}

}  // namespace
}  // namespace tim::testing
