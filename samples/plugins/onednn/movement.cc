// Operators that move elements or only name them otherwise.
#include <string>
#include <utility>
#include <vector>

#include "operators.h"

namespace tim {
namespace onednn {
namespace {

using tim::plug::Node;

// ---- concatenation ----

std::string ConcatRefusal(const Node& node) {
  if (AxisOf(node.Int("axis", 0), node.output(0)->rank) < 0) {
    return "its axis is none of its output";
  }
  for (std::uint32_t i = 0; i < node.inputs(); ++i) {
    if (node.input(i) == nullptr) return "an input is absent";
  }
  return "";
}

void AddConcat(const Node& node, PartBuilder* builder) {
  const tim::plug::Graph& graph = builder->graph();
  const int axis = AxisOf(node.Int("axis", 0), node.output(0)->rank);
  std::vector<Operand> operands;
  std::vector<Desc> descs;
  for (std::uint32_t i = 0; i < node.inputs(); ++i) {
    const Form form = builder->Made(graph.input_of(node, i));
    operands.push_back(
        {DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), form.slot, form.desc});
    descs.push_back(form.desc);
  }
  const dnnl::concat::primitive_desc described(axis, descs, builder->engine(),
                                               PartBuilder::NoEpilogue());
  const Desc made = described.dst_desc();
  const int to = builder->NewSlot(made);
  operands.push_back({DNNL_ARG_DST, to, made});
  builder->Add(dnnl::concat(described), described, std::move(operands));
  builder->Define(graph.output_of(node, 0), {to, made});
}

// ---- other extents, other order ----

std::string ReshapeRefusal(const Node& node) {
  if (ElementsOf(DimsOf(*node.input(0))) ==
      ElementsOf(DimsOf(*node.output(0)))) {
    return "";
  }
  return "its output has another number of elements";
}

void AddReshape(const Node& node, PartBuilder* builder) {
  const tim::plug::Graph& graph = builder->graph();
  const std::int32_t input = graph.input_of(node, 0);
  const Form form = builder->In(input, Dense(builder->DimsOfValue(input)));
  builder->DefineView(graph.output_of(node, 0),
                      {form.slot, Dense(DimsOf(*node.output(0)))});
}

std::string TransposeRefusal(const Node& node) {
  const std::vector<std::int64_t> perm = node.Ints("perm");
  const TimTensorDesc& input = *node.input(0);
  const TimTensorDesc& output = *node.output(0);
  const auto rank = static_cast<std::size_t>(input.rank);
  std::vector<bool> seen(rank, false);
  if (perm.size() != rank || output.rank != input.rank) {
    return "its axes do not fit its input";
  }
  for (std::size_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<std::size_t>(perm[i]);
    if (axis >= rank || seen[axis] || output.dims[i] != input.dims[axis]) {
      return "its axes do not fit its input";
    }
    seen[axis] = true;
  }
  return "";
}

// Axis i of the output is axis perm[i] of the input, counted from the fastest.
void AddTranspose(const Node& node, PartBuilder* builder) {
  const tim::plug::Graph& graph = builder->graph();
  const std::vector<std::int64_t> perm = node.Ints("perm");
  const int last = node.input(0)->rank - 1;
  std::vector<int> order(perm.size());  // the output's axis of the input's
  for (std::size_t i = 0; i < perm.size(); ++i) {
    order[static_cast<std::size_t>(last - perm[i])] =
        last - static_cast<int>(i);
  }
  const std::int32_t input = graph.input_of(node, 0);
  const Form form = builder->In(input, Dense(builder->DimsOfValue(input)));
  const Desc from = form.desc.permute_axes(order);
  const Desc made = Dense(DimsOf(*node.output(0)));
  const dnnl::reorder::primitive_desc described(builder->engine(), from,
                                                builder->engine(), made,
                                                PartBuilder::NoEpilogue());
  const int to = builder->NewSlot(made);
  builder->Add(dnnl::reorder(described), described,
               {{DNNL_ARG_FROM, form.slot, from}, {DNNL_ARG_TO, to, made}});
  builder->Define(graph.output_of(node, 0), {to, made});
}

}  // namespace

std::vector<Operator> Movements() {
  return {
      {"tim.Concat", 0, ConcatRefusal, AddConcat, nullptr},
      {"tim.Reshape", 1, ReshapeRefusal, AddReshape, nullptr},
      {"tim.Squeeze", 1, ReshapeRefusal, AddReshape, nullptr},
      {"tim.Transpose", 1, TransposeRefusal, AddTranspose, nullptr},
  };
}

}  // namespace onednn
}  // namespace tim
