// Convolutions over one, two or three spatial axes, in groups or not.
#include "models/onnx/ops/convolutions/convolve.h"

#include <utility>

#include "models/onnx/ops/compose.h"
#include "tim/vx/ops/conv1d.h"
#include "tim/vx/ops/conv2d.h"
#include "tim/vx/ops/conv3d.h"

namespace tim::models::onnx {
namespace {

Dims Spatial(const Value& value) {
  return {value.dims.begin() + 2, value.dims.end()};
}

Status CheckKernelShape(const Node& node, const Dims& kernel) {
  TIM_ASSIGN_OR_RETURN(const Dims given, node.Ints("kernel_shape"));
  if (given.empty() || given == kernel) return OkStatus();
  return InvalidArgument(
      "attribute 'kernel_shape' is not the extents of operand 1");
}

// Weights [O, 1, ...] of a depthwise convolution as [1, O, ...]; none where
// their quantization cannot follow.
Result<Value> DepthwiseWeights(GraphBuilder* builder, const Value& weights) {
  Dims dims = weights.dims;
  std::swap(dims[0], dims[1]);
  if (weights.quantization.ChannelDim() < 0) {
    return builder->Reshape(weights, dims);
  }
  vx::Quantization quantization = weights.quantization;
  quantization.SetChannelDim(weights.rank() - 2);
  HostArray array = *weights.constant;
  array.dims = std::move(dims);
  return builder->Constant(std::move(array), weights.name, quantization);
}

Result<Value> Convolve2d(GraphBuilder* builder, const Convolution& it,
                         const Wanted& wanted) {
  const int64_t channels = it.x.dims[1];
  const int64_t outputs = it.weights.dims[0];
  Value weights = it.weights;
  int32_t multiplier = 0;
  const bool per_channel = weights.quantization.ChannelDim() >= 0;
  if (it.group == channels && channels > 1 &&
      (!per_channel || weights.constant != nullptr)) {
    TIM_ASSIGN_OR_RETURN(weights, DepthwiseWeights(builder, weights));
    multiplier = static_cast<int32_t>(outputs / channels);
  }
  return builder->Add<vx::ops::Conv2d>(
      {it.x, weights, it.bias}, wanted, GraphPads<uint32_t, 2>(it.windows),
      Backwards<uint32_t, 2>(it.windows.strides),
      Backwards<uint32_t, 2>(it.windows.dilations), multiplier);
}

}  // namespace

Result<Convolution> ConvolutionOf(const Node& node, const Value& x,
                                  const Value& weights, const Value& bias) {
  if (x.rank() < 3 || x.rank() > 5) {
    return Unimplemented("operand 0 is ", Describe(x),
                         ", one to three spatial axes are taken");
  }
  if (weights.rank() != x.rank()) {
    return InvalidArgument("weights ", Describe(weights), " for ", Describe(x));
  }
  Convolution it{x, weights, bias, 1, {}};
  TIM_ASSIGN_OR_RETURN(it.group, node.Int("group", 1));
  if (it.group < 1 || weights.dims[0] < 1 || weights.dims[1] < 1 ||
      x.dims[1] % it.group != 0 || weights.dims[1] != x.dims[1] / it.group ||
      weights.dims[0] % it.group != 0) {
    return InvalidArgument("weights ", Describe(weights), " in ", it.group,
                           " groups do not fit ", Describe(x));
  }
  if (!bias.IsAbsent() && bias.dims != Dims{weights.dims[0]}) {
    return InvalidArgument("a bias ", Describe(bias), " for ", weights.dims[0],
                           " output channels");
  }
  TIM_RETURN_IF_ERROR(CheckKernelShape(node, Spatial(weights)));
  TIM_ASSIGN_OR_RETURN(it.windows, WindowsOf(node, Spatial(x), Spatial(weights),
                                             Rounding::kFloor));
  return it;
}

Result<Value> Convolve(GraphBuilder* builder, const Convolution& it,
                       vx::DataType type,
                       const vx::Quantization& quantization) {
  Dims dims = {it.x.dims[0], it.weights.dims[0]};
  dims.insert(dims.end(), it.windows.output.begin(), it.windows.output.end());
  const Wanted wanted = Wanted::Of(type, std::move(dims), quantization);
  if (it.windows.axes() == 2) return Convolve2d(builder, it, wanted);
  if (it.windows.axes() == 3) {
    return builder->Add<vx::ops::Conv3d>(
        {it.x, it.weights, it.bias}, wanted, GraphPads<int32_t, 3>(it.windows),
        Backwards<int32_t, 3>(it.windows.strides),
        Backwards<int32_t, 3>(it.windows.dilations));
  }
  return builder->Add<vx::ops::Conv1d>(
      {it.x, it.weights, it.bias}, wanted, GraphPads<uint32_t, 1>(it.windows),
      static_cast<uint32_t>(it.windows.strides[0]),
      static_cast<uint32_t>(it.windows.dilations[0]));
}

Result<Value> WindowSums(GraphBuilder* builder, const Value& x,
                         const Windows& windows) {
  Dims dims = {x.dims[1], 1};
  dims.insert(dims.end(), windows.kernel.begin(), windows.kernel.end());
  TIM_ASSIGN_OR_RETURN(const int64_t count, Product(dims, 0, dims.size()));
  TIM_ASSIGN_OR_RETURN(Value ones, FilledVector(*builder, 1.0f, count));
  TIM_ASSIGN_OR_RETURN(ones, builder->Reshape(ones, dims));
  return Convolve(builder, {x, ones, {}, x.dims[1], windows}, x.type);
}

}  // namespace tim::models::onnx
