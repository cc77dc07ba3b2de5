// Transposed convolutions: DeConv1d and DeConv2d, over three axes a
// convolution of the input with zeros between its cells.
#include "models/onnx/ops/convolutions/transposed_convolution.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "models/onnx/ops/compose.h"
#include "models/onnx/ops/convolutions/convolve.h"
#include "models/onnx/ops/convolutions/windows.h"
#include "tim/vx/ops/deconv.h"
#include "tim/vx/ops/deconv1d.h"
#include "tim/vx/ops/reverse.h"

namespace tim::models::onnx {
namespace {

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

Status CheckExtents(const Node& node, const TransposedConvolution& it) {
  const Value& x = it.x;
  const Value& weights = it.weights;
  if (x.rank() < 3 || x.rank() > 5) {
    return Unimplemented("operand 0 is ", Describe(x),
                         ", one to three spatial axes are taken");
  }
  if (it.group < 1 || weights.rank() != x.rank() ||
      weights.dims[0] != x.dims[1] || x.dims[1] % it.group != 0) {
    return InvalidArgument("weights ", Describe(weights), " in ", it.group,
                           " groups do not fit ", Describe(x));
  }
  for (size_t i = 0; i < x.dims.size(); ++i) {
    if (x.dims[i] < 1 || x.dims[i] > kMost || weights.dims[i] < 1 ||
        weights.dims[i] > kMost / it.group) {
      return InvalidArgument("extents of ", Describe(x), " and ",
                             Describe(weights), ", expected 1 to ", kMost);
    }
  }
  if (!it.bias.IsAbsent() && it.bias.dims != Dims{weights.dims[1] * it.group}) {
    return InvalidArgument("a bias ", Describe(it.bias), " for ",
                           weights.dims[1] * it.group, " output channels");
  }
  TIM_ASSIGN_OR_RETURN(const Dims given, node.Ints("kernel_shape"));
  if (!given.empty() &&
      given != Dims(weights.dims.begin() + 2, weights.dims.end())) {
    return InvalidArgument(
        "attribute 'kernel_shape' is not the extents of operand 1");
  }
  return OkStatus();
}

// Pads before a result whose extent is asked for: half of all, of an odd number
// one more at the end for SAME_UPPER, else at the beginning.
int64_t PadsBefore(int64_t whole, int64_t output, bool upper) {
  const int64_t total = std::max<int64_t>(whole - output, 0);
  return upper ? total / 2 : total - total / 2;
}

Status SetExtents(const Node& node, TransposedConvolution* it) {
  const size_t axes = it->axes();
  TIM_ASSIGN_OR_RETURN(const std::string mode, node.Text("auto_pad", "NOTSET"));
  TIM_ASSIGN_OR_RETURN(const Dims pads,
                       SpatialInts(node, "pads", 2 * axes, 0, 0));
  TIM_ASSIGN_OR_RETURN(const Dims more,
                       SpatialInts(node, "output_padding", axes, 0, 0));
  TIM_ASSIGN_OR_RETURN(Dims shape, node.Ints("output_shape"));
  if (shape.size() == axes + 2) shape.erase(shape.begin(), shape.begin() + 2);
  if (!shape.empty() && shape.size() != axes) {
    return InvalidArgument("attribute 'output_shape' has ", shape.size(),
                           " values, expected ", axes);
  }
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (!same && mode != "NOTSET" && mode != "VALID" && !mode.empty()) {
    return InvalidArgument("attribute 'auto_pad' is '", mode, "'");
  }
  for (size_t i = 0; i < axes; ++i) {
    const int64_t whole = it->Whole(i) + more[i];
    const bool padded = pads[i] != 0 || pads[axes + i] != 0;
    if (padded && mode != "NOTSET" && !mode.empty()) {
      return InvalidArgument(
          "attribute 'pads' is given beside 'auto_pad', which tells the pads");
    }
    int64_t output = whole - pads[i] - pads[axes + i];
    int64_t before = pads[i];
    if (!shape.empty() || same) {
      output = shape.empty() ? it->x.dims[i + 2] * it->strides[i] : shape[i];
      before = PadsBefore(whole, output, mode == "SAME_UPPER");
    }
    if (output < 1 || output > kMost || whole > kMost) {
      return InvalidArgument("a result of ", output, " of ", whole,
                             " cells along spatial axis ", i);
    }
    it->before.push_back(before);
    it->output.push_back(output);
  }
  return OkStatus();
}

// The weights as [O, C / group, kernel...].
Result<Value> OutputsFirst(GraphBuilder* builder,
                           const TransposedConvolution& it) {
  const Dims& dims = it.weights.dims;
  const int64_t channels = dims[0] / it.group;
  TIM_ASSIGN_OR_RETURN(const int64_t cells, Product(dims, 2, dims.size()));
  TIM_ASSIGN_OR_RETURN(
      Value weights,
      builder->Reshape(it.weights, {it.group, channels, dims[1], cells}));
  TIM_ASSIGN_OR_RETURN(weights, builder->Transpose(weights, {0, 2, 1, 3}));
  Dims order = {it.group * dims[1], channels};
  order.insert(order.end(), dims.begin() + 2, dims.end());
  return builder->Reshape(weights, order);
}

// `step` - 1 zeros between the elements along an axis.
Result<Value> Spread(GraphBuilder* builder, const Value& x, size_t axis,
                     int64_t step) {
  if (step == 1 || x.dims[axis] == 1) return x;
  TIM_ASSIGN_OR_RETURN(const int64_t outer, Product(x.dims, 0, axis));
  TIM_ASSIGN_OR_RETURN(const int64_t inner,
                       Product(x.dims, axis + 1, x.dims.size()));
  TIM_ASSIGN_OR_RETURN(Value spread,
                       builder->Reshape(x, {outer, x.dims[axis], 1, inner}));
  TIM_ASSIGN_OR_RETURN(
      spread, Padded(builder, spread, {0, 0, 0, 0}, {0, 0, step - 1, 0}, 0.0f));
  const int64_t whole = x.dims[axis] * step;
  TIM_ASSIGN_OR_RETURN(spread, builder->Reshape(spread, {outer, whole, inner}));
  Dims dims = x.dims;
  dims[axis] = whole - step + 1;
  TIM_ASSIGN_OR_RETURN(
      spread, Sliced(builder, spread, {0, 0, 0}, {outer, dims[axis], inner}));
  return builder->Reshape(spread, dims);
}

Result<Value> SpreadKernel(GraphBuilder* builder,
                           const TransposedConvolution& it, Value weights) {
  for (size_t i = 0; i < it.axes(); ++i) {
    TIM_ASSIGN_OR_RETURN(weights,
                         Spread(builder, weights, i + 2, it.dilations[i]));
  }
  return weights;
}

Wanted ResultOf(const TransposedConvolution& it) {
  Dims dims = {it.x.dims[0], it.weights.dims[1] * it.group};
  dims.insert(dims.end(), it.output.begin(), it.output.end());
  return Wanted::Of(it.x.type, std::move(dims));
}

// Cells of the whole that are cut at the end; negative: more than it has.
uint32_t After(const TransposedConvolution& it, size_t axis) {
  return static_cast<uint32_t>(it.Whole(axis) - it.before[axis] -
                               it.output[axis]);
}

Result<Value> Over3Axes(GraphBuilder* builder,
                        const TransposedConvolution& it) {
  Value x = it.x;
  Convolution over{x, {}, it.bias, it.group, {}};
  Dims starts = {0, 0};
  Windows& windows = over.windows;
  for (size_t i = 0; i < it.axes(); ++i) {
    TIM_ASSIGN_OR_RETURN(x, Spread(builder, x, i + 2, it.strides[i]));
    const int64_t reach = it.Reach(i) - 1;
    const int64_t more =
        std::max<int64_t>(it.before[i] + it.output[i] - it.Whole(i), 0);
    windows.input.push_back(x.dims[i + 2]);
    windows.kernel.push_back(it.weights.dims[i + 2]);
    windows.strides.push_back(1);
    windows.dilations.push_back(it.dilations[i]);
    windows.before.push_back(reach);
    windows.after.push_back(reach + more);
    windows.output.push_back(it.Whole(i) + more);
    starts.push_back(it.before[i]);
  }
  over.x = x;
  TIM_ASSIGN_OR_RETURN(const Value weights, OutputsFirst(builder, it));
  TIM_ASSIGN_OR_RETURN(
      over.weights,
      Unary<vx::ops::Reverse>(builder, weights, std::vector<int32_t>{0, 1, 2}));
  TIM_ASSIGN_OR_RETURN(const Value whole, Convolve(builder, over, it.x.type));
  return Sliced(builder, whole, starts, ResultOf(it).dims);
}

}  // namespace

Result<TransposedConvolution> TransposedConvolutionOf(const Node& node,
                                                      const Value& x,
                                                      const Value& weights,
                                                      const Value& bias) {
  TransposedConvolution it{x, weights, bias, 1, {}, {}, {}, {}};
  TIM_ASSIGN_OR_RETURN(it.group, node.Int("group", 1));
  TIM_RETURN_IF_ERROR(CheckExtents(node, it));
  const size_t axes = x.dims.size() - 2;
  TIM_ASSIGN_OR_RETURN(it.strides, SpatialInts(node, "strides", axes, 1, 1));
  TIM_ASSIGN_OR_RETURN(it.dilations,
                       SpatialInts(node, "dilations", axes, 1, 1));
  TIM_RETURN_IF_ERROR(SetExtents(node, &it));
  return it;
}

Result<Value> ConvolveTransposed(GraphBuilder* builder,
                                 const TransposedConvolution& it) {
  if (it.axes() == 3) return Over3Axes(builder, it);
  TIM_ASSIGN_OR_RETURN(Value weights, OutputsFirst(builder, it));
  TIM_ASSIGN_OR_RETURN(weights, SpreadKernel(builder, it, weights));
  const auto outputs = static_cast<int32_t>(it.weights.dims[1] * it.group);
  const auto group = static_cast<uint32_t>(it.group);
  if (it.axes() == 1) {
    const std::array<uint32_t, 2> pads = {static_cast<uint32_t>(it.before[0]),
                                          After(it, 0)};
    return builder->Add<vx::ops::DeConv1d>(
        {it.x, weights, it.bias}, ResultOf(it), pads,
        static_cast<uint32_t>(it.strides[0]), uint32_t{0}, group);
  }
  const std::array<uint32_t, 4> pads = {
      static_cast<uint32_t>(it.before[1]), After(it, 1),
      static_cast<uint32_t>(it.before[0]), After(it, 0)};
  const std::array<uint32_t, 2> kernel = {
      static_cast<uint32_t>(weights.dims[3]),
      static_cast<uint32_t>(weights.dims[2])};
  return builder->Add<vx::ops::DeConv2d>(
      {it.x, weights, it.bias}, ResultOf(it), outputs, vx::PadType::AUTO,
      kernel, Backwards<uint32_t, 2>(it.strides), std::array<uint32_t, 2>{0, 0},
      pads, group);
}

}  // namespace tim::models::onnx
