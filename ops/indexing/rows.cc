#include "ops/indexing/rows.h"

#include <algorithm>

#include "base/checked_math.h"
#include "ops/elements/convert.h"

namespace tim::ops {
namespace {

// What a work-item copies: `rows` rows, or `chunk` elements of one.
struct RowTile {
  int64_t rows = 1;
  int64_t chunk = 1;
};

// On a CPU enough to pay for finding the rows.
RowTile TileOf(const RowLookup& lookup, const ir::DeviceInfo& device) {
  const bool cpu = device.device_class == ir::DeviceClass::kCpu;
  const int64_t most = cpu ? 4096 : 16;
  const int64_t least = cpu ? 512 : 16;
  RowTile tile;
  tile.chunk = std::min(lookup.run, most);
  if (tile.chunk == lookup.run) {
    tile.rows = std::max<int64_t>(least / lookup.run, 1);
  }
  return tile;
}

Launch RowsLaunch(const ir::KernelNode& node, const RowLookup& lookup) {
  const ir::TensorDesc& from = node.inputs[lookup.data];
  const ir::TensorDesc& to = node.outputs[0];
  Launch launch("ops/indexing/rows.cl", "indexed_rows");
  AddConvertOptions(from, to, kernels::ConvertRuleOf(from, to), &launch);
  launch.Option(StrCat("-DWORD=", BitsType(to.type)));
  return launch;
}

Status FinishRows(const ir::KernelNode& node, const RowLookup& lookup,
                  const ir::TensorDesc& indices, const ir::DeviceInfo& device,
                  Launch* launch, ir::Lowering* lowering) {
  const ir::TensorDesc& from = node.inputs[lookup.data];
  const ir::TensorDesc& to = node.outputs[0];
  const RowTile tile = TileOf(lookup, device);
  launch->Packed("coordinate", PackCoordinate(lookup.coordinate), 4)
      .Int("coordinate_length", static_cast<int64_t>(lookup.coordinate.size()));
  launch->Int("rows", lookup.rows())
      .Int("run", lookup.run)
      .Int("count", lookup.count)
      .Int("middle", lookup.middle)
      .Int("middle_stride", lookup.middle_stride)
      .Int("batch_stride", lookup.batch_stride)
      .Int("tile_rows", tile.rows)
      .Int("chunk", tile.chunk)
      .Long("missing", RealBits(to, 0.0f))
      .InputQuantization("index", indices);
  AddConvertArguments(from, to, kernels::ConvertRuleOf(from, to), launch);
  return launch
      ->Tiles(device, CeilDiv(lookup.rows(), tile.rows) *
                          CeilDiv(lookup.run, tile.chunk))
      .AppendTo(lowering);
}

}  // namespace

Status EvalRows(const RowLookup& lookup, const ir::EvalContext& context) {
  kernels::ElementConverter converter(context.inputs[lookup.data],
                                      context.outputs[0]);
  const IndexReader indices(context.inputs[lookup.indices]);
  for (int64_t row = 0; row < lookup.rows(); ++row) {
    const int64_t j = row % lookup.count;
    const int64_t m = row / lookup.count % lookup.middle;
    const int64_t b = row / lookup.count / lookup.middle;
    const int64_t from =
        b * lookup.batch_stride + m * lookup.middle_stride +
        PlaceOf(indices, b * lookup.count + j, lookup.coordinate, lookup.rule);
    for (int64_t i = 0; i < lookup.run; ++i) {
      converter.Convert(from + i, row * lookup.run + i);
    }
  }
  return OkStatus();
}

Status SupportsRows(const ir::KernelNode& node, int data, int indices) {
  const ir::TensorDesc& from = node.inputs[data];
  const ir::TensorDesc& to = node.outputs[0];
  TIM_RETURN_IF_ERROR(CheckConvert(from, to, kernels::ConvertRuleOf(from, to)));
  return CheckKernelIndices(node.inputs[indices]);
}

Status AppendRows(const ir::KernelNode& node, const RowLookup& lookup,
                  const ir::DeviceInfo& device, ir::Lowering* lowering) {
  const ir::TensorDesc& indices = node.inputs[lookup.indices];
  Launch launch = RowsLaunch(node, lookup);
  AddIndexOptions(indices, lookup.rule, &launch);
  launch.Input("x", node, lookup.data)
      .Input("indices", node, lookup.indices)
      .Output("y", node, 0);
  return FinishRows(node, lookup, indices, device, &launch, lowering);
}

Status AppendFoundRows(const ir::KernelNode& node, const RowLookup& lookup,
                       int scratch, const ir::DeviceInfo& device,
                       ir::Lowering* lowering) {
  ir::TensorDesc indices;
  indices.type = ir::DataType::kInt32;
  Launch launch = RowsLaunch(node, lookup);
  AddIndexOptions(indices, {Negative::kOutside, Outside::kIgnored}, &launch);
  launch.Input("x", node, lookup.data)
      .EarlierScratch("indices", scratch, 4)
      .Output("y", node, 0);
  return FinishRows(node, lookup, indices, device, &launch, lowering);
}

}  // namespace tim::ops
