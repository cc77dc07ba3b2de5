// Nodes and constants of quantized ONNX models in two forms.
#include "tests/models/onnx_qdq_maker.h"

#include <utility>

#include "tests/models/onnx_model_maker.h"

namespace tim::models::onnx {
namespace {

using ::onnx::NodeProto;
using ::onnx::TensorProto;

template <typename T>
TensorProto TensorOf(const std::string& name, int type,
                     const std::vector<int64_t>& dims,
                     const std::vector<T>& values) {
  TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (const int64_t extent : dims) tensor.add_dims(extent);
  tensor.set_raw_data(values.data(), values.size() * sizeof(T));
  return tensor;
}

std::string Scale(const Coded& x) { return x.name + "_scale"; }
std::string Zero(const Coded& x) { return x.name + "_zero"; }

}  // namespace

QdqMaker::QdqMaker(Form form) : form_(form), model_(EmptyModel()) {
  auto* contributed = model_.add_opset_import();
  contributed->set_domain("com.microsoft");
  contributed->set_version(1);
}

Coded QdqMaker::Input(const std::vector<std::string>& extents, float scale,
                      int zero) {
  Coded x = NewCodes(NewName(), scale, zero);
  AddInput(graph(), x.name, TensorProto::UINT8, extents);
  return x;
}

Coded QdqMaker::Conv(const Coded& x, const Weights& weights, float scale,
                     int zero, const std::string& limits, int64_t group) {
  Coded y = NewCodes(NewName(), scale, zero);
  const int64_t channels = weights.dims[0];
  const Names w = AddWeights(weights, static_cast<size_t>(channels));
  const std::string bias = AddBias(x, channels);
  NodeProto* node =
      form_ == Form::kQdq
          ? OnReals("Conv", {Real(x), Real(w), Real({bias, bias + "_scale"})},
                    y, limits)
          : OnCodes("QLinearConv",
                    {x.name, Scale(x), Zero(x), w[0], w[1], w[2], Scale(y),
                     Zero(y), bias},
                    y);
  const size_t spatial = weights.dims.size() - 2;
  SetAttribute(node, "pads",
               std::vector<int64_t>(2 * spatial, weights.dims[2] / 2));
  SetAttribute(node, "group", group);
  return y;
}

Coded QdqMaker::Gemm(const Coded& x, const Weights& weights, float scale,
                     int zero) {
  Coded y = NewCodes(NewName(), scale, zero);
  const Names w = AddWeights(weights, 1);
  const std::string bias = AddBias(x, weights.dims[0]);
  NodeProto* node =
      form_ == Form::kQdq
          ? OnReals("Gemm", {Real(x), Real(w), Real({bias, bias + "_scale"})},
                    y)
          : OnCodes("QGemm",
                    {x.name, Scale(x), Zero(x), w[0], w[1], w[2], bias,
                     Scale(y), Zero(y)},
                    y);
  SetAttribute(node, "transB", int64_t{1});
  return y;
}

Coded QdqMaker::Add(const Coded& a, const Coded& b, float scale, int zero,
                    const std::string& limits) {
  Coded y = NewCodes(NewName(), scale, zero);
  if (form_ == Form::kQdq) {
    OnReals("Add", {Real(a), Real(b)}, y, limits);
  } else {
    OnCodes("QLinearAdd",
            {a.name, Scale(a), Zero(a), b.name, Scale(b), Zero(b), Scale(y),
             Zero(y)},
            y);
  }
  return y;
}

Coded QdqMaker::Concat(const Coded& a, const Coded& b, float scale, int zero) {
  Coded y = NewCodes(NewName(), scale, zero);
  NodeProto* node = form_ == Form::kQdq
                        ? OnReals("Concat", {Real(a), Real(b)}, y)
                        : OnCodes("QLinearConcat",
                                  {Scale(y), Zero(y), a.name, Scale(a), Zero(a),
                                   b.name, Scale(b), Zero(b)},
                                  y);
  SetAttribute(node, "axis", int64_t{1});
  return y;
}

Coded QdqMaker::Unary(const std::string& op, const Coded& x, float scale,
                      int zero) {
  Coded y = NewCodes(NewName(), scale, zero);
  if (form_ == Form::kQdq) {
    OnReals(op, {Real(x)}, y);
  } else {
    OnCodes("QLinear" + op, {x.name, Scale(x), Zero(x), Scale(y), Zero(y)}, y);
  }
  return y;
}

NodeProto* QdqMaker::Move(const std::string& op, const Coded& x, Coded* y,
                          const Names& more) {
  Coded made = NewCodes(NewName(), x.scale, zeros_[x.name]);
  Names inputs = {form_ == Form::kQdq ? Real(x) : x.name};
  inputs.insert(inputs.end(), more.begin(), more.end());
  NodeProto* node = form_ == Form::kQdq
                        ? OnReals(op, inputs, made)
                        : AddNode(graph(), op, inputs, {made.name});
  *y = std::move(made);
  return node;
}

std::vector<Coded> QdqMaker::Halves(const Coded& x) {
  std::vector<Coded> halves;
  Names reals;
  for (int i = 0; i < 2; ++i) {
    halves.push_back(NewCodes(NewName(), x.scale, zeros_[x.name]));
    reals.push_back(halves.back().name + "_real");
  }
  SetAttribute(AddNode(graph(), "Split", {Real(x)}, reals), "axis", int64_t{1});
  for (int i = 0; i < 2; ++i) Quantize(halves[i], reals[i], "");
  return halves;
}

void QdqMaker::ReturnReal(const Coded& y) {
  AddOutput(graph(), y.name + "_real", TensorProto::FLOAT);
}

void QdqMaker::Return(const Coded& y) {
  AddOutput(graph(), y.name, TensorProto::UINT8);
}

Coded QdqMaker::NewCodes(const std::string& name, float scale, int zero) {
  Coded made = {name, scale};
  zeros_[name] = zero;
  *graph()->add_initializer() = FloatTensor(Scale(made), {}, {scale});
  *graph()->add_initializer() = TensorOf<uint8_t>(
      Zero(made), TensorProto::UINT8, {}, {static_cast<uint8_t>(zero)});
  return made;
}

// Codes, scales and zero points.
QdqMaker::Names QdqMaker::AddWeights(const Weights& weights, size_t scales) {
  int64_t count = 1;
  for (const int64_t extent : weights.dims) count *= extent;
  std::vector<int8_t> codes(static_cast<size_t>(count));
  for (int8_t& code : codes) {
    code = static_cast<int8_t>(std::uniform_int_distribution(-127, 127)(rng_));
  }
  weight_scales_.clear();
  for (size_t i = 0; i < scales; ++i) {
    weight_scales_.push_back(0.001f + 0.0003f * static_cast<float>(i));
  }
  const std::vector<int64_t> dims = {static_cast<int64_t>(scales)};
  const std::string name = NewName();
  *graph()->add_initializer() =
      TensorOf(name, TensorProto::INT8, weights.dims, codes);
  *graph()->add_initializer() =
      FloatTensor(name + "_scale", dims, weight_scales_);
  *graph()->add_initializer() =
      TensorOf(name + "_zero", TensorProto::INT8, dims,
               std::vector<int8_t>(scales, weights.zero_point));
  return {name, name + "_scale", name + "_zero"};
}

// Sums of x times the last weights.
std::string QdqMaker::AddBias(const Coded& x, int64_t count) {
  std::vector<int32_t> sums(static_cast<size_t>(count));
  for (int32_t& sum : sums) {
    sum = std::uniform_int_distribution(-3000, 3000)(rng_);
  }
  std::vector<float> scales;
  for (const float scale : weight_scales_) scales.push_back(x.scale * scale);
  std::string name = NewName();
  *graph()->add_initializer() =
      TensorOf(name, TensorProto::INT32, {count}, sums);
  *graph()->add_initializer() = FloatTensor(
      name + "_scale", {static_cast<int64_t>(scales.size())}, scales);
  return name;
}

std::string QdqMaker::Real(const Names& codes) {
  std::string real = codes[0] + "_from" + std::to_string(count_++);
  SetAttribute(AddNode(graph(), "DequantizeLinear", codes, {real}), "axis",
               int64_t{0});
  return real;
}

std::string QdqMaker::Real(const Coded& x) {
  return Real({x.name, Scale(x), Zero(x)});
}

NodeProto* QdqMaker::OnCodes(const std::string& op, const Names& inputs,
                             const Coded& y) {
  NodeProto* node = AddNode(graph(), op, inputs, {y.name});
  if (op != "QLinearConv") node->set_domain("com.microsoft");
  return node;
}

NodeProto* QdqMaker::OnReals(const std::string& op, const Names& inputs,
                             const Coded& y, const std::string& limits) {
  const std::string real = y.name + "_real";
  NodeProto* node = AddNode(graph(), op, inputs, {real});
  Quantize(y, real, limits);
  return node;
}

void QdqMaker::Quantize(const Coded& y, std::string real,
                        const std::string& limits) {
  if (!limits.empty()) {
    Names inputs = {real};
    real += limits;
    if (limits == "Clip") inputs.insert(inputs.end(), {"zero", "six"});
    AddNode(graph(), limits, inputs, {real});
  }
  AddNode(graph(), "QuantizeLinear", {real, Scale(y), Zero(y)}, {y.name});
}

}  // namespace tim::models::onnx
