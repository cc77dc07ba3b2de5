// Operators of com.microsoft on codes: sums, activations, pools, Concat and
// Softmax.
#include <array>
#include <string>
#include <vector>

#include "models/onnx/ops/codes.h"
#include "models/onnx/ops/compose.h"
#include "models/onnx/ops/normalizations/normalize.h"
#include "models/onnx/ops/operands.h"
#include "models/onnx/ops/pools/pool.h"
#include "models/onnx/ops/quantized/quantized.h"
#include "tim/vx/ops/activations.h"
#include "tim/vx/ops/concat.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/softmax.h"

namespace tim::models::onnx {
namespace {

// The result: codes of operand `like`'s type, by these operands.
Result<Wanted> ResultAs(const Node& node, vx::DataType type, const Dims& dims,
                        size_t scale, size_t zero_point) {
  TIM_ASSIGN_OR_RETURN(const vx::Quantization quantization,
                       QuantizationOf(node, scale, zero_point, type));
  return Wanted::Of(type, dims, quantization);
}

template <typename Op>
Status OfTwo(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 2, 8));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, {}));
  TIM_ASSIGN_OR_RETURN(const Value a, CodesOf(node, 0, 1, 2));
  TIM_ASSIGN_OR_RETURN(const Value b, CodesOf(node, 3, 4, 5));
  TIM_ASSIGN_OR_RETURN(const Dims dims, BroadcastDims(a.dims, b.dims));
  TIM_ASSIGN_OR_RETURN(const Wanted wanted, ResultAs(node, a.type, dims, 6, 7));
  return node.SetOutput(0, node.builder->Add<Op>({a, b}, wanted));
}

// Operands X, X_scale, X_zero_point, Y_scale, Y_zero_point.
struct OneOperand {
  Value x;
  Wanted y;
};
Result<OneOperand> OneOf(Node& node, const std::vector<std::string>& names) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 2, 5));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, names));
  OneOperand one;
  TIM_ASSIGN_OR_RETURN(one.x, CodesOf(node, 0, 1, 2));
  TIM_ASSIGN_OR_RETURN(one.y, ResultAs(node, one.x.type, one.x.dims, 3, 4));
  return one;
}

Status QLinearSigmoid(Node& node) {
  TIM_ASSIGN_OR_RETURN(const OneOperand one, OneOf(node, {}));
  return node.SetOutput(0, node.builder->Add<vx::ops::Sigmoid>({one.x}, one.y));
}

Status QLinearLeakyRelu(Node& node) {
  TIM_ASSIGN_OR_RETURN(const OneOperand one, OneOf(node, {"alpha"}));
  TIM_ASSIGN_OR_RETURN(const float alpha, node.Float("alpha", 0.01f));
  return node.SetOutput(
      0, node.builder->Add<vx::ops::LeakyRelu>({one.x}, one.y, alpha));
}

// Along one axis, or from opset 1 to 12 of ONNX, which an attribute names, over
// all axes from it on.
Status QLinearSoftmax(Node& node) {
  TIM_ASSIGN_OR_RETURN(const OneOperand one, OneOf(node, {"axis", "opset"}));
  const Value& x = one.x;
  TIM_ASSIGN_OR_RETURN(const int64_t opset, node.Int("opset", 13));
  TIM_ASSIGN_OR_RETURN(const int axis, node.Axis("axis", -1, x.rank()));
  if (opset >= 13 || axis == x.rank() - 1) {
    return node.SetOutput(
        0,
        node.builder->Add<vx::ops::Softmax>(
            {x}, one.y, 1.0f, static_cast<int32_t>(GraphAxis(axis, x.rank()))));
  }
  TIM_ASSIGN_OR_RETURN(const int64_t outer, Product(x.dims, 0, axis));
  TIM_ASSIGN_OR_RETURN(const int64_t length,
                       Product(x.dims, axis, x.dims.size()));
  TIM_ASSIGN_OR_RETURN(const Value rows,
                       node.builder->Reshape(x, {outer, length}));
  TIM_ASSIGN_OR_RETURN(
      const Value made,
      node.builder->Add<vx::ops::Softmax>(
          {rows}, Wanted::Of(x.type, rows.dims, one.y.quantization), 1.0f,
          int32_t{0}));
  return node.SetOutput(0, node.builder->Reshape(made, x.dims));
}

Status CheckChannelsFirst(const Node& node) {
  TIM_ASSIGN_OR_RETURN(const int64_t last, node.Int("channels_last", 0));
  if (last == 0) return OkStatus();
  return Unimplemented("attribute 'channels_last' is ", last, ", taken is 0");
}

Status QLinearAveragePool(Node& node) {
  TIM_ASSIGN_OR_RETURN(
      const OneOperand one,
      OneOf(node, {"auto_pad", "ceil_mode", "channels_last",
                   "count_include_pad", "kernel_shape", "pads", "strides"}));
  TIM_RETURN_IF_ERROR(CheckChannelsFirst(node));
  TIM_ASSIGN_OR_RETURN(const int64_t padded, node.Int("count_include_pad", 0));
  TIM_ASSIGN_OR_RETURN(const Windows windows, PoolWindows(node, one.x));
  if (windows.axes() == 3) {
    return Unimplemented("operand 0 is ", Describe(one.x),
                         "; averages of codes ",
                         "are taken over one or two spatial axes");
  }
  return node.SetOutput(
      0, AverageOfWindows(node.builder, one.x, windows,
                          padded != 0 ? Divisor::kPadded : Divisor::kInside,
                          one.y.quantization));
}

Status QLinearGlobalAveragePool(Node& node) {
  TIM_ASSIGN_OR_RETURN(const OneOperand one, OneOf(node, {"channels_last"}));
  TIM_RETURN_IF_ERROR(CheckChannelsFirst(node));
  if (one.x.rank() < 3) {
    return Unimplemented("operand 0 is ", Describe(one.x),
                         ", one spatial axis or more is taken");
  }
  return node.SetOutput(0,
                        AverageOfAll(node.builder, one.x, one.y.quantization));
}

// Operands Y_scale, Y_zero_point, then codes, scale and zero point of each.
Status QLinearConcat(Node& node) {
  TIM_RETURN_IF_ERROR(CheckAttributes(node, {"axis"}));
  if (node.inputs.size() < 5 || node.inputs.size() % 3 != 2 || !node.Has(1)) {
    return InvalidArgument(node.inputs.size(),
                           " operands, expected 2 and 3 for each part");
  }
  std::vector<Value> parts;
  for (size_t i = 2; i < node.inputs.size(); i += 3) {
    TIM_ASSIGN_OR_RETURN(Value part, CodesOf(node, i, i + 1, i + 2));
    parts.push_back(std::move(part));
  }
  Dims dims = parts[0].dims;
  TIM_ASSIGN_OR_RETURN(const int axis, node.Axis("axis", 0, parts[0].rank()));
  for (size_t i = 1; i < parts.size(); ++i) {
    Dims other = parts[i].dims;
    if (other.size() != dims.size() || parts[i].type != parts[0].type) {
      return InvalidArgument("parts ", Describe(parts[0]), " and ",
                             Describe(parts[i]));
    }
    dims[axis] += other[axis];
    other[axis] = dims[axis];
    if (other != dims) {
      return InvalidArgument("parts ", Describe(parts[0]), " and ",
                             Describe(parts[i]));
    }
  }
  TIM_ASSIGN_OR_RETURN(const Wanted wanted,
                       ResultAs(node, node.inputs[1].type, dims, 0, 1));
  const auto graph_axis =
      static_cast<uint32_t>(GraphAxis(axis, parts[0].rank()));
  return node.SetOutput(
      0, node.builder->Add<vx::ops::Concat>(parts, wanted, graph_axis,
                                            static_cast<int>(parts.size())));
}

}  // namespace

void AddCodeOperators(OperatorTable* table) {
  constexpr char kDomain[] = "com.microsoft";
  table->Add(kDomain, "QLinearAdd", 1, OfTwo<vx::ops::Add>);
  table->Add(kDomain, "QLinearMul", 1, OfTwo<vx::ops::Multiply>);
  table->Add(kDomain, "QLinearSigmoid", 1, QLinearSigmoid);
  table->Add(kDomain, "QLinearLeakyRelu", 1, QLinearLeakyRelu);
  table->Add(kDomain, "QLinearSoftmax", 1, QLinearSoftmax);
  table->Add(kDomain, "QLinearAveragePool", 1, QLinearAveragePool);
  table->Add(kDomain, "QLinearGlobalAveragePool", 1, QLinearGlobalAveragePool);
  table->Add(kDomain, "QLinearConcat", 1, QLinearConcat);
}

}  // namespace tim::models::onnx
