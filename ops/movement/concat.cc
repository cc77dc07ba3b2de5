// Concat: tensors one after the other along one axis; each input is converted
// to the output's type and quantization.
#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/doubts/codes.h"
#include "ops/elements/convert.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/launch/blocked.h"
#include "ops/movement/channel_blocks.h"
#include "ops/movement/movement_rules.h"

namespace tim::ops {
namespace {

ir::Arity ConcatArity(const ir::AttributeMap& attributes) {
  const int64_t count = attributes.Int("input_cnt");
  if (count < 1) return {0, std::numeric_limits<int>::max()};  // see Infer
  // Any slot may be a placeholder; InferConcat asks for one that is bound.
  return {0, static_cast<int>(std::clamp<int64_t>(
                 count, 1, std::numeric_limits<int>::max()))};
}

// Adds an input's extent, or the bound of one, to that of those before it.
Status Lengthen(const ir::Shape& input, int axis, ir::Shape* joined) {
  const int64_t before = joined->Bound(axis);
  const int64_t more = input.Bound(axis);
  const bool known =
      (*joined)[axis] != ir::kUnknownDim && input[axis] != ir::kUnknownDim;
  const auto sum = CheckedAdd(before, more);
  if (known && !sum) {
    return InvalidArgument("the extent along axis ", axis,
                           " overflows 64 bits");
  }
  joined->set_dim(axis, known ? *sum : ir::kUnknownDim);
  if (before != ir::kUnknownDim && more != ir::kUnknownDim && sum) {
    joined->TightenBound(axis, *sum);
  }
  return OkStatus();
}

// Adds an input to the shape of those before it.
Status Join(const ir::Shape& input, int index, int axis, ir::Shape* joined) {
  if (input.rank() != joined->rank()) {
    return InvalidArgument("input ", index, " ", input.ToString(),
                           " has another rank than the inputs before it, ",
                           joined->ToString());
  }
  for (int i = 0; i < input.rank(); ++i) {
    if (i == axis) continue;
    const int64_t before = (*joined)[i];
    const bool known = before != ir::kUnknownDim && input[i] != ir::kUnknownDim;
    if (known && before != input[i]) {
      return InvalidArgument(
          "input ", index, " ", input.ToString(), " differs along axis ", i,
          " from the inputs before it, ", joined->ToString());
    }
    if (before == ir::kUnknownDim && input[i] != ir::kUnknownDim) {
      joined->set_dim(i, input[i]);
    } else {
      joined->TightenBound(i, input.Bound(i));
    }
  }
  return Lengthen(input, axis, joined);
}

Result<ir::Shape> JoinedShape(const ir::InferContext& context) {
  std::optional<ir::Shape> joined;
  bool ranked = true;
  for (int i = 0; i < static_cast<int>(context.inputs.size()); ++i) {
    if (!context.has_input(i)) continue;
    const ir::Shape& shape = context.shape(i);
    ranked &= shape.ranked();
    if (!shape.ranked()) continue;
    TIM_ASSIGN_OR_RETURN(
        const int axis,
        WrapAxis(context.attributes().Int("axis"), shape.rank()));
    if (!joined) {
      joined = shape;
    } else {
      TIM_RETURN_IF_ERROR(Join(shape, i, axis, &*joined));
    }
  }
  if (!joined) return ir::Shape();
  if (!ranked) {
    TIM_ASSIGN_OR_RETURN(
        const int axis,
        WrapAxis(context.attributes().Int("axis"), joined->rank()));
    joined->set_dim(axis, ir::kUnknownDim);
  }
  return *joined;
}

// The declared shape must be the joined one, not merely as large.
Status CheckDeclared(const ir::Shape* declared, const ir::Shape& joined) {
  if (declared == nullptr || !declared->ranked() || !joined.ranked()) {
    return OkStatus();
  }
  bool same = declared->rank() == joined.rank();
  for (int i = 0; i < joined.rank() && same; ++i) {
    same = (*declared)[i] == joined[i] || joined[i] == ir::kUnknownDim ||
           (*declared)[i] == ir::kUnknownDim;
  }
  if (same) return OkStatus();
  return InvalidArgument("the output is declared as ", declared->ToString(),
                         ", but the inputs join to ", joined.ToString());
}

Status InferConcat(ir::InferContext& context) {
  if (context.attributes().Int("input_cnt") < 1) {
    return InvalidArgument("attribute 'input_cnt' is ",
                           context.attributes().Int("input_cnt"),
                           ", expected the number of inputs, >= 1");
  }
  const ir::TensorDesc* first = nullptr;
  for (const auto& input : context.inputs) {
    if (first == nullptr) first = input.desc;
  }
  if (first == nullptr) return InvalidArgument("no input is bound");
  auto& output = context.outputs[0];
  TIM_ASSIGN_OR_RETURN(output.desc.shape, JoinedShape(context));
  TIM_RETURN_IF_ERROR(CheckDeclared(output.declared, output.desc.shape));
  if (output.desc.type == ir::DataType::kUnknown) {
    output.desc.type = first->type;
    output.desc.quantization = first->quantization;
  }
  return OkStatus();
}

Status CheckConcat(const ir::NodeView& view) {
  for (int i = 0; i < static_cast<int>(view.inputs.size()); ++i) {
    if (view.inputs[i] == nullptr) continue;
    TIM_RETURN_IF_ERROR(CheckKnownType(view, Operand::kInput, i));
  }
  return CheckKnownType(view, Operand::kOutput, 0);
}

Status EvalConcat(const ir::EvalContext& context) {
  const ir::Shape& shape = context.outputs[0].desc->shape;
  TIM_ASSIGN_OR_RETURN(
      const int axis, WrapAxis(context.attributes().Int("axis"), shape.rank()));
  const int64_t inner = shape.Product(0, axis);
  const int64_t outer = shape.Product(axis + 1, shape.rank());
  int64_t start = 0;
  for (const ir::ConstTensor& input : context.inputs) {
    if (!input) continue;
    kernels::ElementConverter converter(input, context.outputs[0]);
    const int64_t extent = input.desc->shape[axis];
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner * extent; ++i) {
        converter.Convert(o * inner * extent + i,
                          (o * shape[axis] + start) * inner + i);
      }
    }
    start += extent;
  }
  return OkStatus();
}

// Nothing to do for one input of the output's elements.
bool IsIdentity(const ir::NodeView& view) {
  for (size_t i = 1; i < view.inputs.size(); ++i) {
    if (view.inputs[i] != nullptr) return false;
  }
  return view.inputs[0] != nullptr &&
         ir::SameElements(*view.inputs[0], *view.outputs[0]) &&
         view.inputs[0]->shape == view.outputs[0]->shape;
}

// Along the outermost axis in memory, equal elements lie as they are, in blocks
// until one is not full.
ir::InPlaceOffsets InPlaceOffsets(const ir::NodeView& view) {
  const ir::TensorDesc& to = *view.outputs[0];
  const auto wrapped =
      WrapAxis(view.node.attributes.Int("axis"), to.shape.rank());
  if (!wrapped.ok() || ir::Info(to.type).bits < 8) return {};
  const int axis = *wrapped + (to.layout.blocked() ? 1 : 0);
  const ir::Shape whole(ir::PhysicalDims(to));
  if (whole.Product(axis + 1, whole.rank()) != 1) return {};
  size_t last = view.inputs.size() - 1;
  while (last > 0 && view.inputs[last] == nullptr) --last;
  std::vector<int64_t> offsets;
  int64_t end = 0;
  bool whole_blocks = true;
  for (const ir::TensorDesc* input : view.inputs) {
    offsets.push_back(input != nullptr && whole_blocks ? end : -1);
    if (input == nullptr) continue;
    const Result<int64_t> bytes = ir::ByteSize(*input);
    if (!bytes.ok() || !ir::SameElements(*input, to) ||
        input->layout != to.layout) {
      return {};
    }
    end += *bytes;
    const bool full = to.layout.dense() || to.layout.axis != *wrapped ||
                      input->shape[*wrapped] % to.layout.block == 0;
    // Zeros behind the last channel may be those of the output.
    if (!full && offsets.size() <= last) offsets.back() = -1;
    whole_blocks &= full;
  }
  return {.inputs = std::move(offsets)};
}

ir::OpSchema ConcatSchema() {
  return {
      .name = "Concat",
      .inputs = {0, 0},
      .input_arity = ConcatArity,
      .attributes = {{.name = "axis"}, {.name = "input_cnt"}},
      .check = CheckConcat,
      .doubts = AllCodes,
      .infer_shapes = InferConcat,
      .eval = EvalConcat,
      .memory_estimate = NoScratch,
      .compute_estimate =
          [](const ir::NodeView& view) { return ElementwiseEstimate(view, 1); },
      .in_place_offsets = InPlaceOffsets,
      .is_identity = IsIdentity,
      .sliced_inputs = SliceBesideAxis("axis"),
      .permute_rule = MoveAxis("axis"),
      .vjp = ConcatVjp};
}

struct ConcatProblem {
  int axis = 0;
  bool joins_blocks = false;  // Those of inputs are those of the output.
  bool moves_parts = false;   // Parts of blocks become parts of others.
};

Status CheckInputs(const ir::KernelNode& node) {
  const ir::TensorDesc& to = node.outputs[0];
  for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
    if (!node.has_input(i)) continue;
    const ir::TensorDesc& from = node.inputs[i];
    TIM_RETURN_IF_ERROR(CheckConvert(from, to, kernels::ConvertRuleOf(from, to))
                            .WithContext(StrCat("input ", i)));
  }
  return OkStatus();
}

// Blocks can be concatenated along the channels only where they are full.
bool CanJoinBlocks(const ir::KernelNode& node, int axis) {
  const ir::TensorDesc& to = node.outputs[0];
  if (!FitsChannelBlocks(to)) return false;
  const ir::Layout blocks = ChannelBlocks();
  bool partial = false;
  for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
    if (!node.has_input(i)) continue;
    const ir::TensorDesc& from = node.inputs[i];
    if (partial || !FitsChannelBlocks(from) ||
        !ConversionKeepsZero(from, to, kernels::ConvertRuleOf(from, to))) {
      return false;
    }
    partial =
        axis == blocks.axis && from.shape[blocks.axis] % blocks.block != 0;
  }
  return true;
}

// Parts of blocks are moved as they are.
bool CanMoveParts(const ir::KernelNode& node, int axis) {
  if (axis != ChannelBlocks().axis) return false;
  for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
    if (node.has_input(i) &&
        !CanMoveChannels(node.inputs[i], node.outputs[0])) {
      return false;
    }
  }
  return true;
}

Result<ConcatProblem> AnalyzeConcat(const ir::KernelNode& node,
                                    const ir::DeviceInfo&) {
  TIM_RETURN_IF_ERROR(CheckInputs(node));
  ConcatProblem out;
  TIM_ASSIGN_OR_RETURN(out.axis, WrapAxis(node.attributes().Int("axis"),
                                          node.outputs[0].shape.rank()));
  out.joins_blocks = CanJoinBlocks(node, out.axis);
  out.moves_parts = !out.joins_blocks && CanMoveParts(node, out.axis);
  return out;
}

std::vector<ir::LayoutTuple> ConcatLayouts(const ConcatProblem& problem,
                                           const ir::KernelNode& node,
                                           const ir::DeviceInfo&) {
  std::vector<ir::LayoutTuple> out = {ir::DenseLayouts(node)};
  if (problem.joins_blocks || problem.moves_parts) {
    out.push_back(SameLayouts(node, ChannelBlocks()));
  }
  return out;
}

// Each input's channels, one behind the other.
Result<ir::Lowering> LowerParts(const ir::KernelNode& node,
                                const ir::DeviceInfo& device) {
  const int64_t channels = node.outputs[0].shape[ChannelBlocks().axis];
  int64_t first = 0;
  ir::Lowering lowering;
  for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
    if (!node.has_input(i)) continue;
    ChannelSources sources(channels, kOtherChannel);
    const int64_t count = node.inputs[i].shape[ChannelBlocks().axis];
    std::iota(sources.begin() + first, sources.begin() + first + count, 0);
    first += count;
    TIM_RETURN_IF_ERROR(
        AppendChannelBlocks(node, i, 0, sources, device, &lowering));
  }
  return lowering;
}

Result<ir::Lowering> LowerConcat(const ConcatProblem& problem,
                                 const ir::KernelNode& node,
                                 const ir::DeviceInfo& device) {
  const ir::TensorDesc& to = node.outputs[0];
  const bool blocked = to.layout.blocked();
  if (blocked && !problem.joins_blocks) return LowerParts(node, device);
  const int axis = problem.axis + (blocked ? 1 : 0);  // the block is axis 0
  const ir::Shape whole(ir::PhysicalDims(to));
  const int64_t inner = whole.Product(0, axis);
  ConvertRows rows{.rows = whole.Product(axis + 1, whole.rank()),
                   .y_stride = inner * whole[axis]};
  ir::Lowering lowering;
  for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
    if (!node.has_input(i)) continue;
    rows.input = i;
    rows.run = inner * ir::PhysicalDims(node.inputs[i])[axis];
    TIM_RETURN_IF_ERROR(AppendConvertRows(node, rows, device, &lowering));
    rows.y_start += rows.run;
  }
  return lowering;
}

// One launch per input.
double ConcatCost(const ConcatProblem&, const ir::KernelNode& node,
                  const ir::DeviceInfo& device) {
  const auto launches = static_cast<double>(
      std::count(node.present.begin(), node.present.end(), true));
  return ElementwiseCost(node, device, prices::kConcat) +
         (launches - 1) * device.launch_us;
}

ir::KernelDef ConcatKernel() {
  return ir::TypedKernel<ConcatProblem>{.op = "tim.Concat",
                                        .name = "concat",
                                        .analyze = AnalyzeConcat,
                                        .layouts = ConcatLayouts,
                                        .cost = ConcatCost,
                                        .lower = LowerConcat};
}

}  // namespace

TIM_OPERATOR(concat) {
  registry.Add(ConcatSchema());
  registry.Add(ConcatKernel());
}

}  // namespace tim::ops
