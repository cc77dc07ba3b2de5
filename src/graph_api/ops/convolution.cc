// Convolution and ConvTranspose: data in NCX and weights in OIX for the
// image operators of the library.
#include <algorithm>

#include "graph_api/ops/windows.h"

namespace tim::graph {
namespace {

// Operands of both kinds, in the inner operators' order.
struct Operands {
  Tensor src = {};      // [N, C, X...]
  Tensor weights = {};  // [O, I, X...]
  Tensor bias = {};     // [O]; may be absent.
  int64_t groups = 1;

  int64_t channels() const { return src.dims[1]; }
  Dims kernel() const { return SpatialDims(weights.dims); }
};

Status CheckBias(const Tensor& bias, int64_t channels) {
  if (!bias || (bias.rank() == 1 && bias.dims[0] == channels)) {
    return OkStatus();
  }
  return InvalidArgument("bias has dims {", StrJoin(bias.dims, ", "),
                         "}, expected {", channels,
                         "}, one for each channel of dst");
}

Result<Operands> OperandsOf(const Op& op, Lowering& lowering) {
  const Tensor src = lowering.input(0);
  const Tensor weights = lowering.input(1);
  TIM_ASSIGN_OR_RETURN(const int64_t spatial, SpatialRank("src", src.dims));
  TIM_ASSIGN_OR_RETURN(const int64_t taps,
                       SpatialRank("weights", weights.dims));
  if (spatial != taps) {
    return InvalidArgument("weights have dims {", StrJoin(weights.dims, ", "),
                           "}, expected as many axes as src {",
                           StrJoin(src.dims, ", "), "}");
  }
  Operands out = {.bias = lowering.input(2),
                  .groups = op.Int(tim_graph_op_attr_groups)};
  const int64_t channels = ToNcx(op, src.dims)[1];
  if (out.groups < 1 || channels % out.groups != 0) {
    return InvalidArgument("attribute 'groups' is ", out.groups,
                           ", expected a divisor of src's ", channels,
                           " channels");
  }
  TIM_ASSIGN_OR_RETURN(out.src, ToNcx(lowering, op, src));
  TIM_ASSIGN_OR_RETURN(out.weights, ToOix(lowering, op, weights));
  return out;
}

Result<Tensor> AddNode(Lowering& lowering, std::string_view name,
                       const Operands& operands, ir::AttributeMap attributes) {
  std::vector<Tensor> inputs = {operands.src, operands.weights};
  if (operands.bias) inputs.push_back(operands.bias);
  return lowering.Add(name, inputs, std::move(attributes));
}

Status Finish(const Op& op, Lowering& lowering, Tensor image, int64_t spatial) {
  if (spatial == 1) {
    Dims dims = image.dims;
    dims.erase(dims.begin() + 2);
    TIM_ASSIGN_OR_RETURN(image, lowering.Reshape(image, dims));
  }
  TIM_ASSIGN_OR_RETURN(const Tensor dst, FromNcx(lowering, op, image));
  lowering.SetOutput(0, dst);
  return OkStatus();
}

// ---- Convolution ----

// Groups of three spatial axes have no operator.
Status SupportsConvolution(const Op& op) {
  if (op.inputs[0].ndims != 5 || op.Int(tim_graph_op_attr_groups) <= 1) {
    return OkStatus();
  }
  return Unimplemented("Convolution of 3 spatial axes with groups");
}

Status CheckChannels(const Operands& operands) {
  const int64_t read = operands.weights.dims[1];
  const int64_t made = operands.weights.dims[0];
  if (read != operands.channels() / operands.groups) {
    return InvalidArgument("weights read ", read, " channels, expected ",
                           operands.channels() / operands.groups, ", src's ",
                           operands.channels(), " in ", operands.groups,
                           " groups");
  }
  if (made % operands.groups != 0) {
    return InvalidArgument("weights make ", made,
                           " channels, expected a multiple of the ",
                           operands.groups, " groups");
  }
  return CheckBias(operands.bias, made);
}

Status LowerConvolution(const Op& op, Lowering& lowering) {
  TIM_ASSIGN_OR_RETURN(Operands operands, OperandsOf(op, lowering));
  TIM_RETURN_IF_ERROR(CheckChannels(operands));
  const Dims extents = SpatialDims(operands.src.dims);
  TIM_ASSIGN_OR_RETURN(std::vector<Window> windows,
                       WindowsOf(op, extents, operands.kernel()));
  for (size_t i = 0; i < windows.size(); ++i) {
    TIM_RETURN_IF_ERROR(WindowCount(windows[i], extents[i]).status());
  }
  const auto spatial = static_cast<int64_t>(windows.size());
  if (spatial == 3 && operands.groups > 1) return SupportsConvolution(op);
  TIM_ASSIGN_OR_RETURN(operands.src, AsImage(lowering, operands.src));
  TIM_ASSIGN_OR_RETURN(operands.weights, AsImage(lowering, operands.weights));
  ir::AttributeMap attributes =
      ConvolutionAttributes(AsImage(std::move(windows)));
  // The kernel's channels say the groups, which are one each if depthwise.
  if (operands.groups > 1 && operands.groups == operands.channels()) {
    attributes.Set("multiplier", operands.weights.dims[0] / operands.groups);
  }
  TIM_ASSIGN_OR_RETURN(const Tensor image,
                       AddNode(lowering, spatial == 3 ? "Conv3d" : "Conv2d",
                               operands, std::move(attributes)));
  return Finish(op, lowering, image, spatial);
}

// ---- ConvTranspose ----

bool IsDilated(const Op& op) {
  const Dims& dilations = op.Ints(tim_graph_op_attr_dilations);
  return std::any_of(dilations.begin(), dilations.end(),
                     [](int64_t dilation) { return dilation > 1; });
}

Status SupportsConvTranspose(const Op& op) {
  if (op.inputs[0].ndims == 5 || op.inputs[1].ndims == 5) {
    return Unimplemented("ConvTranspose of 3 spatial axes");
  }
  if (!IsDilated(op)) return OkStatus();
  return Unimplemented("ConvTranspose with dilations above 1");
}

// Weights [O / g, I, X...] become [O, I / g, X...].
Result<Tensor> GroupedWeights(Lowering& lowering, const Tensor& weights,
                              int64_t groups) {
  if (groups == 1) return weights;
  const Dims spatial = SpatialDims(weights.dims);
  const int64_t made = weights.dims[0];
  const int64_t read = weights.dims[1] / groups;
  const auto with = [&](Dims channels) {
    channels.insert(channels.end(), spatial.begin(), spatial.end());
    return channels;
  };
  TIM_ASSIGN_OR_RETURN(Tensor out,
                       lowering.Reshape(weights, with({made, groups, read})));
  std::vector<int64_t> order = {1, 0, 2};
  for (size_t i = 0; i < spatial.size(); ++i) {
    order.push_back(static_cast<int64_t>(3 + i));
  }
  TIM_ASSIGN_OR_RETURN(out, lowering.Transpose(out, order));
  return lowering.Reshape(out, with({groups * made, read}));
}

// [N, C, X...] of dst is above 0 along every axis.
Status CheckTransposed(const std::vector<Window>& windows, const Dims& extents,
                       const std::vector<int64_t>& output_padding) {
  for (size_t i = 0; i < windows.size(); ++i) {
    const Window& window = windows[i];
    const int64_t whole =
        window.stride * (extents[i] - 1) + window.span() + output_padding[i];
    if (whole > window.begin + window.end) continue;
    return InvalidArgument("along spatial axis ", i, " pads of ", window.begin,
                           " and ", window.end, " leave nothing of ", whole,
                           " cells");
  }
  return OkStatus();
}

Status LowerConvTranspose(const Op& op, Lowering& lowering) {
  TIM_ASSIGN_OR_RETURN(Operands operands, OperandsOf(op, lowering));
  if (operands.weights.dims[1] != operands.channels()) {
    return InvalidArgument("weights read ", operands.weights.dims[1],
                           " channels, expected src's ", operands.channels());
  }
  TIM_RETURN_IF_ERROR(
      CheckBias(operands.bias, operands.weights.dims[0] * operands.groups));
  const auto spatial = static_cast<int64_t>(operands.kernel().size());
  TIM_ASSIGN_OR_RETURN(std::vector<Window> windows,
                       TransposedWindowsOf(op, operands.kernel()));
  TIM_ASSIGN_OR_RETURN(
      std::vector<int64_t> output_padding,
      SpatialList(op, tim_graph_op_attr_output_padding, spatial, 0, 0));
  TIM_RETURN_IF_ERROR(
      CheckTransposed(windows, SpatialDims(operands.src.dims), output_padding));
  if (spatial == 3 || IsDilated(op)) return SupportsConvTranspose(op);
  TIM_ASSIGN_OR_RETURN(
      operands.weights,
      GroupedWeights(lowering, operands.weights, operands.groups));
  TIM_ASSIGN_OR_RETURN(operands.src, AsImage(lowering, operands.src));
  TIM_ASSIGN_OR_RETURN(operands.weights, AsImage(lowering, operands.weights));
  if (spatial == 1) output_padding.insert(output_padding.begin(), 0);
  const ir::AttributeMap all =
      ConvolutionAttributes(AsImage(std::move(windows)));
  TIM_ASSIGN_OR_RETURN(const Tensor image,
                       AddNode(lowering, "DeConv2d", operands,
                               {{"pad", all.Ints("pad")},
                                {"stride", all.Ints("stride")},
                                {"output_padding", Reversed(output_padding)},
                                {"group", operands.groups}}));
  return Finish(op, lowering, image, spatial);
}

// ---- Records ----

OpDef ConvolutionDef(tim_graph_op_kind_t kind, std::string name,
                     std::vector<std::string> weights_formats) {
  OpDef def;
  def.kind = kind;
  def.name = std::move(name);
  def.types = {{"T", FloatTypes()}};
  def.inputs = {{"src", "T"}, {"weights", "T"}, {"bias", "T", true}};
  def.outputs = {{"dst", "T"}};
  def.attributes = WindowDefs();
  def.attributes.push_back({.attribute = tim_graph_op_attr_dilations});
  def.attributes.push_back(
      {.attribute = tim_graph_op_attr_groups, .default_value = int64_t{1}});
  def.attributes.push_back(WeightsFormatDef(std::move(weights_formats)));
  def.rule = CheckPads;
  def.anchor = true;
  return def;
}

}  // namespace

TIM_GRAPH_OPS(convolution) {
  OpDef convolution =
      ConvolutionDef(tim_graph_op_convolution, "Convolution", {"XIO", "OIX"});
  convolution.supports = SupportsConvolution;
  convolution.lower = LowerConvolution;
  table.Add(std::move(convolution));

  OpDef transposed = ConvolutionDef(tim_graph_op_conv_transpose,
                                    "ConvTranspose", {"XOI", "IOX"});
  transposed.attributes.push_back(
      {.attribute = tim_graph_op_attr_output_padding, .optional = true});
  transposed.supports = SupportsConvTranspose;
  transposed.lower = LowerConvTranspose;
  table.Add(std::move(transposed));
}

}  // namespace tim::graph
