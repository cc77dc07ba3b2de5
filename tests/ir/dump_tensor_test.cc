// Tensors as .npy files, their statistics, and the files' names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/half.h"
#include "ir/dump/file_names.h"
#include "ir/dump/npy.h"
#include "ir/dump/statistics.h"
#include "tests/support/status_macros.h"

namespace tim::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

template <typename T>
std::vector<std::byte> Bytes(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <typename T>
std::vector<T> Values(const NumpyArray& array) {
  std::vector<T> values(array.data.size() / sizeof(T));
  std::memcpy(values.data(), array.data.data(), array.data.size());
  return values;
}

TensorDesc Desc(DataType type, Shape shape, Layout layout = {},
                Quantization quantization = {}) {
  return {type, std::move(shape), std::move(quantization), std::move(layout)};
}

NumpyArray ArrayOf(const TensorDesc& desc,
                   const std::vector<std::byte>& bytes) {
  auto array = NumpyArrayOf(desc, bytes);
  EXPECT_OK(array);
  return array.ok() ? *std::move(array) : NumpyArray();
}

TEST(Npy, ShapeIsReversedAndBytesStay) {
  const NumpyArray array = ArrayOf(Desc(DataType::kFloat32, {3, 2}),
                                   Bytes<float>({0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(array.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_THAT(Values<float>(array), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(Npy, HeaderIsThatOfVersionOne) {
  const std::string header =
      NpyHeader({.type = DataType::kFloat32, .shape = {2, 3}, .data = {}});
  const std::string text =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  EXPECT_EQ(header.size(), 128u);
  EXPECT_EQ(header.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(header.substr(10),
            text + std::string(118 - text.size() - 1, ' ') + "\n");
}

TEST(Npy, HeaderOfEveryTypeAndRank) {
  const auto text = [](DataType type, std::vector<int64_t> shape) {
    return NpyHeader({.type = type, .shape = std::move(shape), .data = {}})
        .substr(10);
  };
  EXPECT_THAT(
      text(DataType::kInt8, {}),
      StartsWith("{'descr': '|i1', 'fortran_order': False, 'shape': (), }"));
  EXPECT_THAT(text(DataType::kUint8, {4}),
              HasSubstr("'|u1', 'fortran_order': False, 'shape': (4,), }"));
  EXPECT_THAT(text(DataType::kBool8, {4}), HasSubstr("'|b1'"));
  EXPECT_THAT(text(DataType::kInt16, {4}), HasSubstr("'<i2'"));
  EXPECT_THAT(text(DataType::kUint16, {4}), HasSubstr("'<u2'"));
  EXPECT_THAT(text(DataType::kInt32, {4}), HasSubstr("'<i4'"));
  EXPECT_THAT(text(DataType::kUint32, {4}), HasSubstr("'<u4'"));
  EXPECT_THAT(text(DataType::kInt64, {4}), HasSubstr("'<i8'"));
  EXPECT_THAT(text(DataType::kUint64, {4}), HasSubstr("'<u8'"));
  EXPECT_THAT(text(DataType::kFloat16, {4}), HasSubstr("'<f2'"));
  EXPECT_THAT(text(DataType::kFloat64, {4}), HasSubstr("'<f8'"));
  for (int rank = 0; rank <= kMaxRank; ++rank) {
    const std::string header =
        NpyHeader({.type = DataType::kInt8,
                   .shape = std::vector<int64_t>(rank, 1234567890123),
                   .data = {}});
    EXPECT_EQ(header.size() % 64, 0u);
    EXPECT_EQ(header.back(), '\n');
  }
}

// [3 along W, 3 channels] blocked by 2: two blocks, the second with a lane of
// padding.
TEST(Npy, BlocksAreTakenApart) {
  const NumpyArray array =
      ArrayOf(Desc(DataType::kInt16, {2, 3}, Layout::Blocked(1, 2)),
              Bytes<int16_t>({0, 10, 1, 11, 20, -1, 21, -1}));
  EXPECT_EQ(array.shape, (std::vector<int64_t>{3, 2}));
  EXPECT_THAT(Values<int16_t>(array), ElementsAre(0, 1, 10, 11, 20, 21));
}

TEST(DenseBytes, AreThoseOfTheTypeItself) {
  const std::vector<std::byte> blocked =
      Bytes<uint16_t>({0, 10, 1, 11, 20, 99, 21, 99});
  for (const DataType type : {DataType::kBFloat16, DataType::kFloat16}) {
    const auto dense =
        DenseBytes(Desc(type, {2, 3}, Layout::Blocked(1, 2)), blocked);
    ASSERT_OK(dense);
    EXPECT_EQ(*dense, Bytes<uint16_t>({0, 1, 10, 11, 20, 21}));
  }
  const auto codes = DenseBytes(Desc(DataType::kInt4, {3}),
                                Bytes<uint8_t>({0xF1, 0x07, 0x55}));
  ASSERT_OK(codes);
  EXPECT_EQ(*codes, Bytes<uint8_t>({0xF1, 0x07}));
}

TEST(Npy, StridesAreFollowed) {
  const NumpyArray array =
      ArrayOf(Desc(DataType::kUint8, {2, 2}, Layout::Strided({3, 1})),
              Bytes<uint8_t>({0, 10, 9, 1, 11}));
  EXPECT_THAT(Values<uint8_t>(array), ElementsAre(0, 1, 10, 11));
}

TEST(Npy, NibblesBecomeBytes) {
  const auto bytes = Bytes<uint8_t>({0xF1, 0x07, 0x82, 0x03});
  EXPECT_THAT(Values<int8_t>(ArrayOf(Desc(DataType::kInt4, {3, 2}), bytes)),
              ElementsAre(1, -1, 7, 2, -8, 3));
  EXPECT_THAT(Values<uint8_t>(ArrayOf(Desc(DataType::kUint4, {3, 2}), bytes)),
              ElementsAre(1, 15, 7, 2, 8, 3));
}

TEST(Npy, BFloat16BecomesFloat32AndBoolsAreZeroOrOne) {
  const NumpyArray array =
      ArrayOf(Desc(DataType::kBFloat16, {2}),
              Bytes<uint16_t>({FloatToBFloat16(-1.5f), 0x7F80}));
  EXPECT_EQ(array.type, DataType::kFloat32);
  EXPECT_THAT(Values<float>(array),
              ElementsAre(-1.5f, std::numeric_limits<float>::infinity()));
  EXPECT_THAT(Values<uint8_t>(ArrayOf(Desc(DataType::kBool8, {3}),
                                      Bytes<uint8_t>({0, 1, 255}))),
              ElementsAre(0, 1, 1));
}

TEST(Npy, EmptyTensorsAndScalars) {
  EXPECT_EQ(ArrayOf(Desc(DataType::kInt4, {0, 2}), {}).data.size(), 0u);
  EXPECT_EQ(
      ArrayOf(Desc(DataType::kFloat32, Shape::OfRank(0)), Bytes<float>({2}))
          .data.size(),
      4u);
}

TEST(Npy, WhatCannotBeRead) {
  const std::vector<std::byte> bytes(3);
  const auto message = [&](const TensorDesc& desc) {
    const auto array = NumpyArrayOf(desc, bytes);
    EXPECT_FALSE(array.ok());
    return array.status().message();
  };
  EXPECT_EQ(message(Desc(DataType::kFloat32, {1})),
            "a tensor of float32 [1] has 4 bytes, and 3 are given");
  EXPECT_THAT(message(Desc(DataType::kFloat32, {kUnknownDim})),
              HasSubstr("not completely known"));
  EXPECT_THAT(message(Desc(DataType::kUnknown, {1})),
              HasSubstr("type is unknown"));
  EXPECT_THAT(message(Desc(DataType::kInt4, {2}, Layout::Blocked(0, 2))),
              HasSubstr("4-bit elements in the layout blocked"));
}

TensorStatistics Look(const TensorDesc& desc,
                      const std::vector<std::byte>& bytes) {
  return StatisticsOf(desc, ArrayOf(desc, bytes));
}

TEST(Statistics, OfFloats) {
  const float inf = std::numeric_limits<float>::infinity();
  const TensorStatistics found = Look(Desc(DataType::kFloat32, {6}),
                                      Bytes<float>({1, -3, NAN, inf, -inf, 8}));
  EXPECT_EQ(found.elements, 6);
  EXPECT_EQ(found.nans, 1);
  EXPECT_EQ(found.infinities, 2);
  EXPECT_EQ(found.saturated, 0);
  EXPECT_EQ(found.min, -3);
  EXPECT_EQ(found.max, 8);
  EXPECT_EQ(found.mean, 2);
  EXPECT_EQ(FlagsOf(found), "nan+infinity");
}

TEST(Statistics, OfHalvesAndDoubles) {
  const TensorStatistics halves =
      Look(Desc(DataType::kFloat16, {3}),
           Bytes<uint16_t>({FloatToHalf(0.5f), 0x7E00, 0xFC00}));
  EXPECT_EQ(halves.mean, 0.5);
  EXPECT_EQ(FlagsOf(halves), "nan+infinity");
  const TensorStatistics doubles =
      Look(Desc(DataType::kFloat64, {2}), Bytes<double>({1e308, 1e308}));
  EXPECT_EQ(doubles.mean, 1e308);
}

TEST(Statistics, OfNothing) {
  const TensorStatistics found =
      Look(Desc(DataType::kFloat32, {2}), Bytes<float>({NAN, NAN}));
  EXPECT_FALSE(found.min || found.max || found.mean);
  EXPECT_EQ(Look(Desc(DataType::kFloat32, {0}), {}).elements, 0);
}

TEST(Statistics, CodesAtTheEndsOfTheirRange) {
  TensorDesc desc =
      Desc(DataType::kInt8, {5}, {}, Quantization::PerTensor(0.5f, 0));
  const auto bytes = Bytes<int8_t>({-128, 127, 127, 0, 1});
  EXPECT_EQ(Look(desc, bytes).saturated, 3);
  EXPECT_EQ(Look(desc, bytes).mean, 25.4);
  EXPECT_EQ(FlagsOf(Look(desc, bytes)), "saturated");
  desc.quantization = {};  // numbers, of which any may be meant
  EXPECT_EQ(Look(desc, bytes).saturated, 0);
  EXPECT_EQ(FlagsOf(Look(desc, bytes)), "");
}

TEST(Statistics, FourBitCodesSaturateAtTheirOwnEnds) {
  const TensorDesc desc =
      Desc(DataType::kInt4, {4}, {}, Quantization::PerTensor(1, 0));
  EXPECT_EQ(Look(desc, Bytes<uint8_t>({0x78, 0x10})).saturated, 2);
}

TEST(FileNames, AreHarmless) {
  EXPECT_EQ(FileNameOf("t3 'mask'"), "t3__mask_");
  EXPECT_EQ(FileNameOf("../../etc/passwd"), "_.._.._etc_passwd");
  EXPECT_EQ(FileNameOf("a/b\\c\"d\n$(e)"), "a_b_c_d___e_");
  EXPECT_EQ(FileNameOf("测试.x-1"), "测试.x-1");
  EXPECT_EQ(FileNameOf(""), "_");
  EXPECT_EQ(FileNameOf("."), "_.");
  EXPECT_EQ(FileNameOf("\xFF"), "\xEF\xBF\xBD");
  std::string name;
  for (int i = 0; i < 60; ++i) name += "ß";
  EXPECT_EQ(FileNameOf("x" + name), "x" + name.substr(0, 98));
  EXPECT_EQ(FileNameOf(name), name.substr(0, 100));
}

TEST(FileNames, AreUnique) {
  FileNames names;
  EXPECT_EQ(names.Unique("a_b", ".npy"), "a_b.npy");
  EXPECT_EQ(names.Unique("a_b", ".npy"), "a_b_2.npy");
  EXPECT_EQ(names.Unique("a_b", ".npy"), "a_b_3.npy");
  EXPECT_EQ(names.Unique("a_b_2", ".npy"), "a_b_2_2.npy");
  EXPECT_EQ(names.Unique("A_b", ".npy"), "A_b.npy");
}

}  // namespace
}  // namespace tim::ir
