// Functions of single elements, and of pairs of them.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "operators.h"

namespace tim {
namespace onednn {
namespace {

using dnnl::algorithm;
using dnnl::prop_kind;
using tim::plug::Node;
using Activations = std::vector<Activation>;

float FloatOf(const Node& node, const char* name, double otherwise) {
  return static_cast<float>(node.Float(name, otherwise));
}

void AddActivation(const Node& node, PartBuilder* builder) {
  const tim::plug::Graph& graph = builder->graph();
  const std::int32_t input = graph.input_of(node, 0);
  Form form = builder->Made(input);
  int to = builder->SlotInPlace(input, form);
  for (const Activation& one : FindOperator(node.op())->activation(node)) {
    const dnnl::eltwise_forward::desc desc(prop_kind::forward_inference,
                                           one.algorithm, form.desc, one.alpha,
                                           one.beta);
    const dnnl::eltwise_forward::primitive_desc described(
        desc, PartBuilder::NoEpilogue(), builder->engine());
    builder->Add(
        dnnl::eltwise_forward(described), described,
        {{DNNL_ARG_SRC, form.slot, form.desc}, {DNNL_ARG_DST, to, form.desc}});
    form.slot = to;
  }
  builder->Define(graph.output_of(node, 0), form);
}

std::string ClipRefusal(const Node& node) {
  if (node.Float("min", 0) <= node.Float("max", 0)) return "";
  return "its limits cross";
}

template <algorithm kAlgorithm>
Activations Plain(const Node&) {
  return {{kAlgorithm, 0, 0}};
}

// ---- pairs ----

struct Pair {
  algorithm which;
  bool commutes;
};

const Pair* PairOf(const std::string& op) {
  static const std::map<std::string, Pair>& pairs =
      *new std::map<std::string, Pair>{
          {"tim.Add", {algorithm::binary_add, true}},
          {"tim.Sub", {algorithm::binary_sub, false}},
          {"tim.Multiply", {algorithm::binary_mul, true}},
          {"tim.Div", {algorithm::binary_div, false}},
          {"tim.Maximum", {algorithm::binary_max, true}},
          {"tim.Minimum", {algorithm::binary_min, true}}};
  const auto found = pairs.find(op);
  return found == pairs.end() ? nullptr : &found->second;
}

// `dims` with dimensions of extent 1 before them.
Dims Padded(const Dims& dims, std::size_t rank) {
  Dims out(rank - std::min(rank, dims.size()), 1);
  out.insert(out.end(), dims.begin(), dims.end());
  return out;
}

// Which input has the extents of the output; -1: none that may be the first.
int WholeInput(const Node& node) {
  const Dims out = DimsOf(*node.output(0));
  const auto is_whole = [&](std::uint32_t input) {
    return Padded(DimsOf(*node.input(input)), out.size()) == out;
  };
  if (is_whole(0)) return 0;
  return PairOf(node.op())->commutes && is_whole(1) ? 1 : -1;
}

std::string PairRefusal(const Node& node) {
  if (node.inputs() != 2) return "it has no two inputs";
  if (node.Float("scale", 1) != 1) return "it takes no scale";
  if (WholeInput(node) >= 0) return "";
  return "its first input repeats itself";
}

// The other input may repeat itself along dimensions of extent 1.
void AddPair(const Node& node, PartBuilder* builder) {
  const tim::plug::Graph& graph = builder->graph();
  const int whole = WholeInput(node);
  const std::int32_t first =
      graph.input_of(node, static_cast<std::uint32_t>(whole));
  const std::int32_t second =
      graph.input_of(node, static_cast<std::uint32_t>(1 - whole));
  const Dims out = DimsOf(*node.output(0));
  const Dims other = Padded(builder->DimsOfValue(second), out.size());
  const bool alike = builder->DimsOfValue(first) == out;
  const bool repeats = other != out;
  // Any format will do where both are of the same extents.
  const Form a = alike && !repeats ? builder->Made(first)
                                   : builder->In(first, Dense(out), Dense(out));
  const Form b =
      builder->DimsOfValue(second) == out
          ? builder->In(second, a.desc)
          : builder->In(second, Dense(other), repeats ? Dense(other) : a.desc);
  const int to =
      alike ? builder->SlotInPlace(first, a) : builder->NewSlot(a.desc);
  const dnnl::binary::desc desc(PairOf(node.op())->which, a.desc, b.desc,
                                a.desc);
  const dnnl::binary::primitive_desc described(desc, PartBuilder::NoEpilogue(),
                                               builder->engine());
  builder->Add(dnnl::binary(described), described,
               {{DNNL_ARG_SRC_0, a.slot, a.desc},
                {DNNL_ARG_SRC_1, b.slot, b.desc},
                {DNNL_ARG_DST, to, a.desc}});
  builder->Define(graph.output_of(node, 0), {to, a.desc});
}

// ---- softmax ----

std::string SoftmaxRefusal(const Node& node) {
  if (AxisOf(node.Int("axis", 0), node.input(0)->rank) >= 0) return "";
  return "its axis is none of its input";
}

void AddSoftmax(const Node& node, PartBuilder* builder) {
  const tim::plug::Graph& graph = builder->graph();
  const std::int32_t input = graph.input_of(node, 0);
  const float beta = FloatOf(node, "beta", 1);
  const Desc dense = Dense(builder->DimsOfValue(input));
  Form form = builder->In(input, dense);
  const int to = builder->NewSlot(dense);
  if (beta != 1) {
    const dnnl::eltwise_forward::desc scale(prop_kind::forward_inference,
                                            algorithm::eltwise_linear, dense,
                                            beta, 0);
    const dnnl::eltwise_forward::primitive_desc described(
        scale, PartBuilder::NoEpilogue(), builder->engine());
    builder->Add(dnnl::eltwise_forward(described), described,
                 {{DNNL_ARG_SRC, form.slot, dense}, {DNNL_ARG_DST, to, dense}});
    form.slot = to;
  }
  const dnnl::softmax_forward::desc desc(
      prop_kind::forward_inference, dense,
      AxisOf(node.Int("axis", 0), node.input(0)->rank));
  const dnnl::softmax_forward::primitive_desc described(
      desc, PartBuilder::NoEpilogue(), builder->engine());
  builder->Add(dnnl::softmax_forward(described), described,
               {{DNNL_ARG_SRC, form.slot, dense}, {DNNL_ARG_DST, to, dense}});
  builder->Define(graph.output_of(node, 0), {to, dense});
}

Operator Function(const char* name, Activations (*activation)(const Node&)) {
  return {name, 1, nullptr, AddActivation, activation};
}

// Activations with parameters.
std::vector<Operator> WithParameters() {
  std::vector<Operator> out = {
      Function(
          "tim.LeakyRelu",
          [](const Node& node) -> Activations {
            return {{algorithm::eltwise_relu, FloatOf(node, "alpha", 0), 0}};
          }),
      Function(
          "tim.Elu",
          [](const Node& node) -> Activations {
            return {{algorithm::eltwise_elu, FloatOf(node, "alpha", 1), 0}};
          }),
      Function("tim.Linear",
               [](const Node& node) -> Activations {
                 return {{algorithm::eltwise_linear, FloatOf(node, "a", 1),
                          FloatOf(node, "b", 0)}};
               }),
      Function("tim.HardSigmoid",
               [](const Node& node) -> Activations {
                 return {{algorithm::eltwise_linear, FloatOf(node, "alpha", 0),
                          FloatOf(node, "beta", 0)},
                         {algorithm::eltwise_clip, 0, 1}};
               }),
      Function("tim.Gelu",
               [](const Node& node) -> Activations {
                 return {{node.Int("approximate", 1) != 0
                              ? algorithm::eltwise_gelu_tanh
                              : algorithm::eltwise_gelu_erf,
                          0, 0}};
               }),
      Function("tim.Clip",
               [](const Node& node) -> Activations {
                 return {{algorithm::eltwise_clip, FloatOf(node, "min", 0),
                          FloatOf(node, "max", 0)}};
               }),
  };
  out.back().refusal = ClipRefusal;
  return out;
}

}  // namespace

std::vector<Operator> Elementwise() {
  std::vector<Operator> out = WithParameters();
  const std::vector<Operator> others = {
      Function("tim.Relu", Plain<algorithm::eltwise_relu>),
      Function("tim.Relu1",
               [](const Node&) -> Activations {
                 return {{algorithm::eltwise_clip, -1, 1}};
               }),
      Function("tim.Relu6",
               [](const Node&) -> Activations {
                 return {{algorithm::eltwise_clip, 0, 6}};
               }),
      Function("tim.Swish",
               [](const Node&) -> Activations {
                 return {{algorithm::eltwise_swish, 1, 0}};
               }),
      Function("tim.Neg",
               [](const Node&) -> Activations {
                 return {{algorithm::eltwise_linear, -1, 0}};
               }),
      Function("tim.Tanh", Plain<algorithm::eltwise_tanh>),
      Function("tim.Sigmoid", Plain<algorithm::eltwise_logistic>),
      Function("tim.HardSwish", Plain<algorithm::eltwise_hardswish>),
      Function("tim.Mish", Plain<algorithm::eltwise_mish>),
      Function("tim.Abs", Plain<algorithm::eltwise_abs>),
      Function("tim.Square", Plain<algorithm::eltwise_square>),
      Function("tim.Sqrt", Plain<algorithm::eltwise_sqrt>),
      Function("tim.Exp", Plain<algorithm::eltwise_exp>),
      {"tim.Softmax", 1, SoftmaxRefusal, AddSoftmax, nullptr},
  };
  out.insert(out.end(), others.begin(), others.end());
  for (const char* name : {"tim.Add", "tim.Sub", "tim.Multiply", "tim.Div",
                           "tim.Maximum", "tim.Minimum"}) {
    out.push_back({name, 0, PairRefusal, AddPair, nullptr});
  }
  return out;
}

}  // namespace onednn
}  // namespace tim
