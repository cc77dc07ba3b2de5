// Table of ONNX's operators that choose elements by index.
#include "models/onnx/ops/gathers/gathers.h"

#include <cstdint>
#include <vector>

#include "base/str_cat.h"
#include "models/onnx/operator_families.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/relational_operations.h"
#include "tim/vx/ops/select.h"

namespace tim::models::onnx {
namespace gathers {

Result<Value> IndexOperand(const Node& node, size_t input, int64_t extent) {
  if (!node.Has(input)) return InvalidArgument("operand ", input, " is absent");
  const Value& value = node.inputs[input];
  if (value.type != vx::DataType::INT32 && value.type != vx::DataType::INT64) {
    return InvalidArgument("operand ", input, " is ", TypeText(value.type),
                           ", expected int32 or int64");
  }
  if (value.constant == nullptr || extent < 0) return value;
  TIM_ASSIGN_OR_RETURN(const auto indices, node.ConstantInts(input));
  for (const int64_t index : indices) {
    const auto place = PositiveIndex(index, extent);
    if (!place.ok()) {
      return place.status().WithContext(StrCat("operand ", input));
    }
  }
  return value;
}

Result<Value> AsInt32(const Node& node, const Value& indices) {
  if (indices.type == vx::DataType::INT32) return indices;
  if (indices.constant == nullptr) {
    Value narrow = indices;
    narrow.type = vx::DataType::INT32;
    return narrow;
  }
  TIM_ASSIGN_OR_RETURN(const auto wide, Integers(*indices.constant));
  return node.builder->ConstantOf(
      std::vector<int32_t>(wide.begin(), wide.end()), indices.dims);
}

Result<Value> PositiveIndices(const Node& node, const Value& indices,
                              int64_t extent) {
  TIM_ASSIGN_OR_RETURN(const Value narrow, AsInt32(node, indices));
  const auto added = static_cast<int32_t>(extent);
  GraphBuilder* const builder = node.builder;
  if (narrow.constant != nullptr) {
    TIM_ASSIGN_OR_RETURN(const auto values, Integers(*narrow.constant));
    std::vector<int32_t> positive(values.begin(), values.end());
    for (int32_t& value : positive) value += value < 0 ? added : 0;
    return builder->ConstantOf(positive, narrow.dims);
  }
  const Wanted like = Wanted::Of(vx::DataType::INT32, narrow.dims);
  TIM_ASSIGN_OR_RETURN(
      const Value negative,
      builder->Add<vx::ops::Less>(
          {narrow, builder->ConstantOf(std::vector<int32_t>{0}, {})},
          Wanted::Of(vx::DataType::BOOL8, narrow.dims)));
  TIM_ASSIGN_OR_RETURN(
      const Value moved,
      builder->Add<vx::ops::Add>(
          {narrow, builder->ConstantOf(std::vector<int32_t>{added}, {})},
          like));
  return builder->Add<vx::ops::Select>({negative, moved, narrow}, like);
}

}  // namespace gathers

void AddGathers(OperatorTable* table) {
  table->Add("", "Gather", 1, Strict<gathers::Gather, 2, "axis">);
  table->Add("", "GatherElements", 11,
             Strict<gathers::GatherElements, 2, "axis">);
  table->Add("", "GatherND", 11, Strict<gathers::GatherND, 2, "batch_dims">);
  table->Add("", "Scatter", 9,
             Strict<gathers::ScatterElements, 3, "axis", "reduction">);
  table->Add("", "ScatterElements", 11,
             Strict<gathers::ScatterElements, 3, "axis", "reduction">);
  table->Add("", "ScatterND", 11, Strict<gathers::ScatterND, 3, "reduction">);
  table->Add("", "OneHot", 9, Strict<gathers::OneHot, 3, "axis">);
  table->Add("", "TopK", 1,
             Strict<gathers::TopK, 2, "k", "axis", "largest", "sorted">);
  table->Add("", "NonMaxSuppression", 10, gathers::NonMaxSuppression);
  table->Add("", "Unique", 11, Strict<gathers::Unique, 1, "axis", "sorted">);
}

}  // namespace tim::models::onnx
