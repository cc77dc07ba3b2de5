// Convolution and ConvTranspose: data in NCX and weights in OIX for the
// image operators of the library.
#include <algorithm>

#include "graph_api/ops/windows.h"

namespace tim::graph {
namespace {

// Problem that attributes and dims of operands state.
struct Plan {
  Dims src = {};      // [N, C, X...]
  Dims weights = {};  // [O, I, X...]
  Dims dst = {};      // [N, C, X...]
  int64_t groups = 1;
  std::vector<Window> windows = {};
  std::vector<int64_t> output_padding = {};  // ConvTranspose

  int64_t channels() const { return src[1]; }
  size_t spatial() const { return windows.size(); }
};

// All but windows and dst.
Result<Plan> PlanOf(const Op& op, const std::vector<Dims>& inputs) {
  TIM_ASSIGN_OR_RETURN(const int64_t spatial, SpatialRank("src", inputs[0]));
  TIM_ASSIGN_OR_RETURN(const int64_t taps, SpatialRank("weights", inputs[1]));
  if (spatial != taps) {
    return InvalidArgument("weights have dims {", StrJoin(inputs[1], ", "),
                           "}, expected as many axes as src {",
                           StrJoin(inputs[0], ", "), "}");
  }
  Plan plan = {.src = ToNcx(op, inputs[0]),
               .weights = ToOix(op, inputs[1]),
               .groups = op.Int(tim_graph_op_attr_groups)};
  if (plan.groups < 1 || plan.channels() % plan.groups != 0) {
    return InvalidArgument("attribute 'groups' is ", plan.groups,
                           ", expected a divisor of src's ", plan.channels(),
                           " channels");
  }
  return plan;
}

Status CheckBias(const std::vector<Dims>& inputs, int64_t channels) {
  if (inputs.size() < 3 || inputs[2] == Dims{channels}) return OkStatus();
  return InvalidArgument("bias has dims {", StrJoin(inputs[2], ", "),
                         "}, expected {", channels,
                         "}, one for each channel of dst");
}

// Nodes around the operator `name` of two or three spatial axes.
Status AddNodes(const Op& op, Lowering& lowering, std::string_view name,
                const Tensor& oix, ir::AttributeMap attributes) {
  TIM_ASSIGN_OR_RETURN(const Tensor ncx,
                       ToNcx(lowering, op, lowering.input(0)));
  TIM_ASSIGN_OR_RETURN(const Tensor image, AsImage(lowering, ncx));
  TIM_ASSIGN_OR_RETURN(const Tensor weights, AsImage(lowering, oix));
  std::vector<Tensor> inputs = {image, weights};
  if (lowering.input(2)) inputs.push_back(lowering.input(2));
  TIM_ASSIGN_OR_RETURN(Tensor made,
                       lowering.Add(name, inputs, std::move(attributes)));
  if (ncx.rank() == 3) {
    Dims dims = made.dims;
    dims.erase(dims.begin() + 2);
    TIM_ASSIGN_OR_RETURN(made, lowering.Reshape(made, dims));
  }
  TIM_ASSIGN_OR_RETURN(made, FromNcx(lowering, op, made));
  lowering.SetOutput(0, made);
  return OkStatus();
}

std::vector<Dims> InputDims(const Op& op, const Lowering& lowering) {
  std::vector<Dims> out;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    out.push_back(lowering.input(i).dims);
  }
  return out;
}

using MakePlan = Result<Plan> (*)(const Op&, const std::vector<Dims>&);

template <MakePlan make>
Result<std::vector<Dims>> EmptyDims(const Op& op,
                                    const std::vector<Dims>& inputs) {
  TIM_ASSIGN_OR_RETURN(const Plan plan, make(op, inputs));
  return std::vector<Dims>{FromNcx(op, plan.dst)};
}

// ---- Convolution ----

// Groups of three spatial axes have no operator.
Status SupportsConvolution(const Op& op) {
  if (op.inputs[0].ndims != 5 || op.Int(tim_graph_op_attr_groups) <= 1) {
    return OkStatus();
  }
  return Unimplemented("Convolution of 3 spatial axes with groups");
}

Result<Plan> ConvolutionPlan(const Op& op, const std::vector<Dims>& inputs) {
  TIM_ASSIGN_OR_RETURN(Plan plan, PlanOf(op, inputs));
  const int64_t made = plan.weights[0];
  const int64_t read = plan.weights[1];
  if (read != plan.channels() / plan.groups) {
    return InvalidArgument("weights read ", read, " channels, expected ",
                           plan.channels() / plan.groups, ", src's ",
                           plan.channels(), " in ", plan.groups, " groups");
  }
  if (made % plan.groups != 0) {
    return InvalidArgument("weights make ", made,
                           " channels, expected a multiple of the ",
                           plan.groups, " groups");
  }
  TIM_RETURN_IF_ERROR(CheckBias(inputs, made));
  const Dims extents = SpatialDims(plan.src);
  TIM_ASSIGN_OR_RETURN(plan.windows,
                       WindowsOf(op, extents, SpatialDims(plan.weights)));
  plan.dst = {plan.src[0], made};
  for (size_t i = 0; i < plan.spatial(); ++i) {
    TIM_ASSIGN_OR_RETURN(const int64_t count,
                         WindowCount(plan.windows[i], extents[i]));
    plan.dst.push_back(count);
  }
  return plan;
}

Status LowerConvolution(const Op& op, Lowering& lowering) {
  TIM_ASSIGN_OR_RETURN(const Plan plan,
                       ConvolutionPlan(op, InputDims(op, lowering)));
  TIM_RETURN_IF_ERROR(SupportsConvolution(op));
  ir::AttributeMap attributes = ConvolutionAttributes(AsImage(plan.windows));
  // The weights' channels say the groups.
  if (plan.groups > 1 && plan.groups == plan.channels()) {
    attributes.Set("multiplier", plan.weights[0] / plan.groups);
  }
  TIM_ASSIGN_OR_RETURN(const Tensor weights,
                       ToOix(lowering, op, lowering.input(1)));
  return AddNodes(op, lowering, plan.spatial() == 3 ? "Conv3d" : "Conv2d",
                  weights, std::move(attributes));
}

// ---- ConvTranspose ----

Status SupportsConvTranspose(const Op& op) {
  if (op.inputs[0].ndims == 5 || op.inputs[1].ndims == 5) {
    return Unimplemented("ConvTranspose of 3 spatial axes");
  }
  const Dims& dilations = op.Ints(tim_graph_op_attr_dilations);
  if (std::all_of(dilations.begin(), dilations.end(),
                  [](int64_t dilation) { return dilation <= 1; })) {
    return OkStatus();
  }
  return Unimplemented("ConvTranspose with dilations above 1");
}

Result<Plan> ConvTransposePlan(const Op& op, const std::vector<Dims>& inputs) {
  TIM_ASSIGN_OR_RETURN(Plan plan, PlanOf(op, inputs));
  if (plan.weights[1] != plan.channels()) {
    return InvalidArgument("weights read ", plan.weights[1],
                           " channels, expected src's ", plan.channels());
  }
  const int64_t made = plan.weights[0] * plan.groups;
  TIM_RETURN_IF_ERROR(CheckBias(inputs, made));
  TIM_ASSIGN_OR_RETURN(plan.windows,
                       TransposedWindowsOf(op, SpatialDims(plan.weights)));
  TIM_ASSIGN_OR_RETURN(plan.output_padding,
                       SpatialList(op, tim_graph_op_attr_output_padding,
                                   static_cast<int64_t>(plan.spatial()), 0, 0));
  plan.dst = {plan.src[0], made};
  for (size_t i = 0; i < plan.spatial(); ++i) {
    const Window& window = plan.windows[i];
    const int64_t whole = window.stride * (plan.src[2 + i] - 1) +
                          window.span() + plan.output_padding[i];
    plan.dst.push_back(whole - window.begin - window.end);
    if (plan.dst.back() > 0) continue;
    return InvalidArgument("along spatial axis ", i, " pads of ", window.begin,
                           " and ", window.end, " leave nothing of ", whole,
                           " cells");
  }
  return plan;
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

Status LowerConvTranspose(const Op& op, Lowering& lowering) {
  TIM_ASSIGN_OR_RETURN(Plan plan,
                       ConvTransposePlan(op, InputDims(op, lowering)));
  TIM_RETURN_IF_ERROR(SupportsConvTranspose(op));
  TIM_ASSIGN_OR_RETURN(Tensor weights, ToOix(lowering, op, lowering.input(1)));
  TIM_ASSIGN_OR_RETURN(weights, GroupedWeights(lowering, weights, plan.groups));
  if (plan.spatial() == 1) {
    plan.output_padding.insert(plan.output_padding.begin(), 0);
  }
  const ir::AttributeMap all = ConvolutionAttributes(AsImage(plan.windows));
  return AddNodes(op, lowering, "DeConv2d", weights,
                  {{"pad", all.Ints("pad")},
                   {"stride", all.Ints("stride")},
                   {"output_padding", Reversed(plan.output_padding)},
                   {"group", plan.groups}});
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
  convolution.empty_dims = EmptyDims<ConvolutionPlan>;
  table.Add(std::move(convolution));

  OpDef transposed = ConvolutionDef(tim_graph_op_conv_transpose,
                                    "ConvTranspose", {"XOI", "IOX"});
  transposed.attributes.push_back(
      {.attribute = tim_graph_op_attr_output_padding, .optional = true});
  transposed.supports = SupportsConvTranspose;
  transposed.lower = LowerConvTranspose;
  transposed.empty_dims = EmptyDims<ConvTransposePlan>;
  table.Add(std::move(transposed));
}

}  // namespace tim::graph
