// MaxPool3d, MaxpoolWithArgmax and MaxpoolWithArgmax2: the greatest cell of
// every window inside the image, and where it stands.  ONNX MaxPool (of 3 axes,
// with Indices).
//
// The cells are compared as they are stored, and the greatest is moved as
// DataConvert does.  A window without a cell inside gives the least (finite)
// value of the output's type, the local index 0 and the index -1.
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/elements/convert.h"
#include "ops/elements/data_layout.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/pooling/max_windows.h"

namespace tim::ops {
namespace {

enum class Indices : uint8_t {
  kNone,
  kLocal,  ///< In the window, row-major.
  kWhole,  ///< In the whole input.
};

struct MaxPool {
  std::string name;
  int axes = 2;
  Indices indices = Indices::kNone;
  DataLayout layout = DataLayout::kWhcn;

  int outputs() const { return indices == Indices::kNone ? 1 : 2; }
};

std::vector<MaxPool> MaxPools() {
  return {
      {.name = "MaxPool3d", .axes = 3, .layout = DataLayout::kWhdcn},
      {.name = "MaxpoolWithArgmax", .indices = Indices::kLocal},
      {.name = "MaxpoolWithArgmax2", .indices = Indices::kWhole},
  };
}

Status CheckRank(const MaxPool& op, const ir::Shape& input) {
  if (input.rank() == op.axes + 1 || input.rank() == op.axes + 2) {
    return OkStatus();
  }
  return InvalidArgument("the input ", input.ToString(), " has rank ",
                         input.rank(), ", expected ",
                         op.axes == 3 ? "[W, H, D, C, N] or [W, H, D, C]"
                                      : "[W, H, C, N] or [W, H, C]");
}

// The type of indices that is not declared.
ir::DataType UsualIndex(const MaxPool& op) {
  return op.indices == Indices::kLocal ? ir::DataType::kUint8
                                       : ir::DataType::kInt32;
}

// `index`, the greatest that there may be, fits the type.
Status CheckRange(ir::DataType type, int64_t index, const char* where) {
  if (ir::Info(type).max >= index) return OkStatus();
  return InvalidArgument("output 1, the indices, is ", ir::ToString(type),
                         ", which ends at ", ir::Info(type).max,
                         ", but indices in ", where, " go up to ", index);
}

Status CheckIndexType(const MaxPool& op, const ir::NodeView& view) {
  const ir::TensorDesc& desc = *view.outputs[1];
  const ir::DataTypeInfo& info = ir::Info(desc.type);
  const bool whole = op.indices == Indices::kWhole;
  if (!ir::IsInteger(desc.type) || info.bits < 8 || (whole && info.min == 0)) {
    return InvalidArgument("output 1, the indices, is ", desc.ToString(),
                           ", expected a ", whole ? "signed " : "",
                           "integer type of at least 8 bits");
  }
  if (whole) {
    const auto cells = view.inputs[0]->shape.NumElements();
    if (!cells) return OkStatus();
    return CheckRange(desc.type, *cells - 1, "the input");
  }
  int64_t cells = 1;
  for (const int64_t extent : view.node.attributes.Ints("ksize")) {
    cells *= extent;
    // Extents are below 2^31.
    TIM_RETURN_IF_ERROR(CheckRange(desc.type, cells - 1, "a window"));
  }
  return OkStatus();
}

Status Check(const MaxPool& op, const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kInput, 0));
  TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kOutput, 0));
  TIM_RETURN_IF_ERROR(CheckChannels(*view.outputs[0]));
  return op.indices == Indices::kNone ? OkStatus() : CheckIndexType(op, view);
}

std::vector<std::string> FindDoubts(const MaxPool& op,
                                    const ir::NodeView& view) {
  std::vector<std::string> doubts = IdleLayouts(view);
  const auto windows = ExplicitWindows(view.node.attributes, op.axes);
  if (!windows.ok()) return doubts;
  const std::vector<std::string> more = PoolDoubts(view, *windows);
  doubts.insert(doubts.end(), more.begin(), more.end());
  return doubts;
}

Status Infer(const MaxPool& op, ir::InferContext& context) {
  TIM_ASSIGN_OR_RETURN(const auto windows,
                       ExplicitWindows(context.attributes(), op.axes));
  InferTypeFromInput(context);
  const bool has_indices = op.indices != Indices::kNone;
  if (has_indices && context.outputs[1].desc.type == ir::DataType::kUnknown) {
    context.outputs[1].desc.type = UsualIndex(op);
  }
  const ir::Shape& input = context.shape(0);
  if (!input.ranked()) return OkStatus();
  TIM_RETURN_IF_ERROR(CheckRank(op, input));
  const ir::Shape* declared = context.outputs[0].declared;
  if (declared == nullptr && has_indices) {
    declared = context.outputs[1].declared;
  }
  TIM_ASSIGN_OR_RETURN(const ir::Shape shape,
                       PooledShape(windows, input, declared));
  for (auto& output : context.outputs) output.desc.shape = shape;
  return OkStatus();
}

Status Eval(const MaxPool& op, const ir::EvalContext& context) {
  const ir::ConstTensor& input = context.inputs[0];
  const ir::MutableTensor& output = context.outputs[0];
  TIM_ASSIGN_OR_RETURN(const MaxWindows windows,
                       MaxWindowsOf(context.attributes(), op.axes,
                                    input.desc->shape, output.desc->shape));
  kernels::ElementConverter converter(input, output);
  kernels::ElementWriter writer(output);
  const bool has_indices = op.indices != Indices::kNone;
  kernels::ElementWriter indices(context.outputs[has_indices ? 1 : 0]);
  ForEachMaximum(windows, input, [&](int64_t o, GreatestCell greatest) {
    if (greatest.cell >= 0) {
      converter.Convert(greatest.cell, o);
    } else {
      writer.StoreReal(o, PoolLowest(output.desc->type));
    }
    if (op.indices == Indices::kLocal) indices.StoreCode(o, greatest.local);
    if (op.indices == Indices::kWhole) indices.StoreCode(o, greatest.cell);
  });
  return OkStatus();
}

// Of two equal cells the first counts, so that indices change with the order of
// the axes; those in windows do not depend on the planes.
Result<ir::PermutedNode> Permute(const MaxPool& op, const ir::NodeView& view,
                                 int operand, std::span<const int> perm) {
  if (op.indices == Indices::kWhole) {
    return Unimplemented("the indices count in the order of the axes");
  }
  for (int axis = 0; axis < op.axes; ++axis) {
    const bool stays = op.indices == Indices::kNone || perm[axis] == axis;
    if (perm[axis] < op.axes && stays) continue;
    return Unimplemented(op.name, " needs the axes of its windows in front");
  }
  TIM_ASSIGN_OR_RETURN(ir::PermutedNode out,
                       KeepAttributes(view, operand, perm));
  for (const char* name : {"ksize", "stride", "pad"}) {
    const std::vector<int64_t>& old = view.node.attributes.Ints(name);
    std::vector<int64_t> moved;
    const auto ends = static_cast<int>(old.size()) / op.axes;
    for (int axis = 0; axis < op.axes; ++axis) {
      for (int end = 0; end < ends; ++end) {
        moved.push_back(old[perm[axis] * ends + end]);
      }
    }
    out.attributes.Set(name, moved);
  }
  return out;
}

// A comparison for each cell.
ir::ComputeEstimate Estimate(const MaxPool& op, const ir::NodeView& view) {
  return ElementwiseEstimate(view, CellsPerWindow(view, op.axes));
}

ir::OpSchema MaxPoolSchema(const MaxPool& op) {
  return {
      .name = op.name,
      .inputs = {1, 1},
      .outputs = {op.outputs(), op.outputs()},
      .attributes = WindowAttributes(op.axes, op.layout),
      .check = [op](const ir::NodeView& view) { return Check(op, view); },
      .doubts = [op](const ir::NodeView& view) { return FindDoubts(op, view); },
      .infer_shapes =
          [op](ir::InferContext& context) { return Infer(op, context); },
      .eval =
          [op](const ir::EvalContext& context) { return Eval(op, context); },
      .memory_estimate = NoScratch,
      .compute_estimate =
          [op](const ir::NodeView& view) { return Estimate(op, view); },
      .permute_rule =
          [op](const ir::NodeView& view, int operand,
               std::span<const int> perm) {
            return Permute(op, view, operand, perm);
          }};
}

Result<MaxWindows> Analyze(const MaxPool& op, const ir::KernelNode& node) {
  TIM_RETURN_IF_ERROR(CheckKernelOperands(node));
  TIM_ASSIGN_OR_RETURN(
      const MaxWindows windows,
      MaxWindowsOf(node.attributes(), op.axes, node.inputs[0].shape,
                   node.outputs[0].shape));
  TIM_RETURN_IF_ERROR(CheckWindowPositions(windows));
  return windows;
}

Result<ir::Lowering> Lower(const MaxPool& op, const MaxWindows& windows,
                           const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const ir::TensorDesc& from = node.inputs[0];
  const ir::TensorDesc& to = node.outputs[0];
  const kernels::ConvertRule rule = kernels::ConvertRuleOf(from, to);
  Launch launch("ops/pooling/max_windows.cl", "max_windows");
  launch.Type("CELL", from)
      .Option("-DVALUES")
      .Option(StrCat("-DWORD=", BitsType(to.type)));
  AddConvertOptions(from, to, rule, &launch);
  launch.Input("x", node, 0).Output("y", node, 0);
  launch.Long("lowest", RealBits(to, PoolLowest(to.type)));
  AddConvertArguments(from, to, rule, &launch);
  if (op.indices != Indices::kNone) {
    launch.Type("INDEX", node.outputs[1]).Output("indices", node, 1);
  }
  if (op.indices == Indices::kLocal) launch.Option("-DINDEX_LOCAL");
  AddWindowArguments(windows, &launch);
  return launch.Tiles(device, windows.outputs()).Build();
}

ir::KernelDef MaxPoolKernel(const MaxPool& op) {
  return ir::TypedKernel<MaxWindows>{
      .op = StrCat("tim.", op.name),
      .name = LowerCase(op.name),
      .analyze = [op](const ir::KernelNode& node,
                      const ir::DeviceInfo&) { return Analyze(op, node); },
      .cost = CostAt(prices::kMaxPool),
      .lower =
          [op](const MaxWindows& windows, const ir::KernelNode& node,
               const ir::DeviceInfo& device) {
            return Lower(op, windows, node, device);
          }};
}

}  // namespace

TIM_OPERATOR(maxpool) {
  for (const MaxPool& op : MaxPools()) {
    registry.Add(MaxPoolSchema(op));
    registry.Add(MaxPoolKernel(op));
  }
}

}  // namespace tim::ops
