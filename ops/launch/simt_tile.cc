#include "ops/launch/simt_tile.h"

#include "base/checked_math.h"
#include "ops/launch/device_class.h"
#include "ops/launch/prices.h"

namespace tim::ops {
namespace {

// Those of simt_tile.clh.
constexpr int64_t kGroup = 16;
constexpr int64_t kSlice = 16;
constexpr int64_t kPadding = 4;
constexpr int64_t kSides[] = {4, 2, 1};

constexpr int64_t kLocalBytes =
    2 * kSlice * (kGroup * kSides[0] + kPadding) * int64_t{sizeof(float)};

int64_t TilesOf(const SimtProduct& product, const SimtTile& tile) {
  return CeilDiv(product.rows, kGroup * tile.rows) *
         CeilDiv(product.columns, kGroup * tile.columns) * product.count;
}

// Of one work-item for each k: its products and its loads.
double Work(const SimtProduct& product, const SimtTile& tile) {
  return static_cast<double>(tile.rows * tile.columns) * product.work +
         static_cast<double>(tile.rows + tile.columns);
}

// Turns of all compute units together, one tile each.
double Turns(const SimtProduct& product, const SimtTile& tile,
             const ir::DeviceInfo& device) {
  return static_cast<double>(
      CeilDiv(TilesOf(product, tile), int64_t{device.compute_units}));
}

}  // namespace

Status CheckSimt(const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckNoCpu(device));
  return CheckWorkGroup(device, {kGroup, kGroup}, kLocalBytes);
}

SimtTile SimtTileFor(const SimtProduct& product, const ir::DeviceInfo& device) {
  const auto time = [&](const SimtTile& tile) {
    return Turns(product, tile, device) * Work(product, tile);
  };
  SimtTile best;
  for (const int64_t rows : kSides) {
    for (const int64_t columns : kSides) {
      const SimtTile tile = {rows, columns};
      if (time(tile) < time(best)) best = tile;
    }
  }
  return best;
}

double SimtCost(const SimtProduct& product, double bytes,
                const ir::DeviceInfo& device) {
  const SimtTile tile = SimtTileFor(product, device);
  // What the units could have done in the time of all turns.
  const double flops = 2.0 * Turns(product, tile, device) *
                       device.compute_units * kGroup * kGroup *
                       Work(product, tile) * static_cast<double>(product.depth);
  return EstimateMicroseconds(
      {.flops = flops, .bytes_read = bytes, .bytes_written = 0}, device,
      prices::kSimtTile);
}

void AddSimtTile(const SimtProduct& product, const ir::DeviceInfo& device,
                 Launch* launch) {
  const SimtTile tile = SimtTileFor(product, device);
  launch->Option(StrCat("-DROWS=", tile.rows))
      .Option(StrCat("-DCOLUMNS=", tile.columns))
      .Global(CeilDiv(product.columns, kGroup * tile.columns) * kGroup,
              CeilDiv(product.rows, kGroup * tile.rows) * kGroup, product.count)
      .Local(kGroup, kGroup, 1);
}

}  // namespace tim::ops
