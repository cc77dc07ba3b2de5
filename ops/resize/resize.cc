// Resize and Resize1d: images and rows sampled at other points, by the nearest
// element or by bilinear interpolation.  ONNX Resize; TFLite RESIZE_BILINEAR
// and RESIZE_NEAREST_NEIGHBOR.
//
// Coordinates and weights are float32 numbers that the host makes
// (resize_sources.h), each operation of the blend (ops/resize/blend.h) is
// rounded to float32, and it has the same bits when W and H change places.
// Of integers x is code - zero point, and the output is
// clamp(rint(y * M + zero point)) with M = float(scale in / scale out), or
// y * scale in a float type.
#include <cmath>

#include "ir/op_registry.h"
#include "kernels/elements.h"
#include "ops/convolution/extent_doubts.h"
#include "ops/elements/data_layout.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/resize/blend.h"
#include "ops/resize/resize_node.h"

namespace tim::ops {
namespace {

using ir::AttributeType;

Status CheckType(const char* operand, ir::DataType type) {
  if (ir::IsFloat(type)) return OkStatus();
  if (ir::IsInteger(type) && ir::Info(type).bits <= 32) return OkStatus();
  return InvalidArgument(operand, " is ", ir::ToString(type),
                         ", expected a float type or an integer type of at "
                         "most 32 bits for bilinear interpolation");
}

Status Check(const ir::NodeView& view) {
  switch (static_cast<ResizeType>(view.node.attributes.Int("type"))) {
    case ResizeType::kNearest:
      TIM_RETURN_IF_ERROR(CheckKnownType(view, Operand::kInput, 0));
      return CheckKnownType(view, Operand::kOutput, 0);
    case ResizeType::kBilinear:
      TIM_RETURN_IF_ERROR(CheckType("the input", view.inputs[0]->type));
      return CheckType("the output", view.outputs[0]->type);
    default:
      return Unimplemented(
          "attribute 'type' is area, expected nearest or bilinear");
  }
}

Result<int64_t> ResizedExtent(const ir::AttributeMap& attributes,
                              const std::string& target, int64_t input) {
  const float factor = attributes.Float("factor");
  if (factor == 0.0f) {
    const int64_t extent = attributes.Int(target);
    if (extent >= 1) return extent;
    return InvalidArgument("attribute '", target, "' is ", extent,
                           ", expected >= 1 as factor is 0");
  }
  if (input == ir::kUnknownDim) return ir::kUnknownDim;
  const float extent = std::trunc(static_cast<float>(input) * factor);
  if (extent >= 1.0f && extent < 0x1p31f) return static_cast<int64_t>(extent);
  return InvalidArgument("a factor of ", factor, " makes ", extent,
                         " of the extent ", input,
                         ", expected 1 to 2^31 - 1 elements");
}

// The declared shape where it differs in the resized axes only, else null.
const ir::Shape* Declared(const ir::InferContext& context, int axes) {
  const ir::Shape& input = context.shape(0);
  const ir::Shape* declared = context.outputs[0].declared;
  if (declared == nullptr || declared->rank() != input.rank()) return nullptr;
  for (int axis = axes; axis < input.rank(); ++axis) {
    if (input[axis] != ir::kUnknownDim && input[axis] != (*declared)[axis]) {
      return nullptr;
    }
  }
  return declared;
}

Status Infer(const ResizeOp& op, ir::InferContext& context) {
  InferTypeFromInput(context);
  const ir::Shape& input = context.shape(0);
  if (!input.ranked()) return OkStatus();
  const int axes = op.axes();
  if (input.rank() < axes) {
    return InvalidArgument("the input ", input.ToString(), " has rank ",
                           input.rank(), ", expected at least ", axes);
  }
  const ir::Shape* declared = Declared(context, axes);
  ir::Shape shape = input;
  for (int axis = 0; axis < axes; ++axis) {
    if (declared != nullptr && (*declared)[axis] > 0) {
      shape.set_dim(axis, (*declared)[axis]);
      continue;
    }
    TIM_ASSIGN_OR_RETURN(
        const int64_t extent,
        ResizedExtent(context.attributes(), op.targets[axis], input[axis]));
    shape.set_dim(axis, extent);
  }
  context.outputs[0].desc.shape = shape;
  return OkStatus();
}

// What factor and target say, each however rounded.
std::vector<ExtentRange> Extents(const ir::AttributeMap& attributes,
                                 const std::string& target, int64_t input) {
  std::vector<ExtentRange> out;
  if (attributes.Int(target) >= 1) {
    out.push_back({attributes.Int(target), attributes.Int(target)});
  }
  const double factor = attributes.Float("factor");
  if (factor == 0) return out;
  const auto add = [&](double extent) {
    if (!(extent < 0x1p31)) return;
    out.push_back({static_cast<int64_t>(std::floor(extent)),
                   static_cast<int64_t>(std::ceil(extent))});
  };
  const auto n = static_cast<double>(input);
  add(n * factor);
  if (attributes.Bool("align_corners")) add((n - 1) * factor + 1);
  return out;
}

// Of a factor and targets the factor counts.
void AddTargetDoubt(const ResizeOp& op, const ir::NodeView& view,
                    Doubts* doubts) {
  const ir::AttributeMap& attributes = view.node.attributes;
  if (attributes.Float("factor") == 0) return;
  for (int axis = 0; axis < op.axes(); ++axis) {
    const int64_t target = attributes.Int(op.targets[axis]);
    const auto made = ResizedExtent(attributes, op.targets[axis],
                                    view.inputs[0]->shape[axis]);
    if (target < 1 || !made.ok() || *made == target) continue;
    doubts->push_back(StrCat("attribute '", op.targets[axis], "' is ", target,
                             ", but 'factor' is ", attributes.Float("factor"),
                             ", which counts and makes ", *made,
                             "; give a factor of 0 for the target"));
    return;
  }
}

std::vector<std::string> FindDoubts(const ResizeOp& op,
                                    const ir::NodeView& view) {
  Doubts doubts = FirstCodes(view);
  if (!op.has_layout) {
    const std::vector<std::string> idle = IdleLayouts(view);
    doubts.insert(doubts.end(), idle.begin(), idle.end());
  }
  const ir::Shape& input = view.inputs[0]->shape;
  if (!input.IsStatic()) return doubts;
  std::vector<std::vector<ExtentRange>> readings;
  for (int axis = 0; axis < op.axes(); ++axis) {
    readings.push_back(
        Extents(view.node.attributes, op.targets[axis], input[axis]));
    // The declared shape alone says it.
    if (readings.back().empty()) return doubts;
  }
  AddExtentsDoubt(view, readings, &doubts);
  AddTargetDoubt(op, view, &doubts);
  return doubts;
}

// make(o, x, y, first): element o of the output, from the plane of the input
// that begins at element `first`.
template <typename Make>
void ForEachElement(const ResizeMap& map, Make make) {
  int64_t o = 0;
  for (int64_t plane = 0; plane < map.planes; ++plane) {
    const int64_t first = plane * map.input_w * map.input_h;
    for (const ResizeSource& y : map.h) {
      for (const ResizeSource& x : map.w) make(o++, x, y, first);
    }
  }
}

void EvalBilinear(const ResizeMap& map, const ir::ConstTensor& input,
                  const ir::MutableTensor& output) {
  const BlendScale scale = BlendScaleOf(*input.desc, *output.desc);
  const BlendReader load(input, scale);
  BlendWriter writer(output, scale);
  ForEachElement(map, [&](int64_t o, const ResizeSource& x,
                          const ResizeSource& y, int64_t first) {
    const int64_t lower = first + y.lower * map.input_w;
    const int64_t upper = first + y.upper * map.input_w;
    const BlendCells cells = {
        .x00 = load(lower + x.lower),
        .x01 = load(lower + x.upper),
        .x10 = load(upper + x.lower),
        .x11 = load(upper + x.upper),
    };
    writer.Store(o, Blend(cells, x.weight, y.weight));
  });
}

Status Eval(int axes, const ir::EvalContext& context) {
  const ir::ConstTensor& input = context.inputs[0];
  const ir::MutableTensor& output = context.outputs[0];
  const ResizeMap map = ResizeMapOf(context.attributes(), axes,
                                    input.desc->shape, output.desc->shape);
  if (map.moves) {
    kernels::ElementConverter converter(input, output);
    ForEachElement(map, [&](int64_t o, const ResizeSource& x,
                            const ResizeSource& y, int64_t first) {
      converter.Convert(first + y.lower * map.input_w + x.lower, o);
    });
    return OkStatus();
  }
  EvalBilinear(map, input, output);
  return OkStatus();
}

int64_t Scratch(const ir::NodeView& view) {
  const ir::Shape& output = view.outputs[0]->shape;
  return (output.DimOr1(0) + output.DimOr1(1)) *
         static_cast<int64_t>(sizeof(ResizeSource));
}

bool IsIdentity(const ir::NodeView& view) {
  return ir::SameElements(*view.inputs[0], *view.outputs[0]) &&
         view.inputs[0]->shape.IsStatic() &&
         view.inputs[0]->shape == view.outputs[0]->shape;
}

// Resized axes stay in front; two of them may change places.
Result<ir::PermutedNode> Permute(const ResizeOp& op, const ir::NodeView& view,
                                 int operand, std::span<const int> perm) {
  const int axes = op.axes();
  for (int axis = 0; axis < axes; ++axis) {
    if (perm[axis] >= axes) {
      return Unimplemented(op.name, " needs the axes that it resizes in front");
    }
  }
  TIM_ASSIGN_OR_RETURN(ir::PermutedNode out,
                       KeepAttributes(view, operand, perm));
  for (int axis = 0; axis < axes; ++axis) {
    out.attributes.Set(op.targets[axis],
                       view.node.attributes.Int(op.targets[perm[axis]]));
  }
  return out;
}

ir::OpSchema ResizeSchema(const ResizeOp& op) {
  ir::OpSchema schema = {
      .name = op.name,
      .inputs = {1, 1},
      .surplus_inputs = 3,  // ONNX: roi, scales, sizes
      .attributes = {{"type",
                      AttributeType::kInt,
                      std::nullopt,
                      {{"nearest", 0}, {"bilinear", 1}, {"area", 2}}},
                     {"factor", AttributeType::kFloat, 0.0},
                     {"align_corners", AttributeType::kBool, false},
                     {"half_pixel_centers", AttributeType::kBool, false},
                     DataLayoutSpec("layout", DataLayout::kWhcn)},
      .check = Check,
      .doubts = [op](const ir::NodeView& view) { return FindDoubts(op, view); },
      .infer_shapes =
          [op](ir::InferContext& context) { return Infer(op, context); },
      .eval =
          [axes = op.axes()](const ir::EvalContext& context) {
            return Eval(axes, context);
          },
      .memory_estimate = Scratch,
      .compute_estimate = ResizeEstimate,
      .is_identity = IsIdentity,
      .permute_rule =
          [op](const ir::NodeView& view, int operand,
               std::span<const int> perm) {
            return Permute(op, view, operand, perm);
          }};
  for (const std::string& target : op.targets) {
    schema.attributes.push_back({target, AttributeType::kInt, int64_t{0}});
  }
  if (op.has_layout) schema.layout_rule = DataLayoutRule("layout");
  return schema;
}

}  // namespace

TIM_OPERATOR(resize) {
  for (const ResizeOp& op : ResizeOps()) registry.Add(ResizeSchema(op));
}

}  // namespace tim::ops
