// Operations of tim::graph for the layers of residual networks.
#include "bench/networks/layer_ops.h"

#include <algorithm>
#include <string>
#include <utility>

namespace tim::bench {
namespace {

using graph::op;
using Tensor = graph::logical_tensor;
using Dims = Tensor::dims;

// Shapes have the fastest-varying extent first, dims last.
Dims DimsOf(const Shape& shape) { return {shape.rbegin(), shape.rend()}; }

class Builder {
 public:
  explicit Builder(const Network& network) : network_(network) {}

  Status Add(const Layer& layer);
  LayerOps Finish() { return std::move(made_); }

 private:
  using Maker = void (Builder::*)(const Layer& layer);
  static Maker MakerOf(LayerKind kind);

  Tensor Make(const Shape& shape, Tensor::property_type property) {
    return {next_tensor_++, Tensor::data_type::f32, DimsOf(shape),
            Tensor::layout_type::strided, property};
  }
  Tensor Variable(const Shape& shape) {
    return Make(shape, Tensor::property_type::variable);
  }
  Tensor Constant(const Parameter& parameter, const Shape& shape) {
    made_.constants.push_back(
        {Make(shape, Tensor::property_type::constant), &parameter});
    return made_.constants.back().tensor;
  }
  Tensor InputOf(const Layer& layer, size_t number = 0) const {
    return made_.results[layer.inputs[number]];
  }
  op& Push(op::kind kind, const std::vector<Tensor>& inputs,
           const Tensor& output) {
    return made_.ops.emplace_back(made_.ops.size(), kind, inputs,
                                  std::vector<Tensor>{output});
  }
  // The layer's result is that of the op.
  op& PushLast(op::kind kind, const std::vector<Tensor>& inputs,
               const Layer& layer) {
    made_.results.push_back(Variable(layer.shape));
    return Push(kind, inputs, made_.results.back());
  }

  void Input(const Layer& layer) {
    made_.results.push_back(Variable(layer.shape));
  }
  void Conv2d(const Layer& layer);
  void FullyConnected(const Layer& layer);
  void Relu(const Layer& layer) {
    PushLast(op::kind::ReLU, {InputOf(layer)}, layer);
  }
  void Add2(const Layer& layer) {
    PushLast(op::kind::Add, {InputOf(layer), InputOf(layer, 1)}, layer);
  }
  void MaxPool(const Layer& layer);
  void GlobalAveragePool(const Layer& layer);

  const Network& network_;
  LayerOps made_;
  size_t next_tensor_ = 0;
};

void SetWindow(op& conv_or_pool, const Window& window) {
  const auto stride = static_cast<int64_t>(window.stride);
  const auto pad = static_cast<int64_t>(window.pad);
  conv_or_pool.set_attr(op::attr::strides, Dims{stride, stride})
      .set_attr(op::attr::pads_begin, Dims{pad, pad})
      .set_attr(op::attr::pads_end, Dims{pad, pad})
      .set_attr(op::attr::data_format, std::string("NCX"));
}

void Builder::Conv2d(const Layer& layer) {
  std::vector<Tensor> inputs = {InputOf(layer)};
  for (const Parameter& parameter : layer.parameters) {
    if (parameter.shape.empty()) continue;
    inputs.push_back(Constant(parameter, parameter.shape));
  }
  op& conv = PushLast(op::kind::Convolution, inputs, layer);
  SetWindow(conv, layer.window);
  conv.set_attr(op::attr::dilations, Dims{1, 1})
      .set_attr(op::attr::weights_format, std::string("OIX"));
}

void Builder::FullyConnected(const Layer& layer) {
  const Parameter& weights = layer.parameters[0];
  const Tensor flat = Variable({weights.shape[0], layer.shape[1]});
  Push(op::kind::StaticReshape, {InputOf(layer)}, flat)
      .set_attr(op::attr::shape, flat.get_dims())
      .set_attr(op::attr::special_zero, false);
  std::vector<Tensor> inputs = {flat, Constant(weights, weights.shape)};
  const Parameter& bias = layer.parameters[1];
  if (!bias.shape.empty()) inputs.push_back(Constant(bias, bias.shape));
  PushLast(op::kind::MatMul, inputs, layer)
      .set_attr(op::attr::transpose_b, true);
}

void Builder::MaxPool(const Layer& layer) {
  const auto size = static_cast<int64_t>(layer.window.size);
  op& pool = PushLast(op::kind::MaxPool, {InputOf(layer)}, layer);
  SetWindow(pool, layer.window);
  const bool up = layer.window.rounding == Rounding::kCeil;
  pool.set_attr(op::attr::kernel, Dims{size, size})
      .set_attr(op::attr::rounding_type, std::string(up ? "ceil" : "floor"));
}

void Builder::GlobalAveragePool(const Layer& layer) {
  const Dims in = InputOf(layer).get_dims();
  op& pool = PushLast(op::kind::AvgPool, {InputOf(layer)}, layer);
  SetWindow(pool, {});
  pool.set_attr(op::attr::kernel, Dims{in[2], in[3]})
      .set_attr(op::attr::exclude_pad, false);
}

Builder::Maker Builder::MakerOf(LayerKind kind) {
  static constexpr std::pair<LayerKind, Maker> kMakers[] = {
      {LayerKind::kInput, &Builder::Input},
      {LayerKind::kConv2d, &Builder::Conv2d},
      {LayerKind::kFullyConnected, &Builder::FullyConnected},
      {LayerKind::kRelu, &Builder::Relu},
      {LayerKind::kAdd, &Builder::Add2},
      {LayerKind::kMaxPool, &Builder::MaxPool},
      {LayerKind::kGlobalAveragePool, &Builder::GlobalAveragePool},
  };
  for (const auto& [known, maker] : kMakers) {
    if (known == kind) return maker;
  }
  return nullptr;
}

Status Builder::Add(const Layer& layer) {
  const Maker maker = MakerOf(layer.kind);
  if (maker == nullptr || layer.codes.type != ElementType::kFloat32) {
    return Unimplemented(network_.name, ": layer ", made_.results.size(),
                         " has no form in tim::graph here; expected float32 "
                         "layers of residual networks, as resnet50 has");
  }
  (this->*maker)(layer);
  return OkStatus();
}

}  // namespace

Result<LayerOps> OpsOfNetwork(const Network& network) {
  Builder builder(network);
  for (const Layer& layer : network.layers) {
    TIM_RETURN_IF_ERROR(builder.Add(layer));
  }
  return builder.Finish();
}

}  // namespace tim::bench
