#include "compiler/constant_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "base/aligned_memory.h"
#include "ir/packed_form.h"
#include "tests/support/status_macros.h"

namespace tim::compiler {
namespace {

using Devices = std::vector<ir::DeviceInfo>;

// The host, and two devices with blocks of up to `limit` bytes.
Devices WithLimit(int64_t limit) {
  Devices devices(3);
  for (int i = 1; i < 3; ++i) {
    devices[i].max_allocation_bytes = limit;
    devices[i].alignment = 128;
  }
  return devices;
}

ConstantBlocks::Fill FillWith(int value) {
  return [value](std::span<std::byte> out) {
    std::fill(out.begin(), out.end(), std::byte(value));
    return OkStatus();
  };
}

TEST(ConstantBlocks, LieOneBehindTheOtherAtAlignedOffsets) {
  const Devices devices = WithLimit(1 << 20);
  ConstantBlocks constants(devices);
  std::vector<ir::Slot> slots;
  for (int i = 0; i < 20; ++i) {
    slots.push_back(
        constants.Add(1, StrCat("c", i), 1 + 37 * i, FillWith(i + 1)));
  }
  const auto blocks = constants.Make();
  ASSERT_OK(blocks);
  ASSERT_EQ(blocks->size(), 1u);
  const ir::ConstantBlock& block = blocks->front();
  EXPECT_EQ(block.device, 1);
  EXPECT_TRUE(IsAligned(block.data.get(), 4096));
  std::vector<std::byte> expected(block.bytes);
  int64_t end = 0;
  for (int i = 0; i < 20; ++i) {
    const ir::Slot& slot = slots[i];
    EXPECT_EQ(slot.kind, ir::SlotKind::kConstant);
    EXPECT_EQ(slot.device, 1);
    EXPECT_EQ(slot.index, 0);
    EXPECT_EQ(slot.bytes, 1 + 37 * i);
    EXPECT_EQ(slot.offset % 128, 0);
    EXPECT_GE(slot.offset, end);
    end = slot.offset + slot.bytes;
    ASSERT_LE(end, block.bytes);
    EXPECT_EQ(block.constants[i].id, StrCat("c", i));
    EXPECT_EQ(block.constants[i].offset, slot.offset);
    EXPECT_EQ(block.constants[i].bytes, slot.bytes);
    std::fill_n(expected.begin() + slot.offset, slot.bytes, std::byte(i + 1));
  }
  // With zeros between them.
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), block.data.get()));
}

// A packing behind one byte that stays 0, which gives `unpacked` bytes back.
ir::ReversiblePacking BehindOne(std::shared_ptr<const ir::ConstantData> data,
                                int64_t unpacked) {
  const size_t count = data->bytes.size();
  return {.constant = std::move(data),
          .pack = [count](const std::byte* from,
                          std::byte* to) { std::copy_n(from, count, to + 1); },
          .unpack = [unpacked](
                        const std::byte* from,
                        std::byte* to) { std::copy_n(from + 1, unpacked, to); },
          .unpacked = unpacked};
}

TEST(ConstantBlocks, TellWhatCanBeUnpacked) {
  const Devices devices = WithLimit(1 << 20);
  ConstantBlocks constants(devices);
  const std::string text = "of a constant";
  const auto size = static_cast<int64_t>(text.size());
  const auto constant = ir::MakeConstant(text.data(), text.size());
  const ir::PackedForms packed;
  constants.Add(1, "a", 5, FillWith(1));
  const ir::Slot slot =
      constants.Add(1, "b", size + 1, BehindOne(constant, size));
  constants.Add(1, "c", size + 1, BehindOne(constant, size - 1));
  const auto blocks = constants.Make();
  ASSERT_OK(blocks);
  ASSERT_EQ(packed.forms().size(), 1u);
  const ir::PackedForm& form = packed.forms().front();
  EXPECT_EQ(form.packed.get(), blocks->front().data.get() + slot.offset);
  const auto made = ir::Unpack(form);
  ASSERT_OK(made);
  EXPECT_EQ((*made)->hash, constant->hash);
  EXPECT_TRUE(std::equal((*made)->bytes.begin(), (*made)->bytes.end(),
                         constant->bytes.begin(), constant->bytes.end()));
}

TEST(ConstantBlocks, EqualIdsOfADeviceAreMadeOnce) {
  const Devices devices = WithLimit(1 << 20);
  ConstantBlocks constants(devices);
  std::atomic<int> made = 0;
  const auto count = [&](std::span<std::byte>) {
    ++made;
    return OkStatus();
  };
  const ir::Slot first = constants.Add(1, "a", 8, count);
  EXPECT_EQ(constants.Add(1, "a", 8, count), first);
  EXPECT_NE(constants.Add(1, "b", 8, count), first);
  EXPECT_EQ(constants.Add(2, "a", 8, count).device, 2);
  const auto blocks = constants.Make();
  ASSERT_OK(blocks);
  EXPECT_EQ(made, 3);
  ASSERT_EQ(blocks->size(), 2u);
  EXPECT_EQ((*blocks)[0].constants.size(), 2u);
  EXPECT_EQ((*blocks)[1].constants.size(), 1u);
}

TEST(ConstantBlocks, AreCutWhereTheDeviceAllocatesNoMore) {
  const Devices devices = WithLimit(1000);
  ConstantBlocks constants(devices);
  std::vector<int> indices;
  for (const int64_t bytes : {500, 300, 200, 2000, 10}) {
    const ir::Slot slot =
        constants.Add(1, StrCat(bytes, " bytes"), bytes, FillWith(7));
    indices.push_back(slot.index);
  }
  // The one that is too large has a block of its own, which the device refuses.
  EXPECT_EQ(indices, (std::vector<int>{0, 0, 1, 2, 3}));
  const auto blocks = constants.Make();
  ASSERT_OK(blocks);
  for (const int i : {0, 1, 3}) EXPECT_LE((*blocks)[i].bytes, 1000);
}

TEST(ConstantBlocks, OffsetsFitAnInt) {
  const Devices devices = WithLimit(int64_t{1} << 40);
  ConstantBlocks constants(devices);
  for (int i = 0; i < 12; ++i) {
    const ir::Slot slot =
        constants.Add(1, StrCat(i), int64_t{1} << 29, FillWith(0));
    EXPECT_EQ(slot.index, i / 4);
    EXPECT_LE(slot.offset, INT32_MAX);
  }
}

TEST(ConstantBlocks, TheHostReadsConstantsOfTheGraphWhereTheyAre) {
  const Devices devices = WithLimit(1 << 20);
  ConstantBlocks constants(devices);
  const float values[] = {1, 2, 3};
  const auto data = ir::MakeConstant(values, sizeof(values));
  const ir::Slot host = constants.Add(0, data);
  EXPECT_EQ(constants.Add(0, ir::MakeConstant(values, sizeof(values))), host);
  const ir::Slot device = constants.Add(1, data);
  const auto blocks = constants.Make();
  ASSERT_OK(blocks);
  ASSERT_EQ(blocks->size(), 2u);
  EXPECT_EQ((*blocks)[host.index].data.get(), data->bytes.data());
  const std::byte* const copy = (*blocks)[device.index].data.get();
  EXPECT_NE(copy, data->bytes.data());
  EXPECT_TRUE(std::equal(data->bytes.begin(), data->bytes.end(), copy));
}

TEST(ConstantBlocks, UnifiedMemoryReadsLargeConstantsWhereTheyAre) {
  for (const bool unified : {false, true}) {
    Devices devices = WithLimit(int64_t{1} << 30);
    devices[1].unified_memory = unified;
    ConstantBlocks constants(devices);
    const std::vector<std::byte> bytes(1 << 20, std::byte{7});
    const auto data = ir::MakeConstant(bytes);
    const ir::Slot slot = constants.Add(1, data);
    EXPECT_EQ(constants.Add(1, ir::MakeConstant(bytes)), slot);
    const auto blocks = constants.Make();
    ASSERT_OK(blocks);
    ASSERT_EQ(blocks->size(), 1u);
    EXPECT_EQ((*blocks)[0].data.get() == data->bytes.data(), unified);
    EXPECT_EQ((*blocks)[0].data[bytes.size() - 1], std::byte{7});
  }
}

TEST(ConstantBlocks, AFailureNamesTheConstant) {
  const Devices devices = WithLimit(1 << 20);
  ConstantBlocks constants(devices);
  constants.Add(1, "good", 8, FillWith(1));
  constants.Add(1, "panels of t3", 8, [](std::span<std::byte>) -> Status {
    return Unimplemented("not today");
  });
  EXPECT_ERROR(constants.Make(), "packing panels of t3: ");
}

// On whatever thread.
TEST(ConstantBlocks, WithoutMemoryToMakeThemThereAreNone) {
  const Devices devices = WithLimit(1 << 20);
  const auto held = std::make_shared<int>(0);
  {
    ConstantBlocks constants(devices);
    for (int i = 0; i < 50; ++i) {
      constants.Add(
          1, StrCat("c", i), 8,
          [held](std::span<std::byte>) -> Status { throw std::bad_alloc(); });
    }
    const auto blocks = constants.Make();
    EXPECT_EQ(blocks.status().code(), StatusCode::kOutOfMemory);
    EXPECT_ERROR(blocks, "packing c0: ");
  }
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace tim::compiler
