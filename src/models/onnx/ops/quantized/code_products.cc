// QLinearConv, QLinearMatMul and QGemm: products of codes.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "models/onnx/ops/codes.h"
#include "models/onnx/ops/convolutions/convolve.h"
#include "models/onnx/ops/operands.h"
#include "models/onnx/ops/products/product.h"
#include "models/onnx/ops/quantized/quantized.h"

namespace tim::models::onnx {
namespace {

using vx::DataType;

// An int32 bias, whose scale is the input's times the weights', of each channel
// where they have several.
Result<Value> BiasOf(const Node& node, size_t index, const Value& x,
                     const Value& weights, int64_t channels) {
  if (!node.Has(index)) return Value();
  const Value& bias = node.inputs[index];
  if (bias.type != DataType::INT32 || bias.ElementCount() != channels) {
    return InvalidArgument("operand ", index, " is ", Describe(bias),
                           ", expected int32 [", channels, "]");
  }
  std::vector<float> scales;
  for (const float scale : weights.quantization.Scales()) {
    scales.push_back(x.quantization.Scales()[0] * scale);
    if (!std::isnormal(scales.back())) {
      return InvalidArgument("scales whose product is no float32");
    }
  }
  TIM_ASSIGN_OR_RETURN(const Value flat,
                       node.builder->Reshape(bias, {channels}));
  if (scales.size() == 1) {
    return Labelled(node.builder, flat,
                    vx::Quantization(vx::QuantType::ASYMMETRIC, scales[0], 0));
  }
  std::vector<int32_t> zeros(scales.size(), 0);
  return Labelled(node.builder, flat,
                  vx::Quantization(vx::QuantType::SYMMETRIC_PER_CHANNEL, 0,
                                   std::move(scales), std::move(zeros)));
}

// The type and quantization of a result, by its scale and zero point.
struct Codes {
  DataType type;
  vx::Quantization quantization;
};
Result<Codes> ResultCodes(const Node& node, size_t scale, size_t zero_point) {
  if (!node.Has(zero_point)) {
    return InvalidArgument("operand ", zero_point, " is missing");
  }
  const DataType type = node.inputs[zero_point].type;
  if (!IsCodeType(type)) {
    return Unimplemented("operand ", zero_point, " is ",
                         Describe(node.inputs[zero_point]),
                         ", codes are taken");
  }
  TIM_ASSIGN_OR_RETURN(const vx::Quantization quantization,
                       QuantizationOf(node, scale, zero_point, type));
  return Codes{type, quantization};
}

Status QLinearConv(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 8, 9));
  TIM_RETURN_IF_ERROR(
      CheckAttributes(node, {"auto_pad", "channels_last", "dilations", "group",
                             "kernel_shape", "pads", "strides"}));
  TIM_ASSIGN_OR_RETURN(const int64_t last, node.Int("channels_last", 0));
  if (last != 0) {
    return Unimplemented("attribute 'channels_last' is ", last, ", taken is 0");
  }
  TIM_ASSIGN_OR_RETURN(const Value x, CodesOf(node, 0, 1, 2));
  const Value& w = node.inputs[3];
  if (w.type != DataType::INT8 && w.type != DataType::UINT8) {
    return Unimplemented("operand 3 is ", Describe(w),
                         ", int8 and uint8 are taken");
  }
  TIM_ASSIGN_OR_RETURN(const vx::Quantization of_weights,
                       QuantizationOf(node, 4, 5, w.type, w.dims, 0));
  TIM_ASSIGN_OR_RETURN(const Value weights,
                       Labelled(node.builder, w, of_weights));
  if (w.rank() < 1) return InvalidArgument("operand 3 is ", Describe(w));
  TIM_ASSIGN_OR_RETURN(const Value bias,
                       BiasOf(node, 8, x, weights, w.dims[0]));
  TIM_ASSIGN_OR_RETURN(const Codes codes, ResultCodes(node, 6, 7));
  TIM_ASSIGN_OR_RETURN(const Convolution it,
                       ConvolutionOf(node, x, weights, bias));
  return node.SetOutput(
      0, Convolve(node.builder, it, codes.type, codes.quantization));
}

// A matrix [K, N] of bytes as [N, K].
HostArray TransposedBytes(const HostArray& matrix) {
  const int64_t rows = matrix.dims[0], columns = matrix.dims[1];
  const auto* from = static_cast<const uint8_t*>(matrix.data.get());
  std::vector<uint8_t> bytes(static_cast<size_t>(rows * columns));
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      bytes[column * rows + row] = from[row * columns + column];
    }
  }
  HostArray made = ArrayOf(bytes, {columns, rows});
  made.type = matrix.type;
  return made;
}

// The right factor at `b` with its scale and zero point, in the form that it
// has then: constant matrices are transposed, so that each column may have a
// scale of its own.
Result<Value> RightFactor(Node& node, size_t b, ProductOf* form) {
  const Value& codes = node.inputs[b];
  if (codes.type != DataType::INT8 && codes.type != DataType::UINT8) {
    return Unimplemented("operand ", b, " is ", Describe(codes),
                         ", int8 and uint8 are taken");
  }
  if (codes.constant == nullptr || codes.rank() != 2) {
    return CodesOf(node, b, b + 1, b + 2);
  }
  Value weights = codes;
  if (!form->transpose_b) {
    if (static_cast<int64_t>(codes.constant->bytes) < codes.ElementCount()) {
      return InvalidArgument("operand ", b, " has too few bytes");
    }
    weights =
        node.builder->Constant(TransposedBytes(*codes.constant), codes.name);
    form->transpose_b = true;
  }
  TIM_ASSIGN_OR_RETURN(
      const vx::Quantization quantization,
      QuantizationOf(node, b + 1, b + 2, codes.type, weights.dims, 0));
  return Labelled(node.builder, weights, quantization);
}

Status QLinearMatMul(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 8, 8));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, {}));
  TIM_ASSIGN_OR_RETURN(const Value a, CodesOf(node, 0, 1, 2));
  ProductOf form;
  TIM_ASSIGN_OR_RETURN(const Value b, RightFactor(node, 3, &form));
  TIM_ASSIGN_OR_RETURN(const Codes codes, ResultCodes(node, 6, 7));
  return node.SetOutput(
      0, Multiplied(node.builder, a, b, form,
                    Wanted::Of(codes.type, {}, codes.quantization)));
}

// Operands A, a_scale, a_zero_point, B, b_scale, b_zero_point, C, y_scale,
// y_zero_point; without the last two the result is float32.
Status QGemm(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 6, 9));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, {"alpha", "transA", "transB"}));
  TIM_ASSIGN_OR_RETURN(const Gemm gemm, GemmOf(node));
  if (gemm.alpha != 1.0f) {
    return Unimplemented("attribute 'alpha' is ", gemm.alpha, ", taken is 1");
  }
  TIM_ASSIGN_OR_RETURN(const Value a, CodesOf(node, 0, 1, 2));
  ProductOf form = gemm.form;
  TIM_ASSIGN_OR_RETURN(const Value b, RightFactor(node, 3, &form));
  if (a.rank() != 2 || b.rank() != 2) {
    return InvalidArgument("operands ", Describe(a), " and ", Describe(b),
                           ", expected two matrices");
  }
  const int64_t columns = b.dims[form.transpose_b ? 0 : 1];
  TIM_ASSIGN_OR_RETURN(const Value bias, BiasOf(node, 6, a, b, columns));
  Codes codes = {DataType::FLOAT32, {}};
  if (node.Has(7)) {
    TIM_ASSIGN_OR_RETURN(codes, ResultCodes(node, 7, 8));
  }
  return node.SetOutput(
      0, Multiplied(node.builder, a, b, form,
                    Wanted::Of(codes.type, {}, codes.quantization), bias));
}

}  // namespace

void AddCodeProducts(OperatorTable* table) {
  table->Add("", "QLinearConv", 10, QLinearConv);
  table->Add("com.microsoft", "QLinearConv", 1, QLinearConv);
  table->Add("", "QLinearMatMul", 10, QLinearMatMul);
  table->Add("com.microsoft", "QGemm", 1, QGemm);
}

}  // namespace tim::models::onnx
