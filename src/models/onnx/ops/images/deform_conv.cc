// DeformConv of ONNX: the elements that the moved cells of windows lie between,
// gathered and weighted, times the weights of the convolution.
#include <cstdint>
#include <vector>

#include "models/onnx/ops/convolutions/windows.h"
#include "models/onnx/ops/images/formula.h"
#include "models/onnx/ops/images/images.h"
#include "models/onnx/ops/images/taps.h"
#include "models/onnx/ops/movement/moves.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/matmul.h"

namespace tim::models::onnx::images {
namespace {

/// Elements of the largest tensor between.
constexpr int64_t kMostElements = int64_t{1} << 26;

/// Extents and attributes of a node, checked.
struct Deformed {
  Windows windows;
  int64_t batch = 0, channels = 0, filters = 0;
  int64_t group = 1;         ///< Of channels with weights of their own.
  int64_t offset_group = 1;  ///< Of channels with offsets of their own.
  int64_t cells = 0;         ///< Of a window.
  int64_t points = 0;        ///< Of the result.
};

Status CheckDims(const Node& node, size_t input, const Dims& expected) {
  if (!node.Has(input) || node.inputs[input].dims == expected) {
    return OkStatus();
  }
  return InvalidArgument("operand ", input, " is ",
                         Describe(node.inputs[input]), ", expected ",
                         DimsText(expected));
}

Result<Deformed> ReadDeformed(const Node& node) {
  Deformed made;
  const Dims& x = node.inputs[0].dims;
  const Dims& weights = node.inputs[1].dims;
  if (x.size() != 4 || weights.size() != 4) {
    return Unimplemented("operands 0 and 1 are ", Describe(node.inputs[0]),
                         " and ", Describe(node.inputs[1]),
                         "; [N,C,H,W] and [O,C/group,h,w] are taken");
  }
  TIM_ASSIGN_OR_RETURN(made.group, node.Int("group", 1));
  TIM_ASSIGN_OR_RETURN(made.offset_group, node.Int("offset_group", 1));
  made.batch = x[0];
  made.channels = x[1];
  made.filters = weights[0];
  if (made.group < 1 || made.offset_group < 1 ||
      made.channels % made.group != 0 || made.filters % made.group != 0 ||
      made.channels % made.offset_group != 0 ||
      weights[1] != made.channels / made.group) {
    return InvalidArgument("attributes 'group' and 'offset_group' are ",
                           made.group, " and ", made.offset_group, " for ",
                           Describe(node.inputs[0]), " and weights ",
                           Describe(node.inputs[1]));
  }
  TIM_ASSIGN_OR_RETURN(made.windows,
                       WindowsOf(node, {x[2], x[3]}, {weights[2], weights[3]},
                                 Rounding::kFloor));
  TIM_ASSIGN_OR_RETURN(made.cells, made.windows.KernelCells());
  const Dims& out = made.windows.output;
  made.points = out[0] * out[1];
  // Indices are counted in float32.
  if (x[2] * x[3] > 1 << 24 ||
      made.points > kMostElements / made.cells / made.channels / made.batch) {
    return Unimplemented("windows of ", made.cells, " cells at ", made.points,
                         " points of ", Describe(node.inputs[0]),
                         "; 2^26 elements between, 2^24 in a plane are taken");
  }
  const int64_t moved = made.offset_group * made.cells;
  TIM_RETURN_IF_ERROR(
      CheckDims(node, 2, {made.batch, 2 * moved, out[0], out[1]}));
  TIM_RETURN_IF_ERROR(CheckDims(node, 3, {made.filters}));
  TIM_RETURN_IF_ERROR(CheckDims(node, 4, {made.batch, moved, out[0], out[1]}));
  return made;
}

/// Where the cells of all windows lie along `axis`, [1, cells, points].
Formula Places(GraphBuilder* builder, const Deformed& deformed, size_t axis) {
  const Windows& windows = deformed.windows;
  const int64_t inner_cells = axis == 0 ? windows.kernel[1] : 1;
  const int64_t inner_points = axis == 0 ? windows.output[1] : 1;
  std::vector<float> places;
  for (int64_t cell = 0; cell < deformed.cells; ++cell) {
    const int64_t at = cell / inner_cells % windows.kernel[axis];
    for (int64_t point = 0; point < deformed.points; ++point) {
      const int64_t step = point / inner_points % windows.output[axis];
      places.push_back(static_cast<float>(step * windows.strides[axis] -
                                          windows.before[axis] +
                                          at * windows.dilations[axis]));
    }
  }
  return Formula::Of(builder, places, {1, deformed.cells, deformed.points});
}

/// Cells of windows, [N, C, cells, points].
Result<Value> Columns(Node& node, const Deformed& deformed, const Value& image,
                      const Value& offsets) {
  GraphBuilder* const builder = node.builder;
  const int64_t parts = deformed.batch * deformed.offset_group;
  const int64_t cells = deformed.cells, points = deformed.points;
  const Formula moves =
      Formula(builder, offsets).Reshape({parts, cells, 2, points});
  std::vector<Tap> taps;
  for (const size_t axis : {0u, 1u}) {
    const Formula move = moves.Range(2, static_cast<int64_t>(axis), 1)
                             .Reshape({parts, cells, points});
    const Formula place = (move + Places(builder, deformed, axis))
                              .Reshape({parts, cells * points});
    const int64_t extent = deformed.windows.input[axis];
    const std::vector<Tap> own = LinearTaps(place, extent);
    taps = axis == 0 ? own : Combined(taps, own, extent);
  }
  if (node.Has(4)) {
    TIM_ASSIGN_OR_RETURN(const Value given, FloatOperand(node, 4));
    TIM_ASSIGN_OR_RETURN(const Value mask, AsFloat(builder, given));
    const Formula factor =
        Formula(builder, mask).Reshape({parts, cells * points});
    for (Tap& tap : taps) tap.weight = tap.weight * factor;
  }
  const int64_t elements =
      deformed.windows.input[0] * deformed.windows.input[1];
  TIM_ASSIGN_OR_RETURN(
      const Value planes,
      builder->Reshape(
          image, {parts, deformed.channels / deformed.offset_group, elements}));
  return Sampled(planes, taps, elements, cells * points);
}

}  // namespace

Status DeformConv(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Value given, FloatOperand(node, 0));
  TIM_ASSIGN_OR_RETURN(const Value filters, FloatOperand(node, 1));
  TIM_ASSIGN_OR_RETURN(const Value moves, FloatOperand(node, 2));
  TIM_ASSIGN_OR_RETURN(const Deformed deformed, ReadDeformed(node));
  GraphBuilder* const builder = node.builder;
  TIM_ASSIGN_OR_RETURN(const Value image, AsFloat(builder, given));
  TIM_ASSIGN_OR_RETURN(const Value offsets, AsFloat(builder, moves));
  TIM_ASSIGN_OR_RETURN(Value weights, AsFloat(builder, filters));
  TIM_ASSIGN_OR_RETURN(Value columns, Columns(node, deformed, image, offsets));
  const int64_t group = deformed.group;
  const int64_t rows = deformed.filters / group;
  const int64_t depth = deformed.channels / group * deformed.cells;
  TIM_ASSIGN_OR_RETURN(
      columns, builder->Reshape(
                   columns, {deformed.batch, group, depth, deformed.points}));
  TIM_ASSIGN_OR_RETURN(weights,
                       builder->Reshape(weights, {1, group, rows, depth}));
  TIM_ASSIGN_OR_RETURN(
      Value made,
      builder->Add<vx::ops::Matmul>(
          {weights, columns},
          Wanted::Of(vx::DataType::FLOAT32,
                     {deformed.batch, group, rows, deformed.points}),
          false, false));
  const Dims& out = deformed.windows.output;
  TIM_ASSIGN_OR_RETURN(
      made, builder->Reshape(
                made, {deformed.batch, deformed.filters, out[0], out[1]}));
  if (node.Has(3)) {
    TIM_ASSIGN_OR_RETURN(const Value bias, FloatOperand(node, 3));
    TIM_ASSIGN_OR_RETURN(Value added, AsFloat(builder, bias));
    TIM_ASSIGN_OR_RETURN(added,
                         builder->Reshape(added, {1, deformed.filters, 1, 1}));
    TIM_ASSIGN_OR_RETURN(made, Broadcasting<vx::ops::Add>(
                                   node, made, added, vx::DataType::FLOAT32));
  }
  return node.SetOutput(0, InTypeOf(builder, made, given));
}

}  // namespace tim::models::onnx::images
