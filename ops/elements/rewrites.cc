// Conditions of rules for operators that are spelled out in smaller ones.
#include "ops/elements/rewrites.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tim::ops {

ir::Pattern EitherOrder(const std::string& op, ir::Pattern a, ir::Pattern b) {
  ir::Pattern out = ir::Pattern::Op(op, {std::move(a), std::move(b)});
  out.any_order = true;
  if (op == "tim.Multiply") out.attributes = {{"scale", 1.0}};
  return out;
}

bool IsFloat32(const ir::PatternMatch& match) {
  const auto is_float32 = [&](ir::ValueId id) {
    const ir::TensorDesc& desc = match.graph->value(id).desc;
    return id == ir::kNone ||
           (desc.type == ir::DataType::kFloat32 && !desc.quantized());
  };
  return std::all_of(match.nodes.begin(), match.nodes.end(),
                     [&](ir::NodeId id) {
                       const ir::Node& node = match.graph->node(id);
                       return std::all_of(node.inputs.begin(),
                                          node.inputs.end(), is_float32) &&
                              std::all_of(node.outputs.begin(),
                                          node.outputs.end(), is_float32);
                     });
}

std::optional<float> ScalarOf(const ir::PatternMatch& match,
                              const std::string& name) {
  const auto found = match.values.find(name);
  if (found == match.values.end()) return std::nullopt;
  const ir::Value& value = match.graph->value(found->second);
  if (value.constant == nullptr || value.role != ir::Role::kConstant ||
      value.desc.type != ir::DataType::kFloat32 ||
      value.constant->bytes.size() < sizeof(float) ||
      value.desc.shape.NumElements() != 1) {
    return std::nullopt;
  }
  float scalar = 0;
  std::memcpy(&scalar, value.constant->bytes.data(), sizeof(scalar));
  return scalar;
}

bool IsScalar(const ir::PatternMatch& match, const std::string& name,
              double expected) {
  const std::optional<float> found = ScalarOf(match, name);
  return found &&
         std::fabs(*found - expected) <=
             std::fabs(expected) * std::numeric_limits<float>::epsilon();
}

}  // namespace tim::ops
