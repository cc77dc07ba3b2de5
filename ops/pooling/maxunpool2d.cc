// MaxUnpool2d: out[x * stride_w + i % kw, y * stride_h + i / kw] = in[x, y] for
// the local index i of every window, zeros elsewhere.  Where windows meet, the
// last in row-major order counts; targets outside of the output and indices
// outside of the window are dropped.  Values move as DataConvert moves them.
#include <algorithm>

#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/convolution/extent_doubts.h"
#include "ops/elements/convert.h"
#include "ops/elements/data_layout.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/pooling/max_windows.h"

namespace tim::ops {
namespace {

enum Input { kValues, kIndices };

// Windows of the output, as those of the pooling that this reverses.
Result<std::vector<PoolWindow>> WindowsAlong(ir::AttributeMap attributes) {
  attributes.Set("padding", static_cast<int64_t>(PadMode::kValid));
  attributes.Set("pad", std::vector<int64_t>(4, 0));
  TIM_ASSIGN_OR_RETURN(auto windows, ExplicitWindows(attributes, 2));
  for (const PoolWindow& window : windows) {
    if (window.stride >= 1) continue;
    return InvalidArgument("attribute 'stride' has a 0, expected >= 1");
  }
  return windows;
}

// W and H of the declared shape, if it agrees in the other axes.
const ir::Shape* Declared(const ir::InferContext& context) {
  const ir::Shape& input = context.shape(kValues);
  const ir::Shape* declared = context.outputs[0].declared;
  if (declared == nullptr || declared->rank() != input.rank()) return nullptr;
  for (int axis = 2; axis < input.rank(); ++axis) {
    if (input[axis] != ir::kUnknownDim && input[axis] != (*declared)[axis]) {
      return nullptr;
    }
  }
  return declared;
}

Status CheckShapes(const ir::Shape& values, const ir::Shape& indices) {
  if (values.ranked() && values.rank() != 3 && values.rank() != 4) {
    return InvalidArgument("the input ", values.ToString(), " has rank ",
                           values.rank(),
                           ", expected [W, H, C, N] or [W, H, C]");
  }
  if (!values.IsStatic() || !indices.IsStatic() || values == indices) {
    return OkStatus();
  }
  return InvalidArgument("the indices are ", indices.ToString(),
                         ", expected one for each value of ",
                         values.ToString());
}

Status Infer(ir::InferContext& context) {
  TIM_ASSIGN_OR_RETURN(const auto windows, WindowsAlong(context.attributes()));
  InferTypeFromInput(context);
  const ir::Shape& input = context.shape(kValues);
  TIM_RETURN_IF_ERROR(CheckShapes(input, context.shape(kIndices)));
  if (!input.ranked()) return OkStatus();
  const ir::Shape* declared = Declared(context);
  ir::Shape shape = input;
  for (int axis = 0; axis < 2; ++axis) {
    const auto& [mode, rounding, kernel, stride, front, back] = windows[axis];
    if (declared != nullptr && (*declared)[axis] > 0) {
      shape.set_dim(axis, (*declared)[axis]);
    } else {
      shape.set_dim(axis, input[axis] == ir::kUnknownDim
                              ? ir::kUnknownDim
                              : (input[axis] - 1) * stride + kernel);
    }
  }
  context.outputs[0].desc.shape = shape;
  return OkStatus();
}

Status Check(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kInput, kValues));
  TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kOutput, 0));
  TIM_RETURN_IF_ERROR(CheckChannels(*view.outputs[0]));
  const ir::TensorDesc& indices = *view.inputs[kIndices];
  if (ir::IsInteger(indices.type)) return OkStatus();
  return InvalidArgument("input 1, the indices, is ", indices.ToString(),
                         ", expected an integer type");
}

// Sizes of which a pooling by these windows, padded or not and however rounded,
// makes the input.
std::vector<std::string> FindDoubts(const ir::NodeView& view) {
  Doubts doubts = IdleLayouts(view);
  AddCodesDoubt(view, {kValues}, {0}, &doubts);
  const auto windows = WindowsAlong(view.node.attributes);
  const ir::Shape& input = view.inputs[kValues]->shape;
  if (!windows.ok() || !input.IsStatic()) return doubts;
  std::vector<std::vector<ExtentRange>> readings;
  for (int axis = 0; axis < 2; ++axis) {
    const auto& window = (*windows)[axis];
    const int64_t steps = (input[axis] - 1) * window.stride;
    readings.push_back(
        {{std::max<int64_t>(steps - window.stride, 0) + 1,
          steps + std::max(window.kernel, window.stride) + window.stride - 1}});
  }
  AddExtentsDoubt(view, readings, &doubts);
  return doubts;
}

// The output takes the part of the pooling's input.
Result<MaxWindows> UnpoolWindowsOf(const ir::AttributeMap& attributes,
                                   const ir::Shape& values,
                                   const ir::Shape& output) {
  TIM_ASSIGN_OR_RETURN(const auto along, WindowsAlong(attributes));
  return MaxWindowsOf(along, output, values);
}

// Where the value of window (x, y) goes in its plane, -1: nowhere.
int64_t TargetOf(const MaxWindows& windows, int64_t x, int64_t y,
                 int64_t index) {
  const auto& [w, h, d] = windows.axes;
  if (index < 0 || index >= w.kernel * h.kernel) return -1;
  const int64_t to_x = x * w.stride + index % w.kernel;
  const int64_t to_y = y * h.stride + index / w.kernel;
  return to_x < w.input && to_y < h.input ? to_y * w.input + to_x : -1;
}

Status Eval(const ir::EvalContext& context) {
  const ir::ConstTensor& values = context.inputs[kValues];
  const ir::MutableTensor& output = context.outputs[0];
  TIM_ASSIGN_OR_RETURN(const MaxWindows windows,
                       UnpoolWindowsOf(context.attributes(), values.desc->shape,
                                       output.desc->shape));
  const auto& [w, h, d] = windows.axes;
  const int64_t plane = w.input * h.input;
  kernels::ElementWriter writer(output);
  for (int64_t i = 0; i < plane * windows.planes; ++i) {
    writer.StoreReal(i, 0.0f);
  }
  const kernels::ElementReader indices(context.inputs[kIndices]);
  kernels::ElementConverter converter(values, output);
  for (int64_t i = 0; i < windows.outputs(); ++i) {
    const int64_t row = i / w.output;
    const int64_t target =
        TargetOf(windows, i % w.output, row % h.output, indices.Code(i));
    if (target < 0) continue;
    converter.Convert(i, row / h.output * plane + target);
  }
  return OkStatus();
}

Result<ir::PermutedNode> Permute(const ir::NodeView& view, int operand,
                                 std::span<const int> perm) {
  if (perm.size() < 2 || perm[0] != 0 || perm[1] != 1) {
    return Unimplemented("MaxUnpool2d needs W and H as its first axes");
  }
  return KeepAttributes(view, operand, perm);
}

ir::OpSchema MaxUnpool2dSchema() {
  using ir::AttributeType;
  return {
      .name = "MaxUnpool2d",
      .inputs = {2, 2},
      .surplus_inputs = 1,  // ONNX: output_shape
      .attributes = {{"ksize", AttributeType::kInts},
                     {"stride", AttributeType::kInts},
                     DataLayoutSpec("layout", DataLayout::kWhcn)},
      .check = Check,
      .doubts = FindDoubts,
      .infer_shapes = Infer,
      .eval = Eval,
      .memory_estimate = NoScratch,
      .compute_estimate =
          [](const ir::NodeView& view) { return ElementwiseEstimate(view, 1); },
      .permute_rule = Permute};
}

Result<MaxWindows> Analyze(const ir::KernelNode& node, const ir::DeviceInfo&) {
  TIM_RETURN_IF_ERROR(CheckKernelOperands(node));
  TIM_ASSIGN_OR_RETURN(
      const MaxWindows windows,
      UnpoolWindowsOf(node.attributes(), node.inputs[kValues].shape,
                      node.outputs[0].shape));
  TIM_RETURN_IF_ERROR(CheckWindowPositions(windows));
  return windows;
}

Result<ir::Lowering> Lower(const MaxWindows& windows,
                           const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const auto& [w, h, d] = windows.axes;
  const ir::TensorDesc& from = node.inputs[kValues];
  const ir::TensorDesc& to = node.outputs[0];
  const kernels::ConvertRule rule = kernels::ConvertRuleOf(from, to);
  Launch launch("ops/pooling/maxunpool2d.cl", "maxunpool2d");
  AddConvertOptions(from, to, rule, &launch);
  launch.Type("INDEX", node.inputs[kIndices])
      .Option(StrCat("-DWORD=", BitsType(to.type)));
  launch.Input("x", node, kValues)
      .Input("indices", node, kIndices)
      .Output("y", node, 0);
  launch.Int("w", w.input)
      .Int("h", h.input)
      .Int("planes", windows.planes)
      .Int("in_w", w.output)
      .Int("in_h", h.output)
      .Int("kernel_w", w.kernel)
      .Int("kernel_h", h.kernel)
      .Int("stride_w", w.stride)
      .Int("stride_h", h.stride)
      .Long("zero_bits", RealBits(to, 0.0f));
  AddConvertArguments(from, to, rule, &launch);
  return launch.Tiles(device, w.input * h.input * windows.planes).Build();
}

ir::KernelDef MaxUnpool2dKernel() {
  return ir::TypedKernel<MaxWindows>{.op = "tim.MaxUnpool2d",
                                     .name = "maxunpool2d",
                                     .analyze = Analyze,
                                     .cost = CostAt(prices::kMaxUnpool2d),
                                     .lower = Lower};
}

}  // namespace

TIM_OPERATOR(maxunpool2d) {
  registry.Add(MaxUnpool2dSchema());
  registry.Add(MaxUnpool2dKernel());
}

}  // namespace tim::ops
