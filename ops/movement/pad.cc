// Pad and PadV2: elements added before and after those of the input along its
// axes; the two differ in the type of the constant.
#include <algorithm>
#include <limits>
#include <optional>
#include <variant>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ops/elements/convert.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/launch/blocked.h"
#include "ops/launch/packed.h"

namespace tim::ops {
namespace {

constexpr char kFront[] = "front_size";
constexpr char kBack[] = "back_size";
constexpr char kConstant[] = "const_val";

enum class PadMode : int64_t {
  kConstant,
  kEdge,
  kSymmetric,
  kReflect,
};

PadMode ModeOf(const ir::AttributeMap& attributes) {
  return static_cast<PadMode>(attributes.Int("pad_mode"));
}

Status CheckCounts(const ir::AttributeMap& attributes, const char* name,
                   const ir::Shape& input) {
  const auto& counts = attributes.Ints(name);
  const auto rank = static_cast<int64_t>(counts.size());
  if (rank > ir::kMaxRank) {
    return InvalidArgument("attribute '", name, "' has ", rank,
                           " counts, at most ", ir::kMaxRank, " are legal");
  }
  if (input.ranked() && input.rank() != rank) {
    return InvalidArgument("attribute '", name, "' has ", rank,
                           " counts, the input ", input.ToString(), " has ",
                           input.rank(), " axes");
  }
  if (std::all_of(counts.begin(), counts.end(),
                  [](int64_t count) { return count >= 0; })) {
    return OkStatus();
  }
  return InvalidArgument("attribute '", name, "' [", StrJoin(counts, ", "),
                         "] has a negative count");
}

Status CheckAllCounts(const ir::AttributeMap& attributes,
                      const ir::Shape& input) {
  TIM_RETURN_IF_ERROR(CheckCounts(attributes, kFront, input));
  TIM_RETURN_IF_ERROR(CheckCounts(attributes, kBack, input));
  const size_t front = attributes.Ints(kFront).size();
  const size_t back = attributes.Ints(kBack).size();
  if (front == back) return OkStatus();
  return InvalidArgument("attribute '", kFront, "' has ", front,
                         " counts, attribute '", kBack, "' has ", back);
}

// What can be added on one side of an axis.
int64_t LargestCount(PadMode mode, int64_t extent) {
  switch (mode) {
    case PadMode::kSymmetric:
      return extent;
    case PadMode::kReflect:
      return extent - 1;
    default:
      return std::numeric_limits<int64_t>::max();
  }
}

Result<int64_t> PaddedExtent(const ir::AttributeMap& attributes, int axis,
                             int64_t extent) {
  const int64_t largest = LargestCount(ModeOf(attributes), extent);
  std::optional<int64_t> padded = extent;
  for (const char* name : {kFront, kBack}) {
    const int64_t count = attributes.Ints(name)[axis];
    if (count > largest) {
      return InvalidArgument("attribute '", name, "' is ", count,
                             " along axis ", axis, ", where an extent of ",
                             extent, " allows at most ", largest);
    }
    if (padded) padded = CheckedAdd(*padded, count);
  }
  if (padded) return *padded;
  return InvalidArgument("the extent along axis ", axis, " overflows 64 bits");
}

Status InferPad(ir::InferContext& context) {
  const ir::AttributeMap& attributes = context.attributes();
  const ir::Shape& input = context.shape(0);
  TIM_RETURN_IF_ERROR(CheckAllCounts(attributes, input));
  const auto rank = static_cast<int>(attributes.Ints(kFront).size());
  ir::Shape& output = context.outputs[0].desc.shape;
  output = ir::Shape::OfRank(rank);
  for (int axis = 0; axis < rank && input.ranked(); ++axis) {
    const int64_t bound = input.Bound(axis);
    if (bound == ir::kUnknownDim) continue;
    TIM_ASSIGN_OR_RETURN(const int64_t padded,
                         PaddedExtent(attributes, axis, bound));
    if (input[axis] == ir::kUnknownDim) {
      output.SetBound(axis, padded);
    } else {
      output.set_dim(axis, padded);
    }
  }
  InferTypeFromInput(context);
  return OkStatus();
}

// Added channels have no scales where the output takes over the input's.
Status CheckChannels(const ir::TensorDesc& output) {
  const ir::Quantization& quantization = output.quantization;
  if (!output.quantized() || !quantization.per_channel()) return OkStatus();
  const int axis = quantization.axis;
  const auto given = static_cast<int64_t>(
      std::max(quantization.scales.size(), quantization.zero_points.size()));
  if (given == 1) return OkStatus();
  if (axis >= 0 && axis < output.shape.rank() &&
      (output.shape[axis] == given || output.shape[axis] == ir::kUnknownDim)) {
    return OkStatus();
  }
  return InvalidArgument("the output ", output.shape.ToString(), " has ", given,
                         " channels of quantization along axis ", axis,
                         "; declare as many as there are");
}

Status CheckPad(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckKnownType(view, Operand::kInput, 0));
  TIM_RETURN_IF_ERROR(CheckKnownType(view, Operand::kOutput, 0));
  return CheckChannels(*view.outputs[0]);
}

// Integers go to plain integers as they are.
void StoreConstant(const ir::Attribute& constant, const ir::TensorDesc& desc,
                   int64_t i, kernels::ElementWriter* writer) {
  const auto* integer = std::get_if<int64_t>(&constant);
  if (integer != nullptr && kernels::IsPlainInteger(desc)) {
    return writer->StoreCode(i, *integer);
  }
  writer->StoreReal(i, integer != nullptr
                           ? static_cast<float>(*integer)
                           : static_cast<float>(std::get<double>(constant)));
}

ir::TensorDesc SingleOf(const ir::TensorDesc& desc) {
  ir::TensorDesc single = desc;
  single.shape = ir::Shape({1});
  return single;
}

// The bits of an element like those of `desc` that has the value of `constant`.
int64_t BitsOf(const ir::TensorDesc& desc, const ir::Attribute& constant) {
  const ir::TensorDesc single = SingleOf(desc);
  int64_t bits = 0;
  kernels::ElementWriter writer({&single, &bits});
  StoreConstant(constant, single, 0, &writer);
  return bits;
}

constexpr int64_t kOutside = -1;

// Element of an axis of `extent` that stands at i, which counts from its first.
int64_t SourceOf(PadMode mode, int64_t i, int64_t extent) {
  if (i >= 0 && i < extent) return i;
  switch (mode) {
    case PadMode::kEdge:
      return i < 0 ? 0 : extent - 1;
    case PadMode::kSymmetric:
      return i < 0 ? -1 - i : 2 * extent - 1 - i;
    case PadMode::kReflect:
      return i < 0 ? -i : 2 * (extent - 1) - i;
    case PadMode::kConstant:
      break;
  }
  return kOutside;
}

// Element of the input that element i of the output is.
class SourceElement {
 public:
  SourceElement(const ir::AttributeMap& attributes, const ir::Shape& input,
                const ir::Shape& output)
      : mode_(ModeOf(attributes)),
        front_(attributes.Ints(kFront)),
        input_(input),
        output_(output) {}

  int64_t operator()(int64_t i) const {
    int64_t element = 0;
    int64_t stride = 1;
    for (int axis = 0; axis < output_.rank(); ++axis) {
      const int64_t source =
          SourceOf(mode_, i % output_[axis] - front_[axis], input_[axis]);
      if (source == kOutside) return kOutside;
      element += source * stride;
      stride *= input_[axis];
      i /= output_[axis];
    }
    return element;
  }

 private:
  PadMode mode_;
  const std::vector<int64_t>& front_;
  const ir::Shape& input_;
  const ir::Shape& output_;
};

Status EvalPad(const ir::EvalContext& context) {
  const ir::TensorDesc& input = *context.inputs[0].desc;
  const ir::TensorDesc& output = *context.outputs[0].desc;
  const SourceElement source_element(context.attributes(), input.shape,
                                     output.shape);
  const ir::Attribute& constant = *context.attributes().Find(kConstant);
  kernels::ElementConverter converter(context.inputs[0], context.outputs[0]);
  kernels::ElementWriter writer(context.outputs[0]);
  const int64_t count = *output.shape.NumElements();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t source = source_element(i);
    if (source == kOutside) {
      StoreConstant(constant, output, i, &writer);
    } else {
      converter.Convert(source, i);
    }
  }
  return OkStatus();
}

bool AddsNothing(const ir::AttributeMap& attributes) {
  const auto none = [&](const char* name) {
    const auto& counts = attributes.Ints(name);
    return std::count(counts.begin(), counts.end(), 0) ==
           static_cast<int64_t>(counts.size());
  };
  return none(kFront) && none(kBack);
}

bool IsIdentity(const ir::NodeView& view) {
  return AddsNothing(view.node.attributes) &&
         ir::SameElements(*view.inputs[0], *view.outputs[0]) &&
         view.inputs[0]->shape == view.outputs[0]->shape;
}

// What is stored counts: a constant may be rounded or saturated.
std::optional<ir::Padding> PaddingOf(const ir::NodeView& view) {
  const ir::AttributeMap& attributes = view.node.attributes;
  const ir::TensorDesc& output = *view.outputs[0];
  if (ModeOf(attributes) != PadMode::kConstant ||
      !ir::SameElements(*view.inputs[0], output) ||
      (output.quantized() && output.quantization.per_channel())) {
    return std::nullopt;
  }
  const ir::TensorDesc single = SingleOf(output);
  const int64_t bits = BitsOf(output, *attributes.Find(kConstant));
  return ir::Padding{.front = attributes.Ints(kFront),
                     .back = attributes.Ints(kBack),
                     .value = kernels::ElementReader({&single, &bits}).Real(0)};
}

ir::OpSchema PadSchema(std::string name, ir::Attribute default_constant) {
  const ir::AttributeType type = ir::TypeOf(default_constant);
  return {
      .name = std::move(name),
      .inputs = {1, 1},
      .attributes =
          {{.name = kFront, .type = ir::AttributeType::kInts},
           {.name = kBack, .type = ir::AttributeType::kInts},
           {kConstant, type, std::move(default_constant)},
           {"pad_mode",
            ir::AttributeType::kInt,
            int64_t{0},
            {{"constant", 0}, {"edge", 1}, {"symmetric", 2}, {"reflect", 3}}}},
      .check = CheckPad,
      .infer_shapes = InferPad,
      .eval = EvalPad,
      .memory_estimate = NoScratch,
      .compute_estimate =
          [](const ir::NodeView& view) { return ElementwiseEstimate(view, 1); },
      .is_identity = IsIdentity,
      .padding = PaddingOf,
      .permute_rule = MoveValues({kFront, kBack})};
}

bool Fills(const ir::KernelNode& node) {
  return ModeOf(node.attributes()) == PadMode::kConstant;
}

Status SupportsPad(const ir::KernelNode& node, const ir::DeviceInfo&) {
  TIM_RETURN_IF_ERROR(RefuseEpilogue(node));
  const ir::TensorDesc& from = node.inputs[0];
  const ir::TensorDesc& to = node.outputs[0];
  TIM_RETURN_IF_ERROR(CheckConvert(from, to, kernels::ConvertRuleOf(from, to)));
  if (!Fills(node) || !to.quantized() || !to.quantization.per_channel()) {
    return OkStatus();
  }
  return Unimplemented("a constant of per-channel quantization has no kernel");
}

int64_t ConstantBits(const ir::KernelNode& node) {
  return BitsOf(node.outputs[0], *node.attributes().Find(kConstant));
}

// Blocks stay as they are where no channels are added, and tail lanes 0.
bool CanPadBlocks(const ir::KernelNode& node) {
  const ir::TensorDesc& from = node.inputs[0];
  const ir::TensorDesc& to = node.outputs[0];
  const ir::Layout blocks = ChannelBlocks();
  if (!FitsChannelBlocks(from) || !FitsChannelBlocks(to) ||
      from.shape[blocks.axis] != to.shape[blocks.axis] ||
      !ConversionKeepsZero(from, to, kernels::ConvertRuleOf(from, to))) {
    return false;
  }
  return !Fills(node) || to.shape[blocks.axis] % blocks.block == 0 ||
         ConstantBits(node) == BitsOf(to, 0.0);
}

std::vector<ir::LayoutTuple> PadLayouts(const ir::KernelNode& node,
                                        const ir::DeviceInfo&) {
  std::vector<ir::LayoutTuple> out = {ir::DenseLayouts(node)};
  if (CanPadBlocks(node)) out.push_back(SameLayouts(node, ChannelBlocks()));
  return out;
}

// An axis of the kernel's loop: a row of its table.
struct PadAxis {
  int64_t to = 1;    ///< Extent of the output.
  int64_t from = 1;  ///< Of the input.
  int64_t front = 0;
  int64_t stride = 0;  ///< In the input.
};

// Whether `next` adds whole runs of `axis`, which itself has nothing added.
bool Joins(const ir::KernelNode& node, const PadAxis& axis,
           const PadAxis& next) {
  return axis.to == axis.from && (Fills(node) || next.to == next.from);
}

// Axes in memory, joined where they may be; at least two.
std::vector<PadAxis> PadAxes(const ir::KernelNode& node) {
  const ir::TensorDesc& input = node.inputs[0];
  const std::vector<int64_t> from = ir::PhysicalDims(input);
  const std::vector<int64_t> to = ir::PhysicalDims(node.outputs[0]);
  std::vector<int64_t> front = node.attributes().Ints(kFront);
  if (input.layout.blocked()) front.insert(front.begin(), 0);
  std::vector<PadAxis> axes;
  int64_t stride = 1;
  for (size_t i = 0; i < from.size(); ++i) {
    const PadAxis next = {to[i], from[i], front[i], stride};
    stride *= from[i];
    if (next.to == 1) continue;
    if (axes.empty() || !Joins(node, axes.back(), next)) {
      axes.push_back(next);
      continue;
    }
    PadAxis& axis = axes.back();
    axis.front = next.front * axis.from;
    axis.to *= next.to;
    axis.from *= next.from;
  }
  while (axes.size() < 2) axes.push_back({});
  return axes;
}

ir::PackedConstant PackPadAxes(const std::vector<PadAxis>& axes) {
  std::vector<int32_t> table;
  for (const PadAxis& axis : axes) {
    for (const int64_t word : {axis.to, axis.from, axis.front, axis.stride}) {
      table.push_back(static_cast<int32_t>(word));
    }
  }
  return PackedTable("pad axes", std::move(table));
}

const char* ModeName(const ir::KernelNode& node) {
  constexpr const char* kNames[] = {"CONSTANT", "EDGE", "SYMMETRIC", "REFLECT"};
  return kNames[static_cast<int64_t>(ModeOf(node.attributes()))];
}

Result<ir::Lowering> LowerPad(const ir::KernelNode& node,
                              const ir::DeviceInfo& device) {
  const ir::TensorDesc& from = node.inputs[0];
  const ir::TensorDesc& to = node.outputs[0];
  const kernels::ConvertRule rule = kernels::ConvertRuleOf(from, to);
  const std::vector<PadAxis> axes = PadAxes(node);
  // On a CPU enough to pay for finding the tile's place.
  const int64_t tile = device.device_class == ir::DeviceClass::kCpu ? 1024 : 16;
  const int64_t width =
      AlignUp(CeilDiv(axes[0].to, CeilDiv(axes[0].to, tile)), 16);
  const int64_t height = std::max<int64_t>(tile / width, 1);
  int64_t tiles = CeilDiv(axes[0].to, width) * CeilDiv(axes[1].to, height);
  for (size_t i = 2; i < axes.size(); ++i) tiles *= axes[i].to;
  Launch launch("ops/movement/pad.cl", "pad");
  launch.Option(StrCat("-DMODE=", ModeName(node)))
      .Option(StrCat("-DWORD=", BitsType(to.type)));
  AddConvertOptions(from, to, rule, &launch);
  launch.Input("x", node, 0)
      .Output("y", node, 0)
      .Packed("axes", PackPadAxes(axes), 4);
  launch.Int("rank", static_cast<int64_t>(axes.size())).Int("tiles", tiles);
  launch.Int("width", width)
      .Int("height", height)
      .Long("value", ConstantBits(node));
  AddConvertArguments(from, to, rule, &launch);
  return launch.Tiles(device, tiles).Build();
}

ir::KernelDef PadKernel(std::string op, std::string name) {
  return {.op = std::move(op),
          .name = std::move(name),
          .supports = SupportsPad,
          .layouts = PadLayouts,
          .cost =
              [](const ir::KernelNode& node, const ir::DeviceInfo& device) {
                return ElementwiseCost(node, device, 0.1);
              },
          .lower = LowerPad};
}

}  // namespace

TIM_OPERATOR(pad) {
  registry.Add(PadSchema("Pad", int64_t{0}));
  registry.Add(PadKernel("tim.Pad", "pad"));
  registry.Add(PadSchema("PadV2", 0.0));
  registry.Add(PadKernel("tim.PadV2", "pad_v2"));
}

}  // namespace tim::ops
