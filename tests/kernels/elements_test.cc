// Elements as kernels::ElementWriter leaves them in memory of any content.
#include "kernels/elements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace tim::kernels {
namespace {

using ::testing::ElementsAre;

ir::TensorDesc DescOf(ir::DataType type, ir::Shape shape) {
  ir::TensorDesc desc;
  desc.type = type;
  desc.shape = std::move(shape);
  return desc;
}

// Rows of three take two bytes each, of which the last nibble is no element's.
TEST(ElementWriter, LeavesZerosBehindOddRowsOf4Bits) {
  const ir::TensorDesc desc = DescOf(ir::DataType::kUint4, {3, 2});
  std::vector<uint8_t> bytes(4, 0xff);
  ElementWriter writer({&desc, bytes.data()});
  for (int64_t i = 5; i >= 0; --i) writer.StoreCode(i, i + 1);
  EXPECT_THAT(bytes, ElementsAre(0x21, 0x03, 0x54, 0x06));
}

TEST(ElementWriter, KeepsTheOtherElementOfAByte) {
  const ir::TensorDesc desc = DescOf(ir::DataType::kInt4, {2});
  std::vector<uint8_t> bytes = {0xff};
  ElementWriter writer({&desc, bytes.data()});
  writer.StoreCode(0, -8);
  EXPECT_THAT(bytes, ElementsAre(0xf8));
  writer.StoreCode(1, 5);
  EXPECT_THAT(bytes, ElementsAre(0x58));
}

}  // namespace
}  // namespace tim::kernels
