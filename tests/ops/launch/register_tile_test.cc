#include "ops/launch/register_tile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "ops/convolution_i8/code_tiles.h"
#include "ops/launch/blocked.h"
#include "tests/support/status_macros.h"

namespace tim::ops {
namespace {

TEST(FewTileSizes, AreFourThatFit) {
  std::set<int64_t> sizes;
  for (int64_t count = 1; count < 100; ++count) {
    const int64_t size = FewTileSizes(count, 14);
    EXPECT_LE(size, count);
    EXPECT_GT(2 * size + 1, std::min<int64_t>(count, 14)) << count;
    sizes.insert(size);
  }
  EXPECT_EQ(sizes, (std::set<int64_t>{1, 3, 7, 14}));
  for (int64_t limit = 1; limit < 14; ++limit) {
    EXPECT_EQ(FewTileSizes(1, limit), 1);
    EXPECT_EQ(FewTileSizes(100, limit), limit);
  }
}

TEST(FewTileSizes, AreHalvedUntilTheirSpanFits) {
  const auto strides_of_32 = [](int64_t size) { return 32 * size; };
  EXPECT_EQ(FewTileSizesWithin(14, 448, strides_of_32), 14);
  EXPECT_EQ(FewTileSizesWithin(14, 447, strides_of_32), 7);
  EXPECT_EQ(FewTileSizesWithin(14, 100, strides_of_32), 3);
  EXPECT_EQ(FewTileSizesWithin(14, 1, strides_of_32), 1);
}

// Stride and kernel of 32: 14 pixels of the output span 448 of the input.
TEST(FewTileSizes, OfCodesSpanWhatIsKept) {
  ir::DeviceInfo device;
  device.float_vector_width = 16;
  Conv2dShape shape;
  shape.w = {.input = 512, .kernel = 32, .output = 16, .stride = 32};
  shape.channels = shape.group.channels = shape.group.out_channels = 16;
  const CodeTiles tiles = CodeTilesOf(shape, ChannelBlocks(), true, device);
  EXPECT_EQ(tiles.width, 7);
  EXPECT_OK(CheckSpan(tiles));
}

TEST(TileSize, IsTheLargestThatWastesNothing) {
  EXPECT_EQ(TileSize(56, 14), 14);
  EXPECT_EQ(TileSize(13, 14), 13);
  EXPECT_EQ(TileSize(3136, 14), 14);
}

// 4 x 13 = 52 and 5 x 10 = 50 for 49: two more in vain cost more than another
// tile does.
TEST(TileSize, FewerInVainOutweighAnotherTile) {
  EXPECT_EQ(TileSize(49, 14), 10);
  EXPECT_EQ(TileSize(15, 14), 8);
}

TEST(TileSize, AnotherTileOutweighsFewInVain) {
  EXPECT_EQ(TileSize(55, 14), 14);
  EXPECT_EQ(TileSize(111, 14), 14);
}

TEST(TileSize, IsBetweenOneAndTheLimit) {
  for (int64_t limit = 1; limit <= 14; ++limit) {
    for (int64_t count = 1; count <= 200; ++count) {
      const int64_t size = TileSize(count, limit);
      EXPECT_GE(size, 1) << count << " in tiles up to " << limit;
      EXPECT_LE(size, limit) << count << " in tiles up to " << limit;
      EXPECT_LE(size, count) << count << " in tiles up to " << limit;
    }
  }
}

// Rows of seven pixels: a second row saves loads, an eighth row is in vain.
TEST(TileSize, CountsWhatIsRepeatedInUnits) {
  EXPECT_EQ(TileSize(14, 2, 7), 2);
  EXPECT_EQ(TileSize(7, 2, 7), 1);
  EXPECT_EQ(TileSize(15, 2, 7), 2);
}

TEST(BestTile, TakesThreeBlocksWherePairsWouldComputeOneInVain) {
  ir::DeviceInfo device;
  device.float_vector_width = 16;
  for (const int64_t blocks : {3, 9, 15}) {
    EXPECT_EQ(BestTile(3136, blocks, device).blocks, 3) << blocks;
  }
  for (const int64_t blocks : {2, 4, 5, 6, 7, 8, 32}) {
    EXPECT_EQ(BestTile(3136, blocks, device).blocks, 2) << blocks;
    EXPECT_EQ(BestTile(49, blocks, device).blocks, 2) << blocks;
  }
  EXPECT_EQ(BestTile(3136, 1, device).blocks, 1);
  device.float_vector_width = 8;
  EXPECT_EQ(BestTile(3136, 9, device).blocks, 1);
}

TEST(RowsInRegisters, AreNoMoreThanTheCoresShareNeeds) {
  ir::DeviceInfo device;
  device.compute_units = 2;
  for (const auto& [width, most] : {std::pair(16, 8), {8, 4}, {4, 4}}) {
    device.float_vector_width = width;
    EXPECT_EQ(RowsInRegisters(1, device), 1);
    EXPECT_EQ(RowsInRegisters(2, device), 1);
    EXPECT_EQ(RowsInRegisters(3, device), 2);
    EXPECT_EQ(RowsInRegisters(5, device), 4);
    EXPECT_EQ(RowsInRegisters(12, device), 4);
    EXPECT_EQ(RowsInRegisters(13, device), most);
    EXPECT_EQ(RowsInRegisters(1000, device), most);
  }
}

TEST(LargestTile, FitsIntoTheRegistersOfEachWidth) {
  struct Registers {
    int width;
    int64_t count;
  };
  // The other proportions of the widest: 9 x 3 sums, 3 weights and a pixel.
  ir::DeviceInfo widest;
  widest.float_vector_width = 16;
  const RegisterTile deep = BestTile(3136, 9, widest);
  EXPECT_EQ(deep.blocks, 3);
  EXPECT_LE(deep.neighbours * deep.blocks + deep.blocks + 1, 32);
  for (const Registers& registers :
       {Registers{16, 32}, Registers{8, 16}, Registers{4, 16}}) {
    ir::DeviceInfo device;
    device.float_vector_width = registers.width;
    const RegisterTile tile = LargestTile(device);
    const int64_t vectors_per_block = 16 / registers.width;
    const int64_t sums = tile.neighbours * tile.blocks * vectors_per_block;
    const int64_t weights = tile.blocks * vectors_per_block;
    EXPECT_LE(sums + weights + 1, registers.count) << registers.width;
    EXPECT_GE(sums, registers.count / 2) << registers.width;
  }
}

}  // namespace
}  // namespace tim::ops
