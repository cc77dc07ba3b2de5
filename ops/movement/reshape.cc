// Reshape: the same elements in the same flat order with other extents.
#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ops/doubts/codes.h"
#include "ops/elements/convert.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/movement/movement_rules.h"

namespace tim::ops {
namespace {

// What older binary graphs have for -1.
constexpr int64_t kInferExtent = 4294967295;

bool IsInferred(int64_t extent) {
  return extent == kInferExtent || extent == -1;
}

// The target with 0 replaced by the input's extents, inferred ones unknown.
Result<ir::Shape> CopiedExtents(const std::vector<int64_t>& target,
                                const ir::Shape& input) {
  if (target.empty()) return ir::Shape({1});
  if (target.size() > ir::kMaxRank) {
    return InvalidArgument("attribute 'shape' has ", target.size(),
                           " extents, at most ", ir::kMaxRank, " are legal");
  }
  std::vector<int64_t> dims;
  int inferred = 0;
  for (int i = 0; i < static_cast<int>(target.size()); ++i) {
    if (IsInferred(target[i])) {
      if (++inferred > 1) {
        return InvalidArgument(
            "attribute 'shape' leaves more than one extent "
            "to infer");
      }
      dims.push_back(ir::kUnknownDim);
    } else if (target[i] < 0) {
      return InvalidArgument("attribute 'shape' has an extent of ", target[i]);
    } else if (target[i] > 0) {
      dims.push_back(target[i]);
    } else if (!input.ranked()) {
      dims.push_back(ir::kUnknownDim);
    } else if (i < input.rank()) {
      dims.push_back(input[i]);
    } else {
      return InvalidArgument("attribute 'shape' copies extent ", i,
                             " of the input ", input.ToString(),
                             ", which has no such dimension");
    }
  }
  return ir::Shape(std::move(dims));
}

Status ElementsDiffer(const ir::Shape& input, const ir::Shape& shape) {
  return InvalidArgument("the input ", input.ToString(), " has ",
                         input.NumElements().value_or(0),
                         " elements, which do not fill ", shape.ToString());
}

// Gives the extent to infer its value, where everything else is known.
Status FillInferred(const std::vector<int64_t>& target, const ir::Shape& input,
                    ir::Shape* shape) {
  if (!input.IsStatic()) return OkStatus();
  const auto total = input.NumElements();
  if (!total) {
    return InvalidArgument("the size of ", input.ToString(),
                           " overflows 64 bits");
  }
  std::optional<int64_t> known = 1;
  int unknown = -1;
  for (int i = 0; i < shape->rank() && known; ++i) {
    if ((*shape)[i] == ir::kUnknownDim) {
      unknown = i;
    } else {
      known = CheckedMul(*known, (*shape)[i]);
    }
  }
  if (unknown < 0) {
    return known == total ? OkStatus() : ElementsDiffer(input, *shape);
  }
  if (!IsInferred(target[unknown])) return OkStatus();
  if (!known || *known == 0 || *total % *known != 0) {
    return ElementsDiffer(input, *shape);
  }
  shape->set_dim(unknown, *total / *known);
  return OkStatus();
}

// The axis of `to` with as many channels and as many elements between them.
Result<int> SameChannels(const ir::Shape& from, int axis, const ir::Shape& to) {
  if (!from.IsStatic() || !to.IsStatic()) return axis;
  for (int i = 0; i < to.rank(); ++i) {
    if (axis < from.rank() && to[i] == from[axis] &&
        to.Product(0, i) == from.Product(0, axis)) {
      return i;
    }
  }
  return InvalidArgument("no axis of ", to.ToString(), " has the channels of ",
                         from.ToString(), " along axis ", axis);
}

Status InferReshape(ir::InferContext& context) {
  const auto& target = context.attributes().Ints("shape");
  const ir::Shape& input = context.shape(0);
  ir::TensorDesc& output = context.outputs[0].desc;
  TIM_ASSIGN_OR_RETURN(output.shape, CopiedExtents(target, input));
  TIM_RETURN_IF_ERROR(FillInferred(target, input, &output.shape));
  if (output.type != ir::DataType::kUnknown) return OkStatus();
  InferTypeFromInput(context);
  ir::Quantization& quantization = output.quantization;
  if (!quantization.per_channel()) return OkStatus();
  TIM_ASSIGN_OR_RETURN(quantization.axis,
                       SameChannels(input, quantization.axis, output.shape));
  return OkStatus();
}

Status CheckReshape(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckKnownType(view, Operand::kInput, 0));
  return CheckKnownType(view, Operand::kOutput, 0);
}

Status EvalReshape(const ir::EvalContext& context) {
  kernels::ElementConverter converter(context.inputs[0], context.outputs[0]);
  const int64_t count = *context.inputs[0].desc->shape.NumElements();
  for (int64_t i = 0; i < count; ++i) converter.Convert(i, i);
  return OkStatus();
}

// Rows of 4-bit elements are padded to whole bytes.
bool SameRows(const ir::TensorDesc& a, const ir::TensorDesc& b) {
  if (ir::Info(a.type).bits >= 8) return true;
  const int64_t x = a.shape.DimOr1(0);
  const int64_t y = b.shape.DimOr1(0);
  return x == y || (x % 2 == 0 && y % 2 == 0);
}

// Per channel of axes that are the same but for their number.
bool SameButForAxis(const ir::TensorDesc& a, const ir::TensorDesc& b) {
  ir::Quantization moved = a.quantization;
  moved.axis = b.quantization.axis;
  const int from = a.quantization.axis;
  return a.type == b.type && moved.per_channel() && moved == b.quantization &&
         a.shape.IsStatic() && b.shape.IsStatic() &&
         a.shape[from] == b.shape[moved.axis] &&
         a.shape.Product(0, from) == b.shape.Product(0, moved.axis);
}

bool IsView(const ir::NodeView& view) {
  const ir::TensorDesc& input = *view.inputs[0];
  const ir::TensorDesc& output = *view.outputs[0];
  return SameRows(input, output) &&
         (ir::SameElements(input, output) || SameButForAxis(input, output));
}

std::optional<ir::ElementMap> MapOf(const ir::NodeView& view) {
  const auto count = view.inputs[0]->shape.NumElements();
  if (!count) return std::nullopt;
  return ir::ElementMap{
      .start = 0, .extents = {*count}, .strides = {1}, .bounds = {}};
}

ir::OpSchema ReshapeSchema() {
  return {
      .name = "Reshape",
      .inputs = {1, 1},
      .surplus_inputs = 1,  // TFLite, ONNX: shape
      .attributes = {{.name = "shape", .type = ir::AttributeType::kInts}},
      .check = CheckReshape,
      .doubts = AllCodes,
      .infer_shapes = InferReshape,
      .eval = EvalReshape,
      .memory_estimate = NoScratch,
      .compute_estimate =
          [](const ir::NodeView& view) { return ElementwiseEstimate(view, 1); },
      .is_view = IsView,
      .is_identity =
          [](const ir::NodeView& view) {
            return IsView(view) && view.inputs[0]->shape.IsStatic() &&
                   view.inputs[0]->shape == view.outputs[0]->shape;
          },
      .element_map = MapOf,
      .vjp = ReshapeVjp};
}

}  // namespace

TIM_OPERATOR(reshape) {
  registry.Add(ReshapeSchema());
  registry.Add(ConvertKernel("tim.Reshape", "reshape"));
}

}  // namespace tim::ops
