// Spatial axes of operations: permutations of formats, lists of attributes, and
// pads made explicit.
#include "graph_api/ops/windows.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace tim::graph {
namespace {

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

// NCX is made of the op's data format by this order, and the other way round.
std::vector<int64_t> OrderToNcx(const Op& op, size_t rank) {
  std::vector<int64_t> order(rank);
  for (size_t i = 0; i < rank; ++i) order[i] = static_cast<int64_t>(i);
  if (IsChannelsLast(op) && rank > 2) {
    std::rotate(order.begin() + 1, order.end() - 1, order.end());
  }
  return order;
}

struct WeightsOrder {
  const char* name;
  bool spatial_first;
  bool outputs_first;
};
constexpr std::array kWeightsOrders = {
    WeightsOrder{"OIX", false, true},
    WeightsOrder{"IOX", false, false},
    WeightsOrder{"XIO", true, false},
    WeightsOrder{"XOI", true, true},
};

std::vector<int64_t> OrderToOix(const Op& op, size_t rank) {
  const std::string& wanted = op.String(tim_graph_op_attr_weights_format);
  const auto* rule =
      std::find_if(kWeightsOrders.begin(), kWeightsOrders.end(),
                   [&](const WeightsOrder& one) { return one.name == wanted; });
  TIM_DCHECK(rule != kWeightsOrders.end());
  const int64_t spatial = static_cast<int64_t>(rank) - 2;
  const int64_t first = rule->spatial_first ? spatial : 0;
  const int64_t behind = rule->spatial_first ? 0 : 2;
  std::vector<int64_t> order = {first, first + 1};
  if (!rule->outputs_first) std::swap(order[0], order[1]);
  for (int64_t i = 0; i < spatial; ++i) order.push_back(behind + i);
  return order;
}

std::vector<int64_t> Inverse(const std::vector<int64_t>& order) {
  std::vector<int64_t> out(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    out[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  return out;
}

Dims Permuted(const Dims& dims, const std::vector<int64_t>& order) {
  Dims out;
  for (const int64_t axis : order) {
    out.push_back(dims[static_cast<size_t>(axis)]);
  }
  return out;
}

enum class AutoPad : uint8_t { kNone, kSameUpper, kSameLower, kValid };

struct AutoPadName {
  const char* name;
  AutoPad value;
};
constexpr std::array kAutoPads = {
    AutoPadName{"None", AutoPad::kNone},
    AutoPadName{"SAME_UPPER", AutoPad::kSameUpper},
    AutoPadName{"SAME_LOWER", AutoPad::kSameLower},
    AutoPadName{"VALID", AutoPad::kValid},
    AutoPadName{"none", AutoPad::kNone},
    AutoPadName{"same_upper", AutoPad::kSameUpper},
    AutoPadName{"same_lower", AutoPad::kSameLower},
    AutoPadName{"valid", AutoPad::kValid},
};

AutoPad AutoPadOf(const Op& op) {
  if (!op.Has(tim_graph_op_attr_auto_pad)) return AutoPad::kNone;
  const std::string& name = op.String(tim_graph_op_attr_auto_pad);
  const auto* found =
      std::find_if(kAutoPads.begin(), kAutoPads.end(),
                   [&](const AutoPadName& one) { return one.name == name; });
  return found == kAutoPads.end() ? AutoPad::kNone : found->value;
}

// Pads that are `total` together.
void SetSame(AutoPad mode, int64_t total, Window* window) {
  window->begin = mode == AutoPad::kSameUpper ? total / 2 : total - total / 2;
  window->end = total - window->begin;
}

// An empty list stands for zeros.
Result<std::vector<int64_t>> PadsOf(const Op& op, tim_graph_op_attr_t attribute,
                                    int64_t rank) {
  if (!op.Has(attribute) || op.Ints(attribute).empty()) {
    return std::vector<int64_t>(static_cast<size_t>(rank), 0);
  }
  return SpatialList(op, attribute, rank, 0, 0);
}

// Pads are those of the attributes.
Result<std::vector<Window>> ExplicitWindows(const Op& op, const Dims& kernel) {
  const auto rank = static_cast<int64_t>(kernel.size());
  TIM_ASSIGN_OR_RETURN(const std::vector<int64_t> strides,
                       SpatialList(op, tim_graph_op_attr_strides, rank, 1, 1));
  TIM_ASSIGN_OR_RETURN(
      const std::vector<int64_t> dilations,
      SpatialList(op, tim_graph_op_attr_dilations, rank, 1, 1));
  std::vector<Window> out(kernel.size());
  for (size_t i = 0; i < out.size(); ++i) {
    if (kernel[i] < 1 || kernel[i] > kMost) {
      return InvalidArgument("the kernel has the extent ", kernel[i],
                             " along spatial axis ", i, ", expected 1 to ",
                             kMost);
    }
    out[i] = {
        .kernel = kernel[i], .stride = strides[i], .dilation = dilations[i]};
  }
  if (AutoPadOf(op) != AutoPad::kNone) return out;
  TIM_ASSIGN_OR_RETURN(const std::vector<int64_t> begins,
                       PadsOf(op, tim_graph_op_attr_pads_begin, rank));
  TIM_ASSIGN_OR_RETURN(const std::vector<int64_t> ends,
                       PadsOf(op, tim_graph_op_attr_pads_end, rank));
  for (size_t i = 0; i < out.size(); ++i) {
    out[i].begin = begins[i];
    out[i].end = ends[i];
  }
  return out;
}

template <typename Number>
std::vector<int64_t> InnerList(const std::vector<Window>& windows,
                               Number number) {
  std::vector<int64_t> out;
  for (auto window = windows.rbegin(); window != windows.rend(); ++window) {
    out.push_back(number(*window));
  }
  return out;
}

std::vector<int64_t> InnerPads(const std::vector<Window>& windows) {
  std::vector<int64_t> out;
  for (auto window = windows.rbegin(); window != windows.rend(); ++window) {
    out.push_back(window->begin);
    out.push_back(window->end);
  }
  return out;
}

std::vector<int64_t> InnerStrides(const std::vector<Window>& windows) {
  return InnerList(windows, [](const Window& one) { return one.stride; });
}

}  // namespace

AttributeDef DataFormatDef() {
  return {.attribute = tim_graph_op_attr_data_format,
          .default_value = std::string("NXC"),
          .choices = {"NXC", "NCX"}};
}

AttributeDef AutoPadDef() {
  AttributeDef def = {.attribute = tim_graph_op_attr_auto_pad,
                      .default_value = std::string("None")};
  for (const AutoPadName& one : kAutoPads) def.choices.push_back(one.name);
  return def;
}

AttributeDef WeightsFormatDef(std::vector<std::string> choices) {
  return {.attribute = tim_graph_op_attr_weights_format,
          .default_value = choices.front(),
          .choices = choices};
}

std::vector<AttributeDef> WindowDefs() {
  return {{.attribute = tim_graph_op_attr_strides},
          {.attribute = tim_graph_op_attr_pads_begin},
          {.attribute = tim_graph_op_attr_pads_end},
          AutoPadDef(),
          DataFormatDef()};
}

Status CheckPads(const Op& op) {
  for (const tim_graph_op_attr_t attribute :
       {tim_graph_op_attr_pads_begin, tim_graph_op_attr_pads_end}) {
    if (!op.Has(attribute)) continue;
    const Dims& pads = op.Ints(attribute);
    if (std::all_of(pads.begin(), pads.end(),
                    [](int64_t pad) { return pad >= 0; })) {
      continue;
    }
    return InvalidArgument("attribute '", NameOf(attribute), "' is {",
                           StrJoin(pads, ", "), "}, expected no negative pad");
  }
  return OkStatus();
}

bool IsChannelsLast(const Op& op) {
  return op.String(tim_graph_op_attr_data_format) == "NXC";
}

Result<int64_t> SpatialRank(std::string_view operand, const Dims& dims) {
  const int64_t rank = static_cast<int64_t>(dims.size()) - 2;
  if (rank >= 1 && rank <= 3) return rank;
  return InvalidArgument(operand, " has dims {", StrJoin(dims, ", "),
                         "}, expected a rank of 3 to 5: 1 to 3 spatial axes "
                         "and two more");
}

Dims ToNcx(const Op& op, const Dims& dims) {
  return Permuted(dims, OrderToNcx(op, dims.size()));
}

Dims FromNcx(const Op& op, const Dims& dims) {
  return Permuted(dims, Inverse(OrderToNcx(op, dims.size())));
}

Result<Tensor> ToNcx(Lowering& lowering, const Op& op, const Tensor& tensor) {
  return lowering.Transpose(tensor, OrderToNcx(op, tensor.dims.size()));
}

Result<Tensor> FromNcx(Lowering& lowering, const Op& op, const Tensor& tensor) {
  return lowering.Transpose(tensor,
                            Inverse(OrderToNcx(op, tensor.dims.size())));
}

Dims ToOix(const Op& op, const Dims& dims) {
  return Permuted(dims, OrderToOix(op, dims.size()));
}

Dims FromOix(const Op& op, const Dims& dims) {
  return Permuted(dims, Inverse(OrderToOix(op, dims.size())));
}

Result<Tensor> ToOix(Lowering& lowering, const Op& op, const Tensor& tensor) {
  return lowering.Transpose(tensor, OrderToOix(op, tensor.dims.size()));
}

Result<Tensor> FromOix(Lowering& lowering, const Op& op, const Tensor& tensor) {
  return lowering.Transpose(tensor,
                            Inverse(OrderToOix(op, tensor.dims.size())));
}

Dims SpatialDims(const Dims& ncx) { return {ncx.begin() + 2, ncx.end()}; }

Result<std::vector<int64_t>> SpatialList(const Op& op,
                                         tim_graph_op_attr_t attribute,
                                         int64_t rank, int64_t usual,
                                         int64_t least) {
  if (!op.Has(attribute)) {
    return std::vector<int64_t>(static_cast<size_t>(rank), usual);
  }
  const Dims& list = op.Ints(attribute);
  if (static_cast<int64_t>(list.size()) != rank) {
    return InvalidArgument("attribute '", NameOf(attribute), "' is {",
                           StrJoin(list, ", "), "}, expected ", rank,
                           " values, one for each spatial axis");
  }
  for (const int64_t value : list) {
    if (value >= least && value <= kMost) continue;
    return InvalidArgument("attribute '", NameOf(attribute), "' is {",
                           StrJoin(list, ", "), "}, expected values from ",
                           least, " to ", kMost);
  }
  return list;
}

Result<std::vector<Window>> WindowsOf(const Op& op, const Dims& extents,
                                      const Dims& kernel) {
  TIM_ASSIGN_OR_RETURN(std::vector<Window> windows,
                       ExplicitWindows(op, kernel));
  const AutoPad mode = AutoPadOf(op);
  if (mode == AutoPad::kNone || mode == AutoPad::kValid) return windows;
  for (size_t i = 0; i < windows.size(); ++i) {
    Window& window = windows[i];
    const int64_t rest = extents[i] % window.stride;
    const int64_t covered = rest == 0 ? window.stride : rest;
    SetSame(mode, std::max<int64_t>(window.span() - covered, 0), &window);
  }
  return windows;
}

Result<std::vector<Window>> TransposedWindowsOf(const Op& op,
                                                const Dims& kernel) {
  TIM_ASSIGN_OR_RETURN(std::vector<Window> windows,
                       ExplicitWindows(op, kernel));
  const AutoPad mode = AutoPadOf(op);
  if (mode == AutoPad::kNone || mode == AutoPad::kValid) return windows;
  for (Window& window : windows) {
    SetSame(mode, std::max<int64_t>(window.span() - window.stride, 0), &window);
  }
  return windows;
}

Result<int64_t> WindowCount(const Window& window, int64_t extent,
                            Rounding rounding) {
  const int64_t room = extent + window.begin + window.end - window.span();
  const int64_t more = rounding == Rounding::kCeiling ? window.stride - 1 : 0;
  if (room + more >= 0) return (room + more) / window.stride + 1;
  return InvalidArgument("a window of ", window.span(),
                         " cells does not fit the extent ", extent,
                         " with its pads, ", window.begin, " and ", window.end);
}

Result<std::vector<int32_t>> CellsOfWindows(const Window& window,
                                            int64_t extent, int64_t count) {
  constexpr int64_t kMostCells = int64_t{1} << 24;
  if (count > kMostCells / window.kernel) {
    return Unimplemented(count, " windows of ", window.kernel,
                         " cells along a spatial axis, at most ", kMostCells,
                         " cells are supported");
  }
  std::vector<int32_t> cells;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = i * window.stride - window.begin;
    // The first and the last tap inside of the image.
    const int64_t d = window.dilation;
    const int64_t first = begin >= 0 ? 0 : (-begin + d - 1) / d;
    const int64_t last =
        begin >= extent ? -1
                        : std::min((extent - 1 - begin) / d, window.kernel - 1);
    if (first > last) {
      return Unimplemented("window ", i,
                           " along a spatial axis has no cell in the image");
    }
    for (int64_t tap = 0; tap < window.kernel; ++tap) {
      const int64_t inside = std::clamp(tap, first, last);
      cells.push_back(static_cast<int32_t>(begin + inside * d));
    }
  }
  return cells;
}

Result<Tensor> AsImage(Lowering& lowering, const Tensor& ncx) {
  if (ncx.rank() != 3) return ncx;
  Dims dims = ncx.dims;
  dims.insert(dims.begin() + 2, 1);
  return lowering.Reshape(ncx, dims);
}

std::vector<Window> AsImage(std::vector<Window> windows) {
  if (windows.size() == 1) windows.insert(windows.begin(), Window());
  return windows;
}

ir::AttributeMap ConvolutionAttributes(const std::vector<Window>& windows) {
  return {{"pad", InnerPads(windows)},
          {"stride", InnerStrides(windows)},
          {"dilation",
           InnerList(windows, [](const Window& one) { return one.dilation; })}};
}

ir::AttributeMap PoolAttributes(const std::vector<Window>& windows,
                                Rounding rounding) {
  constexpr int64_t kCeiling = 0;
  constexpr int64_t kFloor = 1;
  return {{"ksize",
           InnerList(windows, [](const Window& one) { return one.kernel; })},
          {"pad", InnerPads(windows)},
          {"stride", InnerStrides(windows)},
          {"round_type", rounding == Rounding::kCeiling ? kCeiling : kFloor}};
}

}  // namespace tim::graph
