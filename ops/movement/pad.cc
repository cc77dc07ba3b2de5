// Pad and PadV2: elements added before and after those of the input along its
// axes; the two differ in the type of the constant.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "kernels/elements.h"
#include "ops/doubts/codes.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/movement/movement_rules.h"
#include "ops/movement/padding.h"

namespace tim::ops {
namespace {

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
                         "] has a negative count; Slice takes elements away");
}

Status CheckAllCounts(const ir::AttributeMap& attributes,
                      const ir::Shape& input) {
  TIM_RETURN_IF_ERROR(CheckCounts(attributes, kFrontSize, input));
  TIM_RETURN_IF_ERROR(CheckCounts(attributes, kBackSize, input));
  const size_t front = attributes.Ints(kFrontSize).size();
  const size_t back = attributes.Ints(kBackSize).size();
  if (front == back) return OkStatus();
  return InvalidArgument("attribute '", kFrontSize, "' has ", front,
                         " counts, attribute '", kBackSize, "' has ", back);
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
  const int64_t largest = LargestCount(PadModeOf(attributes), extent);
  std::optional<int64_t> padded = extent;
  for (const char* name : {kFrontSize, kBackSize}) {
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
  const auto rank = static_cast<int>(attributes.Ints(kFrontSize).size());
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

Status CheckPad(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckKnownType(view, Operand::kInput, 0));
  TIM_RETURN_IF_ERROR(CheckKnownType(view, Operand::kOutput, 0));
  return CheckChannels(*view.outputs[0]);
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
      : mode_(PadModeOf(attributes)),
        front_(attributes.Ints(kFrontSize)),
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
  const ir::Attribute& constant = *context.attributes().Find(kConstVal);
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
  return none(kFrontSize) && none(kBackSize);
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
  if (PadModeOf(attributes) != PadMode::kConstant ||
      !ir::SameElements(*view.inputs[0], output) ||
      (output.quantized() && output.quantization.per_channel())) {
    return std::nullopt;
  }
  const ir::TensorDesc single = SingleElement(output);
  const int64_t bits = ElementBits(output, *attributes.Find(kConstVal));
  return ir::Padding{.front = attributes.Ints(kFrontSize),
                     .back = attributes.Ints(kBackSize),
                     .value = kernels::ElementReader({&single, &bits}).Real(0)};
}

// Where zeros are added.
std::optional<ir::ElementMap> MapOf(const ir::NodeView& view) {
  const auto padding = PaddingOf(view);
  if (!padding || padding->value != 0 || std::signbit(padding->value)) {
    return std::nullopt;
  }
  const std::vector<int64_t>& dims = view.inputs[0]->shape.dims();
  const std::vector<int64_t> dense = ir::DenseStrides(view.inputs[0]->shape);
  ir::ElementMap map{.start = 0,
                     .extents = view.outputs[0]->shape.dims(),
                     .strides = dense,
                     .bounds = {}};
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const int64_t front = padding->front[axis];
    map.start -= front * dense[axis];
    if (map.extents[axis] == dims[axis]) continue;
    map.bounds.push_back(
        {-front, dims[axis], std::vector<int64_t>(dims.size(), 0)});
    map.bounds.back().strides[axis] = 1;
  }
  return map;
}

ir::OpSchema PadSchema(std::string name, ir::Attribute default_constant) {
  const ir::AttributeType type = ir::TypeOf(default_constant);
  return {
      .name = std::move(name),
      .inputs = {1, 1},
      .surplus_inputs = 3,  // ONNX: pads, constant_value, axes
      .attributes =
          {{.name = kFrontSize, .type = ir::AttributeType::kInts},
           {.name = kBackSize, .type = ir::AttributeType::kInts},
           {kConstVal, type, std::move(default_constant)},
           {"pad_mode",
            ir::AttributeType::kInt,
            int64_t{0},
            {{"constant", 0}, {"edge", 1}, {"symmetric", 2}, {"reflect", 3}}}},
      .check = CheckPad,
      .doubts = FirstCodes,
      .infer_shapes = InferPad,
      .eval = EvalPad,
      .memory_estimate = NoScratch,
      .compute_estimate =
          [](const ir::NodeView& view) { return ElementwiseEstimate(view, 1); },
      .is_identity = IsIdentity,
      .element_map = MapOf,
      .padding = PaddingOf,
      .sliced_inputs =
          [](const ir::NodeView& view, int axis) {
            const ir::AttributeMap& attributes = view.node.attributes;
            const bool is_padded = attributes.Ints(kFrontSize)[axis] != 0 ||
                                   attributes.Ints(kBackSize)[axis] != 0;
            return is_padded ? std::vector<bool>() : SliceAlike(view, axis);
          },
      .permute_rule = MoveValues({kFrontSize, kBackSize}),
      .vjp = PadVjp};
}

}  // namespace

TIM_OPERATOR(pad) {
  registry.Add(PadSchema("Pad", int64_t{0}));
  registry.Add(PadKernel("tim.Pad", "pad"));
  registry.Add(PadSchema("PadV2", 0.0));
  registry.Add(PadKernel("tim.PadV2", "pad_v2"));
}

}  // namespace tim::ops
