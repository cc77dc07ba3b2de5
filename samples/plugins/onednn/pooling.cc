// Pooling over windows, and reductions of whole axes.
#include <algorithm>
#include <string>
#include <vector>

#include "operators.h"

namespace tim {
namespace onednn {
namespace {

using dnnl::algorithm;
using dnnl::prop_kind;
using tim::plug::Node;

// Values of the attribute `type` of Pool2d.
enum PoolType : std::int64_t {
  kMax = 0,
  kAverage = 1,        // divided by the size of the window
  kAverageInside = 3,  // by the number of its elements
  kAveragePadded = 4,  // by that of its elements and padding
};

// Kernel and stride along an axis: those of the attributes, or of the whole
// axis, or such that the output has so many windows.
void SetExtents(const Node& node, int axis, Window* window) {
  const auto at = static_cast<std::size_t>(axis);
  const std::string mode = node.Text("mode", "window");
  const auto value = [&](const char* name) {
    const std::vector<std::int64_t> values = node.Ints(name);
    return values.size() == 2 ? values[at] : std::int64_t{0};
  };
  if (mode == "global") {
    window->kernel = window->stride = value("input_size");
  } else if (mode == "adaptive") {
    const std::int64_t outputs = value("output_size");
    window->stride = outputs > 0 ? value("input_size") / outputs : 0;
    window->kernel = value("input_size") - (outputs - 1) * window->stride;
  } else {
    window->kernel = value("ksize");
    window->stride = std::max<std::int64_t>(value("stride"), 1);
    SetPadding(node, axis, window);
  }
}

Window WindowOf(const Node& node, int axis) {
  Window window;
  window.input = node.input(0)->dims[axis];
  window.output = node.output(0)->dims[axis];
  SetExtents(node, axis, &window);
  return window;
}

std::string PoolRefusal(const Node& node) {
  const TimTensorDesc& input = *node.input(0);
  if (input.rank != 3 && input.rank != 4) return "it has no planes W, H";
  const std::int64_t type = node.Int("type", -1);
  if (type != kMax && type != kAverage && type != kAverageInside &&
      type != kAveragePadded) {
    return "it pools by maximum or average";
  }
  for (const int axis : {0, 1}) {
    const Window window = WindowOf(node, axis);
    if (!window.Fits()) {
      return "its output has other extents than its windows give";
    }
    // Each window has an element, as oneDNN asks for.
    if (window.front >= window.kernel || window.End() >= window.kernel) {
      return "a window may lie in the padding alone";
    }
    if (type == kAveragePadded && window.End() > window.back) {
      return "a window ends behind the padding";
    }
  }
  return "";
}

void AddPool(const Node& node, PartBuilder* builder) {
  const tim::plug::Graph& graph = builder->graph();
  const std::int32_t input = graph.input_of(node, 0);
  const Window w = WindowOf(node, 0);
  const Window h = WindowOf(node, 1);
  const std::int64_t type = node.Int("type", -1);
  const algorithm which = type == kMax ? algorithm::pooling_max
                          : type == kAverageInside
                              ? algorithm::pooling_avg_exclude_padding
                              : algorithm::pooling_avg_include_padding;
  Dims in = DimsOf(*node.input(0));
  Dims out = DimsOf(*node.output(0));
  const bool is_image = in.size() == 3;  // without a batch
  if (is_image) {
    in.insert(in.begin(), 1);
    out.insert(out.begin(), 1);
  }
  const Form from = is_image ? builder->In(input, Dense(in), Dense(in))
                             : builder->Made(input);
  const dnnl::pooling_forward::desc desc(
      prop_kind::forward_inference, which, from.desc,
      is_image ? Dense(out) : AnyFormat(out), {h.stride, w.stride},
      {h.kernel, w.kernel}, {h.front, w.front}, {h.End(), w.End()});
  const dnnl::pooling_forward::primitive_desc described(
      desc, PartBuilder::NoEpilogue(), builder->engine());
  const Desc made = described.dst_desc();
  const int to = builder->NewSlot(made);
  builder->Add(
      dnnl::pooling_forward(described), described,
      {{DNNL_ARG_SRC, from.slot, from.desc}, {DNNL_ARG_DST, to, made}});
  builder->Define(graph.output_of(node, 0),
                  {to, is_image ? Dense(DimsOf(*node.output(0))) : made});
}

// ---- reductions ----

// The input's extents with 1 along the reduced axes; empty: an axis is none.
Dims ReducedDims(const Node& node) {
  Dims dims = DimsOf(*node.input(0));
  for (const std::int64_t axis : node.Ints("axis")) {
    const int at = AxisOf(axis, node.input(0)->rank);
    if (at < 0) return {};
    dims[static_cast<std::size_t>(at)] = 1;
  }
  return dims;
}

std::string ReductionRefusal(const Node& node) {
  const Dims reduced = ReducedDims(node);
  if (reduced.empty() ||
      ElementsOf(reduced) != ElementsOf(DimsOf(*node.output(0)))) {
    return "its axes do not fit its output";
  }
  if (reduced == DimsOf(*node.input(0))) return "it reduces nothing";
  return "";
}

template <algorithm kAlgorithm>
void AddReduction(const Node& node, PartBuilder* builder) {
  const tim::plug::Graph& graph = builder->graph();
  const std::int32_t input = graph.input_of(node, 0);
  const Form from = builder->In(input, Dense(builder->DimsOfValue(input)));
  const Desc reduced = Dense(ReducedDims(node));
  const dnnl::reduction::desc desc(kAlgorithm, from.desc, reduced, 0, 0);
  const dnnl::reduction::primitive_desc described(
      desc, PartBuilder::NoEpilogue(), builder->engine());
  const int to = builder->NewSlot(reduced);
  builder->Add(
      dnnl::reduction(described), described,
      {{DNNL_ARG_SRC, from.slot, from.desc}, {DNNL_ARG_DST, to, reduced}});
  builder->Define(graph.output_of(node, 0),
                  {to, Dense(DimsOf(*node.output(0)))});
}

}  // namespace

std::vector<Operator> Windows() {
  return {
      {"tim.Pool2d", 1, PoolRefusal, AddPool, nullptr},
      {"tim.ReduceMean", 1, ReductionRefusal,
       AddReduction<algorithm::reduction_mean>, nullptr},
      {"tim.ReduceSum", 1, ReductionRefusal,
       AddReduction<algorithm::reduction_sum>, nullptr},
      {"tim.ReduceMax", 1, ReductionRefusal,
       AddReduction<algorithm::reduction_max>, nullptr},
      {"tim.ReduceMin", 1, ReductionRefusal,
       AddReduction<algorithm::reduction_min>, nullptr},
  };
}

}  // namespace onednn
}  // namespace tim
