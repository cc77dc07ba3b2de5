// Convolutions and products of matrices.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "operators.h"

namespace tim {
namespace onednn {
namespace {

using dnnl::algorithm;
using dnnl::prop_kind;
using tim::plug::Node;

// Input 2, where it is there, has an element per output.
bool FitsBias(const Node& node, std::int64_t outputs) {
  if (node.inputs() < 3 || node.input(2) == nullptr) return true;
  return ElementsOf(DimsOf(*node.input(2))) == outputs;
}

// ---- convolution ----

struct Convolution {
  Window w;
  Window h;
  std::int64_t groups = 1;
  std::int64_t group_inputs = 1;
  std::int64_t group_outputs = 1;
};

// Weights are [W, H, Ic, Oc], of which Ic are the channels of a group, or with
// a multiplier those of depthwise convolutions.
Convolution ConvolutionOf(const Node& node) {
  const std::int64_t* const input = node.input(0)->dims;
  const std::int64_t* const weights = node.input(1)->dims;
  const std::int64_t* const output = node.output(0)->dims;
  Convolution out;
  const std::int64_t multiplier = node.Int("multiplier", 0);
  if (multiplier > 0) {
    out.groups = input[2];
    out.group_outputs = multiplier;
  } else {
    out.group_inputs = weights[2];
    out.groups = input[2] / weights[2];
    out.group_outputs = out.groups > 0 ? weights[3] / out.groups : 0;
  }
  const std::vector<std::int64_t> stride = node.Ints("stride");
  const std::vector<std::int64_t> dilation = node.Ints("dilation");
  for (const int axis : {0, 1}) {
    const auto at = static_cast<std::size_t>(axis);
    Window& window = axis == 0 ? out.w : out.h;
    window.input = input[axis];
    window.kernel = weights[axis];
    window.output = output[axis];
    window.stride = stride.size() == 2 ? stride[at] : 1;
    window.dilation =
        dilation.size() == 2 ? std::max<std::int64_t>(dilation[at], 1) : 1;
    if (window.stride > 0) SetPadding(node, axis, &window);
  }
  return out;
}

std::string ConvolutionRefusal(const Node& node) {
  if (node.inputs() < 2) return "it has no weights";
  if (node.input(0)->rank != 4 || node.input(1)->rank != 4 ||
      node.output(0)->rank != 4) {
    return "input, weights and output are to have 4 dimensions";
  }
  const Convolution conv = ConvolutionOf(node);
  const std::int64_t* const input = node.input(0)->dims;
  const std::int64_t* const output = node.output(0)->dims;
  const std::int64_t* const weights = node.input(1)->dims;
  if (conv.groups * conv.group_inputs != input[2] ||
      conv.groups * conv.group_outputs != output[2] || output[3] != input[3] ||
      weights[2] * weights[3] !=
          conv.groups * conv.group_outputs * conv.group_inputs ||
      !FitsBias(node, output[2])) {
    return "its channels, groups and bias do not fit together";
  }
  if (!conv.w.Fits() || !conv.h.Fits()) {
    return "its output has other extents than its windows give";
  }
  return "";
}

void AddConvolution(const Node& node, PartBuilder* builder) {
  const Convolution conv = ConvolutionOf(node);
  const tim::plug::Graph& graph = builder->graph();
  const std::int32_t input = graph.input_of(node, 0);
  const std::int32_t weights = graph.input_of(node, 1);
  const std::int32_t bias =
      node.inputs() > 2 ? graph.input_of(node, 2) : std::int32_t{-1};
  const Dims input_dims = DimsOf(*node.input(0));
  const Dims output_dims = DimsOf(*node.output(0));
  const Dims taps = conv.groups == 1
                        ? Dims{conv.group_outputs, conv.group_inputs,
                               conv.h.kernel, conv.w.kernel}
                        : Dims{conv.groups, conv.group_outputs,
                               conv.group_inputs, conv.h.kernel, conv.w.kernel};
  const Dims channels = {output_dims[1]};
  const Desc no_bias;
  const Epilogue epilogue = builder->TakeEpilogue(node);
  const dnnl::convolution_forward::desc desc(
      prop_kind::forward_inference, algorithm::convolution_direct,
      AnyFormat(input_dims), AnyFormat(taps),
      bias < 0 ? no_bias : Dense(channels), AnyFormat(output_dims),
      {conv.h.stride, conv.w.stride},
      {conv.h.dilation - 1, conv.w.dilation - 1}, {conv.h.front, conv.w.front},
      {conv.h.End(), conv.w.End()});
  const dnnl::convolution_forward::primitive_desc described(
      desc, epilogue.attributes, builder->engine());
  const Form from = builder->In(input, described.src_desc());
  const Form by = builder->In(weights, Dense(taps), described.weights_desc());
  const Desc made = described.dst_desc();
  std::vector<Operand> operands = {{DNNL_ARG_SRC, from.slot, from.desc},
                                   {DNNL_ARG_WEIGHTS, by.slot, by.desc}};
  if (bias >= 0) {
    const Form added = builder->In(bias, Dense(channels), Dense(channels));
    operands.push_back({DNNL_ARG_BIAS, added.slot, added.desc});
  }
  const int to = builder->SlotFor(epilogue, made);
  operands.push_back({DNNL_ARG_DST, to, made});
  builder->Add(dnnl::convolution_forward(described), described,
               std::move(operands));
  builder->Define(epilogue.result, {to, made});
}

// ---- fully connected ----

// Rows of `depth` elements.
struct Rows {
  std::int64_t depth = 1;
  std::int64_t rows = 1;
  std::int64_t outputs = 1;
};

Rows RowsOf(const Node& node) {
  const TimTensorDesc& input = *node.input(0);
  const TimTensorDesc& weights = *node.input(1);
  std::int64_t axis = node.Int("axis", 0);
  if (axis < 0) axis += input.rank;
  Rows out;
  for (std::int32_t i = 0; i < input.rank; ++i) {
    (i <= axis ? out.depth : out.rows) *= input.dims[i];
  }
  out.outputs = weights.dims[weights.rank - 1];
  return out;
}

std::string FullyConnectedRefusal(const Node& node) {
  if (node.inputs() < 2) return "it has no weights";
  if (AxisOf(node.Int("axis", 0), node.input(0)->rank) < 0) {
    return "its axis is none of its input";
  }
  const Rows rows = RowsOf(node);
  if (ElementsOf(DimsOf(*node.input(1))) != rows.depth * rows.outputs ||
      ElementsOf(DimsOf(*node.output(0))) != rows.rows * rows.outputs ||
      !FitsBias(node, rows.outputs)) {
    return "its weights, bias or output do not fit its input";
  }
  return "";
}

void AddFullyConnected(const Node& node, PartBuilder* builder) {
  const Rows rows = RowsOf(node);
  const tim::plug::Graph& graph = builder->graph();
  const Desc in = Dense({rows.rows, rows.depth});
  const Desc out = Dense({rows.rows, rows.outputs});
  const Dims taps = {rows.outputs, rows.depth};
  const Desc channels = Dense({rows.outputs});
  const bool has_bias = node.inputs() > 2 && graph.input_of(node, 2) >= 0;
  const Epilogue epilogue = builder->TakeEpilogue(node);
  const dnnl::inner_product_forward::desc desc(
      prop_kind::forward_inference, in, AnyFormat(taps),
      has_bias ? channels : Desc(), out);
  const dnnl::inner_product_forward::primitive_desc described(
      desc, epilogue.attributes, builder->engine());
  const Form from = builder->In(graph.input_of(node, 0), in, in);
  const Form by = builder->In(graph.input_of(node, 1), Dense(taps),
                              described.weights_desc());
  std::vector<Operand> operands = {{DNNL_ARG_SRC, from.slot, in},
                                   {DNNL_ARG_WEIGHTS, by.slot, by.desc}};
  if (has_bias) {
    const Form added = builder->In(graph.input_of(node, 2), channels, channels);
    operands.push_back({DNNL_ARG_BIAS, added.slot, channels});
  }
  const Desc made = Dense(DimsOf(*node.output(0)));
  const int to = builder->SlotFor(epilogue, made);
  operands.push_back({DNNL_ARG_DST, to, out});
  builder->Add(dnnl::inner_product_forward(described), described,
               std::move(operands));
  builder->Define(epilogue.result, {to, made});
}

// ---- product of matrices ----

// The two factors and the result as oneDNN has them: batches, rows, columns.
struct Product {
  Dims a, b, out;
  bool transpose_a = false;
  bool transpose_b = false;
};

// A factor without batches of its own serves all rows of the other one.
Product ProductOf(const Node& node) {
  Product out;
  out.transpose_a = node.Int("transpose_a", 0) != 0;
  out.transpose_b = node.Int("transpose_b", 0) != 0;
  out.a = DimsOf(*node.input(0));
  out.b = DimsOf(*node.input(1));
  out.out = DimsOf(*node.output(0));
  const std::int64_t matrix = out.b[out.b.size() - 2] * out.b.back();
  if (!out.transpose_a && ElementsOf(out.b) == matrix) {
    out.a = {ElementsOf(out.a) / out.a.back(), out.a.back()};
    out.b = {out.b[out.b.size() - 2], out.b.back()};
    out.out = {ElementsOf(out.out) / out.out.back(), out.out.back()};
  }
  return out;
}

Desc FactorDesc(const Dims& dims, bool transposed) {
  const Desc dense = Dense(dims);
  if (!transposed) return dense;
  std::vector<int> order(dims.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = static_cast<int>(i);
  }
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return dense.permute_axes(order);
}

std::string ProductRefusal(const Node& node) {
  if (node.inputs() != 2) return "it has no two factors";
  if (node.input(0)->rank < 2 || node.input(1)->rank < 2) {
    return "a factor is a vector";
  }
  if (node.Int("adjoint_a", 0) != 0 || node.Int("adjoint_b", 0) != 0) {
    return "it takes no adjoint factors";
  }
  const Product product = ProductOf(node);
  const std::size_t rank = product.out.size();
  if (product.a.size() != rank || product.b.size() != rank ||
      !std::equal(product.a.begin(), product.a.end() - 2,
                  product.out.begin()) ||
      !std::equal(product.b.begin(), product.b.end() - 2,
                  product.out.begin())) {
    return "a factor repeats itself over some of the batches only";
  }
  return "";
}

void AddProduct(const Node& node, PartBuilder* builder) {
  const Product product = ProductOf(node);
  const tim::plug::Graph& graph = builder->graph();
  const std::int32_t second = graph.input_of(node, 1);
  const Desc a = FactorDesc(product.a, product.transpose_a);
  const Desc b = FactorDesc(product.b, product.transpose_b);
  const Desc out = Dense(product.out);
  const bool is_constant = graph.constant(second).data != nullptr;
  const Epilogue epilogue = builder->TakeEpilogue(node);
  const dnnl::matmul::desc desc(a, is_constant ? AnyFormat(b.dims()) : b, out);
  const dnnl::matmul::primitive_desc described(desc, epilogue.attributes,
                                               builder->engine());
  const Form from = builder->In(graph.input_of(node, 0), a, a);
  const Form by = builder->In(second, b, described.weights_desc());
  const Desc made = Dense(DimsOf(*node.output(0)));
  const int to = builder->SlotFor(epilogue, made);
  builder->Add(dnnl::matmul(described), described,
               {{DNNL_ARG_SRC, from.slot, a},
                {DNNL_ARG_WEIGHTS, by.slot, by.desc},
                {DNNL_ARG_DST, to, out}});
  builder->Define(epilogue.result, {to, made});
}

}  // namespace

std::vector<Operator> Products() {
  return {
      {"tim.Conv2d", 0, ConvolutionRefusal, AddConvolution, nullptr},
      {"tim.GroupedConv2d", 0, ConvolutionRefusal, AddConvolution, nullptr},
      {"tim.FullyConnected", 0, FullyConnectedRefusal, AddFullyConnected,
       nullptr},
      {"tim.Matmul", 0, ProductRefusal, AddProduct, nullptr},
  };
}

}  // namespace onednn
}  // namespace tim
