#include "lenet.h"

#include <array>
#include <cstring>

#include "custom_ops/softmax_cl.h"
#include "tim/vx/ops.h"

namespace digits {
namespace {

using TensorPtr = std::shared_ptr<tim::vx::Tensor>;
using tim::vx::DataType;
using tim::vx::PadType;
using tim::vx::PoolType;
using tim::vx::ShapeType;
using tim::vx::TensorAttribute;
using tim::vx::TensorSpec;
namespace ops = tim::vx::ops;

// Each layer reads x, adds one operation to the graph and returns its result.
class LenetBuilder {
 public:
  LenetBuilder(tim::vx::Graph* graph, const TensorFile& model)
      : graph_(graph), model_(model) {}

  TensorPtr Input(std::uint32_t batch) {
    const ShapeType shape = {kImageSize, kImageSize, 1, batch};
    return Create(model_.at("input"), shape, TensorAttribute::INPUT);
  }

  TensorPtr Conv(const TensorPtr& x, const std::string& layer) {
    const std::array<std::uint32_t, 2> stride = {{1, 1}};
    const std::array<std::uint32_t, 2> dilation = {{1, 1}};
    auto conv =
        graph_->CreateOperation<ops::Conv2d>(PadType::SAME, stride, dilation);
    return Bind(conv.get(), x, layer);
  }

  TensorPtr FullyConnected(const TensorPtr& x, const std::string& layer,
                           std::uint32_t axis) {
    // The weight is [inputs, outputs].
    const std::uint32_t outputs = model_.at(layer + ".weight").shape.back();
    auto fc = graph_->CreateOperation<ops::FullyConnected>(axis, outputs);
    return Bind(fc.get(), x, layer);
  }

  TensorPtr Relu(const TensorPtr& x) {
    auto relu = graph_->CreateOperation<ops::Relu>();
    return Bind(relu.get(), x);
  }

  TensorPtr MaxPool(const TensorPtr& x) {
    const std::array<std::uint32_t, 2> size = {{2, 2}};
    auto pool = graph_->CreateOperation<ops::Pool2d>(
        PoolType::MAX, PadType::VALID, size, size);
    return Bind(pool.get(), x);
  }

  TensorPtr Softmax(const TensorPtr& x, std::uint32_t batch, SoftmaxKind kind) {
    const TensorSpec spec(DataType::FLOAT32, {kClasses, batch},
                          TensorAttribute::OUTPUT);
    const TensorPtr y = graph_->CreateTensor(spec);
    std::shared_ptr<tim::vx::Operation> softmax;
    if (kind == SoftmaxKind::kCustom) {
      softmax = graph_->CreateOperation<tim::custom_ops::SoftmaxCl>(Scale(x));
    } else {
      softmax = graph_->CreateOperation<ops::Softmax>(1.0f, 0);
    }
    softmax->BindInput(x).BindOutput(y);
    return y;
  }

 private:
  // What a custom operator, which sees codes, multiplies them with.
  static float Scale(const TensorPtr& x) {
    if (x->GetDataType() == DataType::FLOAT32) return 1.0f;
    return x->GetQuantization().Scales().at(0);
  }

  TensorPtr Create(const StoredTensor& stored, const ShapeType& shape,
                   TensorAttribute attribute) {
    const TensorSpec spec(stored.type, shape, attribute, stored.Quantization());
    const void* data = stored.data.empty() ? nullptr : stored.data.data();
    return graph_->CreateTensor(spec, data);
  }

  TensorPtr Constant(const std::string& name) {
    const StoredTensor& stored = model_.at(name);
    return Create(stored, stored.shape, TensorAttribute::CONSTANT);
  }

  // For operations with weights. Compile() finds out the shape of the result.
  TensorPtr Bind(tim::vx::Operation* op, const TensorPtr& x,
                 const std::string& layer) {
    const TensorPtr y =
        Create(model_.at(layer), ShapeType(), TensorAttribute::TRANSIENT);
    op->BindInputs({x, Constant(layer + ".weight"), Constant(layer + ".bias")})
        .BindOutput(y);
    return y;
  }

  // For operations whose result has the type and quantization of x.
  TensorPtr Bind(tim::vx::Operation* op, const TensorPtr& x) {
    TensorSpec spec = x->GetSpec().AsTransientSpec();
    const TensorPtr y = graph_->CreateTensor(spec);
    op->BindInput(x).BindOutput(y);
    return y;
  }

  tim::vx::Graph* graph_;
  const TensorFile& model_;
};

bool HasAllTensors(const TensorFile& model, std::string* error) {
  std::vector<std::string> names = {"input"};
  for (const std::string layer : {"conv1", "conv2", "fc1", "fc2"}) {
    names.insert(names.end(), {layer, layer + ".weight", layer + ".bias"});
  }
  for (const std::string& name : names) {
    const auto it = model.find(name);
    const bool is_constant = name.find('.') != std::string::npos;
    if (it != model.end() && it->second.data.empty() != is_constant) continue;
    *error = "the model has no proper tensor '" + name + "'";
    return false;
  }
  return true;
}

}  // namespace

SoftmaxKind SoftmaxFor(const tim::vx::Context& context) {
  const bool opencl = context.DeviceName().rfind("opencl", 0) == 0;
  return opencl ? SoftmaxKind::kCustom : SoftmaxKind::kBuiltIn;
}

// The uint8 network takes the pixels as they are, as codes of its input.
std::vector<std::uint8_t> InputBytes(const Lenet& net,
                                     const std::vector<std::uint8_t>& pixels) {
  if (net.input->GetDataType() == DataType::UINT8) return pixels;
  std::vector<std::uint8_t> bytes(pixels.size() * sizeof(float));
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const float value = static_cast<float>(pixels[i]) * net.input_scale;
    std::memcpy(&bytes[i * sizeof(float)], &value, sizeof(float));
  }
  return bytes;
}

bool BuildLenet(tim::vx::Context* context, const TensorFile& model,
                std::uint32_t batch, Lenet* net, std::string* error) {
  if (!HasAllTensors(model, error)) return false;
  net->graph = context->CreateGraph();
  net->input_scale = model.at("input").scale;
  LenetBuilder builder(net->graph.get(), model);
  net->input = builder.Input(batch);
  TensorPtr x = builder.Relu(builder.Conv(net->input, "conv1"));
  x = builder.Relu(builder.Conv(x, "conv2"));
  x = builder.MaxPool(x);
  x = builder.Relu(builder.FullyConnected(x, "fc1", 2));  // of W, H, C
  x = builder.FullyConnected(x, "fc2", 0);
  net->output = builder.Softmax(x, batch, SoftmaxFor(*context));
  return true;
}

}  // namespace digits
