// Headers of .npy files, those of the library and others.
#include "tools/timcl/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/dump/npy.h"
#include "tests/support/status_macros.h"

namespace tim::tool {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string File(const std::string& header, const std::string& data) {
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size());
  file += '\0';
  return file + header + data;
}

void ExpectRefused(const std::string& file, const std::string& reason) {
  const auto array = ParseNpy(file);
  ASSERT_FALSE(array.ok());
  EXPECT_EQ(array.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(array.status().message(), HasSubstr(reason));
}

TEST(Npy, ReadsWhatTheLibraryWrites) {
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{2, 3}, {6}, {1, 2, 3, 1}}) {
    const std::string header = ir::NpyHeader(
        {.type = ir::DataType::kFloat32, .shape = shape, .data = {}});
    EXPECT_EQ(header.size() % 64, 0u);
    EXPECT_EQ(header.back(), '\n');
    const std::string file = header + std::string(24, 'x');
    const auto array = ParseNpy(file);
    ASSERT_OK(array);
    EXPECT_EQ(array->type, "<f4");
    EXPECT_EQ(array->shape, shape);
    EXPECT_EQ(array->data, std::string(24, 'x'));
  }
  const std::string file =
      ir::NpyHeader({.type = ir::DataType::kUint8, .shape = {}, .data = {}}) +
      "x";
  const auto scalar = ParseNpy(file);
  ASSERT_OK(scalar);
  EXPECT_THAT(scalar->shape, IsEmpty());
}

TEST(Npy, ReadsOtherWritersHeaders) {
  const std::string file = File(
      "{ \"shape\": (2 ,1,), \"fortran_order\" : False, \"descr\":\"<i2\"}\n",
      "abcd");
  const auto array = ParseNpy(file);
  ASSERT_OK(array);
  EXPECT_EQ(array->type, "<i2");
  EXPECT_THAT(array->shape, ElementsAre(2, 1));
  // Version 2 has four bytes for the header's length.
  std::string second = file;
  second[6] = 2;
  second.insert(10, 2, '\0');
  const auto again = ParseNpy(second);
  ASSERT_OK(again);
  EXPECT_EQ(again->data, "abcd");
}

TEST(Npy, RefusesWhatItIsNot) {
  const std::string good =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  ExpectRefused("", "it begins with other bytes");
  ExpectRefused("PK\x03\x04 a zip file", "it begins with other bytes");
  ExpectRefused(File(good, "").substr(0, 9), "cut short");
  ExpectRefused(File(good, "").substr(0, 40), "cut short");
  ExpectRefused(File(good, "1234567"), "cut short");
  ExpectRefused(File(good, "123456789"), "bytes behind its data");
  std::string version = File(good, "12345678");
  version[6] = 9;
  ExpectRefused(version, "version");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string header = good;
    header.replace(header.find(from), from.size(), to);
    return File(header, "12345678");
  };
  ExpectRefused(with("False", "True"), "order of Fortran");
  ExpectRefused(with("'descr'", "'d'"), "no 'descr'");
  ExpectRefused(with("'<f4'", "'<f4"), "names no type");
  ExpectRefused(with("'<f4'", "[('a', '<f4')]"), "records");
  ExpectRefused(with("'<f4'", "'<fx'"), "names no type");
  ExpectRefused(with("'shape'", "'s'"), "no 'shape'");
  ExpectRefused(with("(2,)", "(2,"), "'shape' does not end");
  ExpectRefused(with("(2,)", "(-2,)"), "holds no number");
  ExpectRefused(with("(2,)", "(9223372036854775807,4)"), "too large");
  ExpectRefused(with("'fortran_order'", "'f'"), "no 'fortran_order'");
}

}  // namespace
}  // namespace tim::tool
