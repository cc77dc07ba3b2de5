// MatMul, Gemm and MatMulInteger.
#include <string>
#include <vector>

#include "models/onnx/operator_families.h"
#include "models/onnx/ops/operands.h"
#include "models/onnx/ops/products/einsum.h"
#include "models/onnx/ops/products/product.h"

namespace tim::models::onnx {
namespace {

Status CheckFactors(const Node& node) {
  for (size_t i = 0; i < 2; ++i) {
    const vx::DataType type = node.inputs[i].type;
    if (!IsFloat(type) && type != vx::DataType::INT32 &&
        type != vx::DataType::INT64) {
      return Unimplemented("operand ", i, " is ", Describe(node.inputs[i]),
                           ", float types, int32 and int64 are taken");
    }
  }
  if (node.inputs[0].type == node.inputs[1].type) return OkStatus();
  return InvalidArgument("operands ", Describe(node.inputs[0]), " and ",
                         Describe(node.inputs[1]), " are of different types");
}

Status MatMul(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 2, 2));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, {}));
  TIM_RETURN_IF_ERROR(CheckFactors(node));
  return node.SetOutput(
      0, Multiplied(node.builder, node.inputs[0], node.inputs[1], {},
                    Wanted::Of(node.inputs[0].type)));
}

Status GemmNode(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 2, 3));
  TIM_RETURN_IF_ERROR(
      CheckAttributes(node, {"alpha", "beta", "transA", "transB"}));
  TIM_RETURN_IF_ERROR(CheckFactors(node));
  TIM_ASSIGN_OR_RETURN(const Gemm gemm, GemmOf(node));
  return node.SetOutput(
      0, GeneralProduct(node.builder, node.inputs[0], node.inputs[1],
                        OptionalOperand(node, 2), gemm));
}

Status MatMulInteger(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 2, 4));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, {}));
  return node.SetOutput(
      0, IntegerProduct(node.builder, node.inputs[0], OptionalOperand(node, 2),
                        node.inputs[1], OptionalOperand(node, 3)));
}

Status EinsumNode(Node& node) {
  TIM_RETURN_IF_ERROR(CheckAttributes(node, {"equation"}));
  TIM_ASSIGN_OR_RETURN(const std::string equation, node.Text("equation", ""));
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    TIM_RETURN_IF_ERROR(CheckOperands(node, i + 1, node.inputs.size()));
    TIM_RETURN_IF_ERROR(CheckFloat(node, i));
  }
  return node.SetOutput(0, Einsum(node.builder, equation, node.inputs));
}

}  // namespace

void AddProducts(OperatorTable* table) {
  table->Add("", "MatMul", 1, MatMul);
  table->Add("", "Gemm", 7, GemmNode);
  table->Add("", "MatMulInteger", 10, MatMulInteger);
  table->Add("", "Einsum", 12, EinsumNode);
}

}  // namespace tim::models::onnx
