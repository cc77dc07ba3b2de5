// Products and activations that ONNX Runtime's optimiser has fused.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "models/onnx/ops/compose.h"
#include "models/onnx/ops/contributed/contributed.h"
#include "models/onnx/ops/convolutions/convolve.h"
#include "models/onnx/ops/operands.h"
#include "models/onnx/ops/products/product.h"
#include "tim/vx/ops/activations.h"
#include "tim/vx/ops/clip.h"
#include "tim/vx/ops/elementwise.h"

namespace tim::models::onnx {
namespace {

constexpr char kDomain[] = "com.microsoft";

// The activation of a fused node by its name and parameters.
Result<Value> Activated(GraphBuilder* builder, const Value& x,
                        const std::string& name,
                        const std::vector<float>& parameters) {
  const auto parameter = [&](size_t index, float otherwise) {
    return index < parameters.size() ? parameters[index] : otherwise;
  };
  if (name.empty()) return x;
  if (name == "Relu") return Unary<vx::ops::Relu>(builder, x);
  if (name == "Tanh") return Unary<vx::ops::Tanh>(builder, x);
  if (name == "Sigmoid") return Unary<vx::ops::Sigmoid>(builder, x);
  if (name == "LeakyRelu") {
    return Unary<vx::ops::LeakyRelu>(builder, x, parameter(0, 0.01f));
  }
  if (name == "Clip") {
    const float infinite = std::numeric_limits<float>::infinity();
    return Unary<vx::ops::Clip>(builder, x, parameter(0, -infinite),
                                parameter(1, infinite));
  }
  if (name == "HardSigmoid") {
    return Unary<vx::ops::HardSigmoid>(builder, x, parameter(0, 0.2f),
                                       parameter(1, 0.5f));
  }
  return Unimplemented("attribute 'activation' is '", name,
                       "', taken are Relu, Tanh, Sigmoid, LeakyRelu, Clip and "
                       "HardSigmoid");
}

Status FusedConv(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 2, 4));
  TIM_RETURN_IF_ERROR(CheckAttributes(
      node, {"activation", "activation_params", "auto_pad", "dilations",
             "group", "kernel_shape", "pads", "strides"}));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 0));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 1));
  TIM_ASSIGN_OR_RETURN(const std::string name, node.Text("activation", ""));
  TIM_ASSIGN_OR_RETURN(const std::vector<float> parameters,
                       node.FloatList("activation_params"));
  const Value& x = node.inputs[0];
  TIM_ASSIGN_OR_RETURN(
      const Convolution it,
      ConvolutionOf(node, x, node.inputs[1], OptionalOperand(node, 2)));
  TIM_ASSIGN_OR_RETURN(Value y, Convolve(node.builder, it, x.type));
  if (node.Has(3)) {
    if (node.inputs[3].dims != y.dims) {
      return InvalidArgument("operand 3 is ", Describe(node.inputs[3]),
                             " for a result ", Describe(y));
    }
    TIM_ASSIGN_OR_RETURN(
        y, Binary<vx::ops::Add>(node.builder, x.type, y, node.inputs[3]));
  }
  return node.SetOutput(0, Activated(node.builder, y, name, parameters));
}

Status FusedGemm(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 2, 3));
  TIM_RETURN_IF_ERROR(CheckAttributes(
      node, {"activation", "activation_alpha", "activation_beta",
             "activation_gamma", "alpha", "beta", "transA", "transB"}));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 0));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 1));
  TIM_ASSIGN_OR_RETURN(const Gemm gemm, GemmOf(node));
  TIM_ASSIGN_OR_RETURN(const std::string name, node.Text("activation", ""));
  std::vector<float> parameters;
  for (const char* attribute : {"activation_alpha", "activation_beta"}) {
    if (!node.HasAttribute(attribute)) break;
    TIM_ASSIGN_OR_RETURN(const float value, node.Float(attribute, 0.0f));
    parameters.push_back(value);
  }
  TIM_ASSIGN_OR_RETURN(
      const Value y,
      GeneralProduct(node.builder, node.inputs[0], node.inputs[1],
                     OptionalOperand(node, 2), gemm));
  return node.SetOutput(0, Activated(node.builder, y, name, parameters));
}

Status FusedMatMul(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 2, 2));
  TIM_RETURN_IF_ERROR(CheckAttributes(
      node, {"alpha", "transA", "transB", "transBatchA", "transBatchB"}));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 0));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 1));
  for (const char* batch : {"transBatchA", "transBatchB"}) {
    TIM_ASSIGN_OR_RETURN(const int64_t moved, node.Int(batch, 0));
    if (moved != 0) {
      return Unimplemented("attribute '", batch, "' is ", moved,
                           ", taken is 0");
    }
  }
  TIM_ASSIGN_OR_RETURN(Gemm gemm, GemmOf(node));
  // A vector is not transposed.
  gemm.form.transpose_a = gemm.form.transpose_a && node.inputs[0].rank() > 1;
  gemm.form.transpose_b = gemm.form.transpose_b && node.inputs[1].rank() > 1;
  TIM_ASSIGN_OR_RETURN(const Value y,
                       Multiplied(node.builder, node.inputs[0], node.inputs[1],
                                  gemm.form, Wanted::Of(node.inputs[0].type)));
  return node.SetOutput(0, Scaled(node.builder, y, gemm.alpha));
}

// Operand 0, and operand 1 added to it where it is there.
Result<Value> Biased(Node& node) {
  TIM_RETURN_IF_ERROR(CheckFloat(node, 0));
  if (!node.Has(1)) return node.inputs[0];
  TIM_RETURN_IF_ERROR(CheckFloat(node, 1));
  return Binary<vx::ops::Add>(node.builder, node.inputs[0].type, node.inputs[0],
                              node.inputs[1]);
}

Status BiasGelu(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 2, 2));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, {}));
  TIM_ASSIGN_OR_RETURN(const Value x, Biased(node));
  return node.SetOutput(0, Unary<vx::ops::Gelu>(node.builder, x, false));
}

Status Gelu(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 1, 1));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, {}));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 0));
  return node.SetOutput(
      0, Unary<vx::ops::Gelu>(node.builder, node.inputs[0], false));
}

Status FastGelu(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 1, 2));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, {}));
  TIM_ASSIGN_OR_RETURN(const Value x, Biased(node));
  return node.SetOutput(0, Unary<vx::ops::Gelu>(node.builder, x, true));
}

// x * sigmoid(alpha * x)
Status QuickGelu(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 1, 1));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, {"alpha"}));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 0));
  const Value& x = node.inputs[0];
  TIM_ASSIGN_OR_RETURN(const float alpha, node.Float("alpha", 1.702f));
  TIM_ASSIGN_OR_RETURN(Value gate, Scaled(node.builder, x, alpha));
  TIM_ASSIGN_OR_RETURN(gate, Unary<vx::ops::Sigmoid>(node.builder, gate));
  return node.SetOutput(
      0, Binary<vx::ops::Multiply>(node.builder, x.type, x, gate));
}

}  // namespace

void AddFused(OperatorTable* table) {
  table->Add(kDomain, "FusedConv", 1, FusedConv);
  table->Add(kDomain, "FusedGemm", 1, FusedGemm);
  table->Add(kDomain, "FusedMatMul", 1, FusedMatMul);
  table->Add(kDomain, "TransposeMatMul", 1, FusedMatMul);
  table->Add(kDomain, "BiasGelu", 1, BiasGelu);
  table->Add(kDomain, "Gelu", 1, Gelu);
  table->Add(kDomain, "FastGelu", 1, FastGelu);
  table->Add(kDomain, "QuickGelu", 1, QuickGelu);
}

}  // namespace tim::models::onnx
