// Pool2d over the windows of every plane [W, H]: MAX, AVG (every cell of the
// window counts in the divisor), AVG_PADDED (those inside the padded image),
// AVG_ANDROID (those inside the image) and L2 (sqrt(mean of squares) of the
// cells inside).  Inputs are [W, H, C, N] or
// [W, H, C].  ONNX MaxPool, AveragePool, LpPool and their Global forms; TFLite
// AVERAGE_POOL_2D (AVG_ANDROID), MAX_POOL_2D, L2_POOL_2D.
//
// Integer inputs of at most 16 bits: with S the exact sum over the cells inside
// of code - zero point (or its square), v = float(S) / float(divisor) (L2: the
// square root of that), correctly rounded, and the output is
// clamp(rint(v * M + zero point)) with M = float(scale in / scale out), or
// v * scale in a float type.  With equal quantizations M is 1 and the code is
// the exact mean rounded half to even for windows below 2^13 cells of 8 bits.
// A MAX window without a cell inside gives the least (finite) value of the
// output type, the others 0.  NaN inside of a window makes the result NaN.
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/elements/data_layout.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/launch/launch.h"
#include "ops/pooling/pool2d_node.h"
#include "ops/pooling/pooling_rules.h"

namespace tim::ops {
namespace {

using ir::AttributeType;
using Ints = std::vector<int64_t>;

Status CheckType(const char* operand, ir::DataType type) {
  if (ir::IsFloat(type)) return OkStatus();
  if (ir::IsInteger(type) && ir::Info(type).bits <= 32) return OkStatus();
  return InvalidArgument(operand, " is ", ir::ToString(type),
                         ", expected a float type or an integer type of at "
                         "most 32 bits");
}

Status Check(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckType("the input", view.inputs[0]->type));
  return CheckType("the output", view.outputs[0]->type);
}

Status Infer(ir::InferContext& context) {
  TIM_ASSIGN_OR_RETURN(const PoolWindows2d windows,
                       PoolWindowsOf(context.attributes()));
  InferTypeFromInput(context);
  const ir::Shape& input = context.shape(0);
  if (!input.ranked()) return OkStatus();
  if (input.rank() != 3 && input.rank() != 4) {
    return InvalidArgument("the input ", input.ToString(), " has rank ",
                           input.rank(),
                           ", expected [W, H, C, N] or [W, H, C]");
  }
  const PoolWindow along[] = {windows.w, windows.h};
  TIM_ASSIGN_OR_RETURN(context.outputs[0].desc.shape,
                       PooledShape(along, input, context.outputs[0].declared));
  return OkStatus();
}

// Windows of an input of another size than the one that is there.
void AddSizeDoubt(const ir::NodeView& view, std::vector<std::string>* doubts) {
  const ir::AttributeMap& attributes = view.node.attributes;
  const ir::Shape& input = view.inputs[0]->shape;
  const Ints& size = attributes.Ints("input_size");
  if (attributes.String("mode") == "window" || !input.IsStatic() ||
      (size[0] == input[0] && size[1] == input[1])) {
    return;
  }
  doubts->push_back(StrCat("attribute 'input_size' is [", StrJoin(size, ", "),
                           "], but input 0 is ", input.ToString(),
                           ": the windows are those of another size; give "
                           "W and H of the input"));
}

std::vector<std::string> FindDoubts(const ir::NodeView& view) {
  const auto windows = PoolWindowsOf(view.node.attributes);
  if (!windows.ok()) return {};
  const PoolWindow along[] = {windows->w, windows->h};
  std::vector<std::string> doubts = PoolDoubts(view, along);
  AddSizeDoubt(view, &doubts);
  return doubts;
}

Status Eval(const ir::EvalContext& context) {
  TIM_ASSIGN_OR_RETURN(
      const PoolShape shape,
      PoolShapeOf(context.attributes(), context.inputs[0].desc->shape,
                  context.outputs[0].desc->shape));
  return EvalPool(PoolTypeOf(context.attributes()), shape, context.inputs[0],
                  context.outputs[0]);
}

// Padding counts in two means alone.
std::optional<ir::AttributeMap> AbsorbPadding(const ir::NodeView& view,
                                              const ir::Padding& padding) {
  const ir::AttributeMap& attributes = view.node.attributes;
  const auto windows = PoolWindowsOf(attributes);
  const PoolType type = PoolTypeOf(attributes);
  const bool counts =
      type == PoolType::kAverage || type == PoolType::kAveragePadded;
  if (!windows.ok() || !counts || attributes.String("mode") != "window" ||
      windows->w.stride == 0 || windows->h.stride == 0) {
    return std::nullopt;
  }
  const ir::Shape& input = view.inputs[0]->shape;
  if (!ArePadsKnown({.mode = windows->w.mode}, input[0], windows->w.kernel) ||
      !ArePadsKnown({.mode = windows->h.mode}, input[1], windows->h.kernel)) {
    return std::nullopt;
  }
  return PaddedBy(padding,
                  {PadsOf(windows->w, input[0]), PadsOf(windows->h, input[1])},
                  attributes);
}

// Sums are the same in any order.
bool IsOrderFree(const ir::NodeView& view) {
  return PoolTypeOf(view.node.attributes) == PoolType::kMax ||
         PoolScaleOf(*view.inputs[0], *view.outputs[0]).codes;
}

// A window passes where its axes stay the first two; they change places where
// that does not change results.
Result<ir::PermutedNode> PermutePool2d(const ir::NodeView& view, int operand,
                                       std::span<const int> perm) {
  TIM_ASSIGN_OR_RETURN(ir::PermutedNode out,
                       KeepAttributes(view, operand, perm));
  if (perm[0] > 1 || perm[1] > 1) {
    return Unimplemented("Pool2d needs W and H as its first axes");
  }
  if (perm[0] == 1 && !IsOrderFree(view)) {
    return Unimplemented("Pool2d sums floats from left to right");
  }
  if (perm[0] == 1) {
    SwapWidthAndHeight({"ksize", "stride", "input_size", "output_size", "pad"},
                       &out.attributes);
  }
  return out;
}

Result<PoolProblem> Analyze(const ir::KernelNode& node, const ir::DeviceInfo&) {
  TIM_RETURN_IF_ERROR(CheckKernelOperands(node));
  TIM_ASSIGN_OR_RETURN(const PoolProblem problem, PoolProblemOf(node));
  if (ir::IsInteger(node.inputs[0].type) && !problem.scale.codes) {
    return Unimplemented("integers of more than 16 bits have no kernel");
  }
  TIM_RETURN_IF_ERROR(CheckPool2dSizes(problem.shape));
  return problem;
}

// The type in which sums of codes (or of their squares) are exact.
const char* SumType(const ir::TensorDesc& input, PoolType type,
                    const PoolShape& shape) {
  if (ir::IsFloat(input.type)) return "float";
  const ir::DataTypeInfo& info = ir::Info(input.type);
  const int64_t zero = input.quantized() ? input.quantization.ZeroPoint() : 0;
  const double magnitude = static_cast<double>(
      std::max(std::abs(info.min - zero), std::abs(info.max - zero)));
  const double cells = static_cast<double>(shape.w.kernel * shape.h.kernel);
  const double terms = type == PoolType::kMax ? 1.0 : cells;
  const double largest =
      type == PoolType::kL2 ? magnitude * magnitude : magnitude;
  return terms * largest < 0x1p31 ? "int" : "long";
}

Result<ir::Lowering> Lower(const PoolProblem& problem,
                           const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const auto& [type, scale, shape] = problem;
  const ir::TensorDesc& input = node.inputs[0];
  const auto window = static_cast<float>(shape.w.kernel * shape.h.kernel);
  Launch launch("ops/pooling/pool2d.cl", "pool2d");
  launch.Type("IN", input)
      .Type("OUT", node.outputs[0])
      .Option(StrCat("-DPOOL=", static_cast<int>(type)))
      .Option(StrCat("-DSUM=", SumType(input, type, shape)))
      .Input("in", node, 0)
      .Output("out", node, 0);
  launch.Struct("sizes", PoolSizes(shape))
      .Float("window", window)
      .Float("inverse_window", 1.0f / window)
      .Int("in_zero", input.quantized() ? input.quantization.ZeroPoint() : 0)
      .Float("multiplier", scale.multiplier)
      .Float("scale", scale.scale)
      .Float("inverse_scale", 1.0f / scale.scale)
      .Int("zero", scale.zero)
      .Float("lowest", PoolLowest(node.outputs[0].type));
  return launch.Tiles(device, shape.w.output * shape.h.output * shape.planes)
      .Build();
}

ir::KernelDef Pool2dKernel() {
  return ir::TypedKernel<PoolProblem>{.op = "tim.Pool2d",
                                      .name = "pool2d",
                                      .analyze = Analyze,
                                      .cost = CostAt(prices::kPool2d),
                                      .lower = Lower};
}

}  // namespace

ir::OpSchema Pool2dSchema() {
  return {.name = "Pool2d",
          .inputs = {1, 1},
          .attributes = {PoolTypeSpec(),
                         {"mode", AttributeType::kString, "window"},
                         PaddingSpec(),
                         {"pad", AttributeType::kInts, Ints{0, 0, 0, 0}},
                         {"ksize", AttributeType::kInts, Ints{}},
                         {"stride", AttributeType::kInts, Ints{}},
                         {"input_size", AttributeType::kInts, Ints{}},
                         {"output_size", AttributeType::kInts, Ints{}},
                         DataLayoutSpec("layout", DataLayout::kWhcn)},
          .check = Check,
          .doubts = FindDoubts,
          .infer_shapes = Infer,
          .eval = Eval,
          .memory_estimate = NoScratch,
          .compute_estimate = Pool2dEstimate,
          .absorb_padding = AbsorbPadding,
          .sliced_inputs = SliceInputFrom(2),
          .permute_rule = PermutePool2d,
          .layout_rule = DataLayoutRule("layout"),
          .vjp = Pool2dVjp};
}

TIM_OPERATOR(pool2d) {
  registry.Add(Pool2dSchema());
  registry.Add(Pool2dKernel());
}

}  // namespace tim::ops
