#include "model.h"

#include <algorithm>
#include <cstdint>

#include "tim/vx/ops.h"

namespace delegate {
namespace {

using tim::vx::DataType;
using tim::vx::Tensor;
using tim::vx::TensorAttribute;
using tim::vx::TensorSpec;

// Multiples of 1/8, so that sums are exact in any order.
std::vector<float> Ramp(size_t count, int step) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(static_cast<int>(i) * step % 9 - 4) / 8;
  }
  return values;
}

// Tensors by their number in the model, as they come.
class Tensors {
 public:
  explicit Tensors(tim::vx::Graph* graph) : graph_(graph) {}

  std::shared_ptr<Tensor> Add(TensorAttribute attribute,
                              const std::vector<int>& dims,
                              DataType type = DataType::FLOAT32,
                              const void* data = nullptr) {
    const tim::vx::ShapeType shape(dims.rbegin(), dims.rend());
    TensorSpec spec(type, shape, attribute);
    return data != nullptr ? graph_->CreateTensor(spec, data)
                           : graph_->CreateTensor(spec);
  }
  // A result that the next operation reads; the producer decides its shape.
  std::shared_ptr<Tensor> Between(const std::shared_ptr<Tensor>& like) {
    TensorSpec spec(like->GetSpec());
    return graph_->CreateTensor(spec.AsTransientSpec());
  }

 private:
  tim::vx::Graph* graph_;
};

}  // namespace

Model MakeModel() {
  return {Ramp(kOut * 3 * 3 * kIn, 5),
          {1.0f, -0.5f, 0.25f},
          Ramp(kUnits * kPooled, 7)};
}

std::vector<float> Compute(const Model& model, const std::vector<float>& x) {
  const int w = kWidth, h = kHeight, in = kIn, out = kOut;
  const auto conv = [&](int o, int row, int column) {
    float sum = model.bias[o];
    for (int ky = 0; ky < 3; ++ky)
      for (int kx = 0; kx < 3; ++kx)
        for (int c = 0; c < in; ++c) {
          const int sy = row + ky - 1, sx = column + kx - 1;
          if (sy < 0 || sx < 0 || sy >= h || sx >= w) continue;
          sum += x[(sy * w + sx) * in + c] *
                 model.filter[((o * 3 + ky) * 3 + kx) * in + c];
        }
    return std::min(6.0f, std::max(0.0f, sum));
  };
  std::vector<float> pooled;
  for (int row = 0; row < h; row += 2)
    for (int column = 0; column < w; column += 2)
      for (int o = 0; o < out; ++o)
        pooled.push_back(
            std::max({conv(o, row, column), conv(o, row, column + 1),
                      conv(o, row + 1, column), conv(o, row + 1, column + 1)}));
  std::vector<float> y(kUnits, 0.0f);
  for (size_t u = 0; u < kUnits; ++u)
    for (size_t i = 0; i < kPooled; ++i)
      y[u] += pooled[i] * model.weights[u * kPooled + i];
  return y;
}

std::shared_ptr<tim::vx::Graph> BuildGraph(
    const std::shared_ptr<tim::vx::Context>& context, const Model& model) {
  using namespace tim::vx;
  auto graph = context->CreateGraph();
  Tensors tensors(graph.get());
  const int w = kWidth, h = kHeight;
  auto x = tensors.Add(TensorAttribute::INPUT, {1, h, w, kIn});
  auto filter = tensors.Add(TensorAttribute::CONSTANT, {kOut, 3, 3, kIn},
                            DataType::FLOAT32, model.filter.data());
  auto bias = tensors.Add(TensorAttribute::CONSTANT, {kOut}, DataType::FLOAT32,
                          model.bias.data());
  auto convolved = tensors.Between(x);
  (*graph->CreateOperation<ops::Conv2d>(
       static_cast<int32_t>(filter->GetShape()[3]), PadType::SAME,
       std::array<uint32_t, 2>({3, 3}), std::array<uint32_t, 2>({1, 1}),
       std::array<uint32_t, 2>({1, 1}), 0, DataLayout::CWHN,
       DataLayout::IcWHOc))
      .BindInputs({x, filter, bias})
      .BindOutputs({convolved});
  auto activated = tensors.Between(x);
  (*graph->CreateOperation<ops::Relu6>())
      .BindInputs({convolved})
      .BindOutputs({activated});
  auto pooled = tensors.Between(x);
  (*graph->CreateOperation<ops::Pool2d>(
       PoolType::MAX, PadType::VALID, std::array<uint32_t, 2>({2, 2}),
       std::array<uint32_t, 2>({2, 2}), RoundType::FLOOR, DataLayout::CWHN))
      .BindInputs({activated})
      .BindOutputs({pooled});
  // The shape is a parameter in a tensor, which is read while building.
  const std::vector<int32_t> target = {1, static_cast<int32_t>(kPooled)};
  auto shape = tensors.Add(TensorAttribute::CONSTANT, {2}, DataType::INT32,
                           target.data());
  std::vector<int32_t> read(shape->GetSpec().GetElementNum());
  shape->CopyDataFromTensor(read.data());
  auto flat = tensors.Between(x);
  (*graph->CreateOperation<ops::Reshape>(
       std::vector<uint32_t>(read.rbegin(), read.rend())))
      .BindInputs({pooled})
      .BindOutputs({flat});
  auto weights = tensors.Add(TensorAttribute::CONSTANT,
                             {kUnits, static_cast<int>(kPooled)},
                             DataType::FLOAT32, model.weights.data());
  auto dense = tensors.Between(x);
  (*graph->CreateOperation<ops::FullyConnected>(0, kUnits))
      .BindInputs({flat, weights, graph->CreateTensorPlaceHolder()})
      .BindOutputs({dense});
  auto state = tensors.Add(TensorAttribute::VARIABLE, {1, kUnits});
  auto y = tensors.Add(TensorAttribute::OUTPUT, {1, kUnits});
  (*graph->CreateOperation<ops::Add>())
      .BindInputs({dense, state})
      .BindOutputs({y});
  (*graph->CreateOperation<ops::DataConvert>())
      .BindInputs({y})
      .BindOutputs({state});
  return graph;
}

}  // namespace delegate
