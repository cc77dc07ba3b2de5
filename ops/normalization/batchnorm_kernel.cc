// The kernel of BatchNorm: a table of mean, factor and beta, made at Compile
// where the parameters are constants, else by a launch of its own; then a
// multiply-add for each element, dense or in blocks of channels.
#include <algorithm>
#include <utility>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "kernels/elements.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/launch/blocked.h"
#include "ops/launch/launch.h"
#include "ops/normalization/batchnorm_node.h"

namespace tim::ops {
namespace {

constexpr char kSource[] = "ops/normalization/batchnorm.cl";

// Parts of the table, one after the other, each a float for each entry: an
// entry for each element of the axes along which some parameter varies.
struct Table {
  std::vector<Axis> axes;  ///< Strides of the four parameters.
  int64_t entries = 1;
  int64_t part = 1;  ///< Entries and zeros: whole blocks of channels.
  /// Of an entry, along every axis of the input.
  std::vector<int64_t> strides;
  bool of_channels = true;  ///< Only along the channels do parameters vary.
};

Result<Table> Analyze(const ir::KernelNode& node, const ir::DeviceInfo&) {
  TIM_RETURN_IF_ERROR(CheckKernelOperands(node));
  TIM_ASSIGN_OR_RETURN(const auto strides,
                       BatchNormStrides(AnchorView(node).view()));
  const ir::Shape& shape = node.inputs[0].shape;
  const int channel_axis = ChannelAxis(shape.rank());
  Table out;
  out.strides.assign(shape.rank(), 0);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    Axis entry{.extent = shape[axis], .strides = {}};
    bool varies = axis == channel_axis;
    for (const auto& parameter : strides) {
      entry.strides.push_back(parameter[axis]);
      if (parameter[axis] == 0 || axis == channel_axis) continue;
      varies = true;
      out.of_channels = false;
    }
    if (!varies) continue;
    out.strides[axis] = out.entries;
    out.entries *= shape[axis];
    out.axes.push_back(std::move(entry));
  }
  out.part = AlignUp(out.entries, kChannelBlock);
  return out;
}

bool HasConstantParameters(const ir::KernelNode& node) {
  for (int input = 1; input < 5; ++input) {
    if (node.constants[input] == nullptr) return false;
  }
  return true;
}

// What PackTable keeps of the node.
struct TableSource {
  Table table;
  float eps = 0;
  std::vector<ir::TensorDesc> descs;
  std::vector<std::shared_ptr<const ir::ConstantData>> constants;
};

void FillTable(const TableSource& source, float* out) {
  std::vector<kernels::ElementReader> parameters;
  for (int i = 0; i < 4; ++i) {
    parameters.emplace_back(
        ir::ConstTensor{&source.descs[i], source.constants[i]->bytes.data()});
  }
  const Table& table = source.table;
  std::fill_n(out, 3 * table.part, 0.0f);
  for (int64_t entry = 0; entry < table.entries; ++entry) {
    int64_t at[4] = {};
    int64_t rest = entry;
    for (const Axis& axis : table.axes) {
      for (int i = 0; i < 4; ++i) at[i] += rest % axis.extent * axis.strides[i];
      rest /= axis.extent;
    }
    out[entry] = parameters[0].Real(at[0]);
    out[entry + table.part] = BatchNormFactor(
        parameters[1].Real(at[1]), parameters[2].Real(at[2]), source.eps);
    out[entry + 2 * table.part] = parameters[3].Real(at[3]);
  }
}

ir::PackedConstant PackTable(const ir::KernelNode& node, const Table& table) {
  TableSource source{
      .table = table,
      .eps = node.attributes().Float("eps"),
      .descs = {node.inputs.begin() + 1, node.inputs.begin() + 5},
      .constants = {node.constants.begin() + 1, node.constants.begin() + 5}};
  std::string id =
      StrCat("batchnorm ", source.eps, " ", node.inputs[0].shape.ToString());
  for (const ir::TensorDesc& desc : source.descs) {
    id += StrCat(" ", ir::ToString(desc.type), " ", desc.shape.ToString());
  }
  return {.id = std::move(id),
          .sources = {1, 2, 3, 4},
          .bytes = 3 * table.part * int64_t{sizeof(float)},
          .pack = [source = std::move(source)](std::span<std::byte> out) {
            FillTable(source, reinterpret_cast<float*>(out.data()));
            return OkStatus();
          }};
}

// The launch that makes the table, in the lowering's first scratch.
Status AppendTable(const ir::KernelNode& node, const Table& table,
                   ir::Lowering* lowering) {
  constexpr const char* kNames[] = {"mean", "variance", "gamma", "beta"};
  constexpr const char* kTypes[] = {"MEAN", "VARIANCE", "GAMMA", "BETA"};
  Launch launch(kSource, "batchnorm_table");
  for (int i = 0; i < 4; ++i) launch.Type(kTypes[i], node.inputs[i + 1]);
  for (int i = 0; i < 4; ++i) launch.Input(kNames[i], node, i + 1);
  launch.Packed("axes", PackAxes(table.axes, 4), 4)
      .Scratch("table", 3 * table.part * int64_t{sizeof(float)}, sizeof(float))
      .Int("axes_count", static_cast<int64_t>(table.axes.size()))
      .Int("entries", table.entries)
      .Int("part", table.part)
      .Float("eps", node.attributes().Float("eps"));
  return launch.Items(table.part).AppendTo(lowering);
}

// Elements that one work-item makes: on CPUs enough to be worth its start.
int64_t TileOf(const ir::DeviceInfo& device) {
  return device.device_class == ir::DeviceClass::kCpu ? 512 : 16;
}

void AddDense(const ir::KernelNode& node, const Table& table, int64_t tile,
              Launch* launch) {
  const auto axes =
      JoinAxes(node.inputs[0].shape.dims(),
               {ir::DenseStrides(node.inputs[0].shape), table.strides});
  std::vector<Axis> outer;
  for (size_t i = 1; i < axes.size(); ++i) {
    outer.push_back(
        {.extent = axes[i].extent, .strides = {axes[i].strides[1]}});
  }
  const int64_t run = axes[0].extent;
  const int64_t rows = CountElements(outer);
  launch->Packed("axes", PackAxes(outer, 1), 4)
      .Int("axes_count", static_cast<int64_t>(outer.size()))
      .Int("run", run)
      .Int("run_step", axes[0].strides[1])
      .Int("rows", rows)
      .Int("tile", tile)
      .Items(rows * CeilDiv(run, tile));
}

void AddBlocks(const ir::KernelNode& node, int64_t tile, Launch* launch) {
  const ir::Shape& shape = node.inputs[0].shape;
  const int64_t blocks = CeilDiv(shape[2], kChannelBlock);
  const int64_t planes = blocks * shape[3];
  const int64_t pixels = shape[0] * shape[1];
  const int64_t tile_pixels = std::max<int64_t>(tile / kChannelBlock, 1);
  launch->Int("blocks", blocks)
      .Int("planes", planes)
      .Int("pixels", pixels)
      .Int("tile", tile_pixels)
      .Items(planes * CeilDiv(pixels, tile_pixels));
}

Result<ir::Lowering> Lower(const Table& table, const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const bool constant = HasConstantParameters(node);
  const bool blocked = node.inputs[0].layout.blocked();
  ir::Lowering lowering;
  if (!constant) {
    TIM_RETURN_IF_ERROR(AppendTable(node, table, &lowering));
  }
  Launch launch(kSource, blocked ? "batchnorm_blocks" : "batchnorm_rows");
  launch.Type("IN", node.inputs[0])
      .Type("OUT", node.outputs[0])
      .Input("in", node, 0)
      .Output("out", node, 0)
      .InPlace(node, 0);
  if (constant) {
    launch.Packed("table", PackTable(node, table), sizeof(float));
  } else {
    launch.EarlierScratch("table", 0, sizeof(float));
  }
  launch.Int("part", table.part);
  if (blocked) {
    AddBlocks(node, TileOf(device), &launch);
  } else {
    AddDense(node, table, TileOf(device), &launch);
  }
  launch.InputQuantization("in", node.inputs[0])
      .OutputQuantization("out", node.outputs[0]);
  TIM_RETURN_IF_ERROR(launch.AppendTo(&lowering));
  return lowering;
}

std::vector<ir::LayoutTuple> Layouts(const Table& table,
                                     const ir::KernelNode& node,
                                     const ir::DeviceInfo&) {
  std::vector<ir::LayoutTuple> out = {ir::DenseLayouts(node)};
  const ir::TensorDesc& output = node.outputs[0];
  if (!table.of_channels || !FitsChannelBlocks(node.inputs[0]) ||
      !FitsChannelBlocks(output) ||
      !ConversionKeepsZero(output, output, kernels::ConvertRule::kBits)) {
    return out;
  }
  ir::LayoutTuple blocks = out[0];
  blocks.inputs[0] = blocks.outputs[0] = ChannelBlocks();
  out.push_back(std::move(blocks));
  return out;
}

}  // namespace

void AddBatchNormKernel(ir::OpRegistry& registry) {
  registry.Add(ir::TypedKernel<Table>{.op = "tim.BatchNorm",
                                      .name = "batchnorm",
                                      .analyze = Analyze,
                                      .layouts = Layouts,
                                      .cost = CostAt(prices::kBatchNorm),
                                      .lower = Lower});
}

}  // namespace tim::ops
