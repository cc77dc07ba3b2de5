// Clip, whose limits are attributes, constants or what other nodes compute.
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "models/onnx/ops/elementwise/elementwise.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/clip.h"
#include "tim/vx/ops/elementwise.h"

namespace tim::models::onnx {
namespace {

namespace ops = vx::ops;
using vx::DataType;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Operand `input` as a limit of `x`; none where it is absent.
Result<std::optional<Value>> Limit(Node& node, size_t input, const Value& x) {
  if (!node.Has(input)) return std::optional<Value>();
  TIM_ASSIGN_OR_RETURN(Value limit, PlainOperand(node, input));
  TIM_RETURN_IF_ERROR(SameType(x, limit));
  if (limit.ElementCount() != 1) {
    return InvalidArgument("operand ", input, " is ", Describe(limit),
                           "; a limit is one element");
  }
  if (x.type != DataType::INT64 || limit.constant == nullptr) {
    return std::optional<Value>(std::move(limit));
  }
  // Elements of INT64 have 32 bits in the graph: what lies beyond is no limit
  // on its own side.
  TIM_ASSIGN_OR_RETURN(const std::vector<int64_t> value,
                       Integers(*limit.constant));
  const bool is_lower = input == 1;
  if (is_lower && value[0] < std::numeric_limits<int32_t>::min()) {
    return std::optional<Value>();
  }
  if (!is_lower && value[0] > std::numeric_limits<int32_t>::max()) {
    return std::optional<Value>();
  }
  return std::optional<Value>(std::move(limit));
}

/// The number that `limit` is, `otherwise` where there is none; NaN where it is
/// not known, or is NaN.
Result<float> Known(const std::optional<Value>& limit, float otherwise) {
  if (!limit.has_value()) return otherwise;
  if (limit->constant == nullptr) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  TIM_ASSIGN_OR_RETURN(const std::vector<float> value,
                       Floats(*limit->constant));
  return value[0];
}

Status ClipByAttributes(Node& node, const Value& x) {
  TIM_ASSIGN_OR_RETURN(const float least, node.Float("min", -kInfinity));
  TIM_ASSIGN_OR_RETURN(const float most, node.Float("max", kInfinity));
  if (std::isnan(least) || std::isnan(most)) {
    return InvalidArgument("attribute '", std::isnan(least) ? "min" : "max",
                           "' is NaN");
  }
  return node.SetOutput(0, Pointwise<ops::Clip>(node, x, x.type, least, most));
}

/// min(max(x, least), most), also where least > most.
Status Clip(Node& node) {
  TIM_ASSIGN_OR_RETURN(Value x, NumberOperand(node, 0));
  if (node.opset < 11) return ClipByAttributes(node, x);
  for (const char* name : {"min", "max"}) {
    if (node.HasAttribute(name)) {
      return InvalidArgument("attribute '", name,
                             "' is an operand since opset 11");
    }
  }
  TIM_ASSIGN_OR_RETURN(const std::optional<Value> least, Limit(node, 1, x));
  TIM_ASSIGN_OR_RETURN(const std::optional<Value> most, Limit(node, 2, x));
  if (!least.has_value() && !most.has_value()) {
    node.outputs.resize(1);
    node.outputs[0] = x;
    return OkStatus();
  }
  if (IsFloat(x.type)) {
    TIM_ASSIGN_OR_RETURN(const float low, Known(least, -kInfinity));
    TIM_ASSIGN_OR_RETURN(const float high, Known(most, kInfinity));
    if (!std::isnan(low) && !std::isnan(high)) {
      return node.SetOutput(0,
                            Pointwise<ops::Clip>(node, x, x.type, low, high));
    }
  }
  const Wanted like = Wanted::Of(x.type, x.dims);
  Value made = x;
  if (least.has_value()) {
    TIM_ASSIGN_OR_RETURN(made,
                         node.builder->Add<ops::Maximum>({made, *least}, like));
  }
  if (most.has_value()) {
    TIM_ASSIGN_OR_RETURN(made,
                         node.builder->Add<ops::Minimum>({made, *most}, like));
  }
  return node.SetOutput(0, std::move(made));
}

}  // namespace

void AddClips(OperatorTable* table) {
  table->Add("", "Clip", 6, Strict<Clip, 3, "min", "max">);
}

}  // namespace tim::models::onnx
