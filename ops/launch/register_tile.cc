#include "ops/launch/register_tile.h"

#include <algorithm>

#include "base/checked_math.h"

namespace tim::ops {
namespace {

// What a tile repeats, in sums.  Loads of weights run beside the arithmetic and
// cost little: 10 + 10 + ... of 49 neighbours take 3 % less time than 13 + 13 +
// ... (bench/run.sh steps resnet50: 250 and 257 us, 512 to 2048 channels).
constexpr int64_t kRepeated = 1;

}  // namespace

// A block of 16 floats is a register of AVX-512, which has 32 of them; narrower
// vectors are taken to have 16, some of which hold weights and a pixel.
RegisterTile LargestTile(const ir::DeviceInfo& device) {
  if (device.float_vector_width >= 16) return {.neighbours = 14, .blocks = 2};
  if (device.float_vector_width >= 8) return {.neighbours = 6, .blocks = 1};
  return {.neighbours = 2, .blocks = 1};
}

RegisterTile BestTile(int64_t neighbours, int64_t blocks,
                      const ir::DeviceInfo& device) {
  RegisterTile largest = LargestTile(device);
  largest.blocks = std::min(largest.blocks, blocks);
  if (device.float_vector_width < 16 || blocks < 3) return largest;
  // Fewer neighbours times one block more: 9 blocks are 3 x 3, but 5 x 2.
  const RegisterTile deep = {.neighbours = 9, .blocks = 3};
  const auto work = [&](const RegisterTile& tile) {
    const int64_t size = TileSize(neighbours, tile.neighbours);
    return CeilDiv(neighbours, size) * (size + kRepeated) *
           AlignUp(blocks, tile.blocks);
  };
  return work(deep) < work(largest) ? deep : largest;
}

int64_t BlocksInRegisters(const ir::DeviceInfo& device) {
  if (device.float_vector_width >= 16) return 28;
  if (device.float_vector_width >= 8) return 7;
  return 3;
}

// A sum waits 4 cycles for its next product: 4 rows keep a core busy, and 8 ask
// for weights half as often.
int64_t RowsInRegisters(int64_t count, const ir::DeviceInfo& device) {
  const int64_t share =
      CeilDiv(count, int64_t{std::max(1, device.compute_units)});
  if (share >= 7 && BlocksInRegisters(device) > 8) return 8;
  return share >= 3 ? 4 : std::max<int64_t>(share, 1);
}

int64_t TileSize(int64_t count, int64_t limit, int64_t unit) {
  const auto work = [&](int64_t size) {
    return CeilDiv(count, size) * (size * unit + kRepeated);
  };
  int64_t best = std::clamp<int64_t>(count, 1, limit);
  for (int64_t size = best - 1; size >= 1; --size) {
    if (work(size) < work(best)) best = size;
  }
  return best;
}

RegisterTile TileFor(int64_t neighbours, int64_t blocks, bool many_shapes,
                     const ir::DeviceInfo& device) {
  if (many_shapes) {
    const RegisterTile largest = LargestTile(device);
    return {.neighbours = FewTileSizes(neighbours, largest.neighbours),
            .blocks = std::min(largest.blocks, blocks)};
  }
  RegisterTile best = BestTile(neighbours, blocks, device);
  best.neighbours = TileSize(neighbours, best.neighbours);
  return best;
}

int64_t FewTileSizes(int64_t count, int64_t limit) {
  for (const int64_t size : {limit, limit / 2, limit / 4}) {
    if (size <= count) return std::max<int64_t>(size, 1);
  }
  return 1;
}

int64_t FewTileSizesWithin(int64_t size, int64_t most,
                           const std::function<int64_t(int64_t size)>& span) {
  while (size > 1 && span(size) > most) size /= 2;
  return size;
}

}  // namespace tim::ops
