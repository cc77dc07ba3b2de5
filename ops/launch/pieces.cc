#include "ops/launch/pieces.h"

#include "base/checked_math.h"

namespace tim::ops {
namespace {

constexpr int64_t kMostElements = 1024;
constexpr int64_t kItemsPerUnit = 64;

}  // namespace

int64_t CountItems(const RowExtents& extents, const Pieces& pieces) {
  return CeilDiv(extents.length, pieces.piece) *
         CeilDiv(extents.rows, pieces.group) * extents.planes;
}

Pieces PiecesOf(const RowExtents& extents, const ir::DeviceInfo& device) {
  Pieces out;
  if (device.device_class != ir::DeviceClass::kCpu) return out;
  const int64_t items = kItemsPerUnit * device.compute_units;
  const auto leaves_enough = [&](const Pieces& pieces) {
    return CountItems(extents, pieces) >= items;
  };
  while (out.piece < kMostElements && out.piece < extents.length &&
         leaves_enough({2 * out.piece, out.group})) {
    out.piece *= 2;
  }
  if (out.piece < extents.length) return out;
  while (out.group * extents.length < kMostElements &&
         out.group < extents.rows &&
         leaves_enough({out.piece, 2 * out.group})) {
    out.group *= 2;
  }
  return out;
}

}  // namespace tim::ops
