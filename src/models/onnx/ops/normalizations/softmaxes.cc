// Softmax, LogSoftmax and Hardmax.
#include "models/onnx/ops/compose.h"
#include "models/onnx/ops/normalizations/normalize.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/arg.h"
#include "tim/vx/ops/onehot.h"

namespace tim::models::onnx {
namespace {

// The extents that a node of these sees: before, along and behind its axis.
// Axes from the attribute's on are one before opset 13.
struct Row {
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;
};

Result<Row> RowOf(const Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 1, 1));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, {"axis"}));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 0));
  const Value& x = node.inputs[0];
  const bool flat = node.opset < 13;
  TIM_ASSIGN_OR_RETURN(const int64_t given, node.Int("axis", flat ? 1 : -1));
  const auto rank = x.dims.size();
  Row row;
  if (flat && given == x.rank()) {
    TIM_ASSIGN_OR_RETURN(row.outer, Product(x.dims, 0, rank));
    return row;
  }
  TIM_ASSIGN_OR_RETURN(const int axis, PositiveAxis(given, x.rank()));
  TIM_ASSIGN_OR_RETURN(row.outer, Product(x.dims, 0, axis));
  TIM_ASSIGN_OR_RETURN(row.length,
                       Product(x.dims, axis, flat ? rank : axis + 1));
  if (!flat) {
    TIM_ASSIGN_OR_RETURN(row.inner, Product(x.dims, axis + 1, rank));
  }
  return row;
}

Status SoftmaxOf(Node& node, SoftmaxKind kind) {
  TIM_ASSIGN_OR_RETURN(const Row row, RowOf(node));
  const Value& x = node.inputs[0];
  if (node.opset >= 13) {
    TIM_ASSIGN_OR_RETURN(const int axis, node.Axis("axis", -1, x.rank()));
    return node.SetOutput(0, SoftmaxAlong(node.builder, x, axis, kind));
  }
  if (x.rank() > 0 && x.dims.back() == row.length) {
    return node.SetOutput(0, SoftmaxAlong(node.builder, x, x.rank() - 1, kind));
  }
  TIM_ASSIGN_OR_RETURN(const Value rows,
                       node.builder->Reshape(x, {row.outer, row.length}));
  TIM_ASSIGN_OR_RETURN(const Value made,
                       SoftmaxAlong(node.builder, rows, 1, kind));
  return node.SetOutput(0, node.builder->Reshape(made, x.dims));
}

Status Softmax(Node& node) { return SoftmaxOf(node, SoftmaxKind::kSoftmax); }
Status LogSoftmax(Node& node) {
  return SoftmaxOf(node, SoftmaxKind::kLogSoftmax);
}

// 1 at the first of the greatest elements.
Status Hardmax(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Row row, RowOf(node));
  const Value& x = node.inputs[0];
  GraphBuilder* builder = node.builder;
  TIM_ASSIGN_OR_RETURN(const Value rows,
                       builder->Reshape(x, {row.outer, row.length, row.inner}));
  TIM_ASSIGN_OR_RETURN(
      const Value greatest,
      builder->Add<vx::ops::ArgMax>(
          {rows}, Wanted::Of(vx::DataType::INT32, {row.outer, row.inner}),
          int32_t{1}));
  TIM_ASSIGN_OR_RETURN(
      const Value made,
      builder->Add<vx::ops::OneHot>({greatest}, Wanted::Of(x.type, rows.dims),
                                    static_cast<int32_t>(row.length), 1.0f,
                                    0.0f, int32_t{1}));
  return node.SetOutput(0, builder->Reshape(made, x.dims));
}

}  // namespace

void AddSoftmaxes(OperatorTable* table) {
  table->Add("", "Softmax", 1, Softmax);
  table->Add("", "LogSoftmax", 1, LogSoftmax);
  table->Add("", "Hardmax", 1, Hardmax);
}

}  // namespace tim::models::onnx
