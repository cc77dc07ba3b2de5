// What a schema says of its results' bytes: is_view, is_identity,
// in_place_offsets.
#include <algorithm>

#include "ir/op_schema.h"
#include "tests/properties/properties.h"

namespace tim::testing {
namespace {

bool Says(const std::function<bool(const ir::NodeView&)>& facet,
          const ir::NodeView& view) {
  return facet && facet(view);
}

// The inputs' bytes at the offsets, one after the other, are those of output 0.
bool AreConcatenated(const std::vector<int64_t>& offsets,
                     const std::vector<const TensorData*>& inputs,
                     const TensorData& output) {
  int64_t end = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr && offsets[i] == -1) continue;
    if (inputs[i] == nullptr || offsets[i] != end) return false;
    const auto& bytes = inputs[i]->bytes;
    const auto size = static_cast<int64_t>(bytes.size());
    if (end + size > static_cast<int64_t>(output.bytes.size()) ||
        !std::equal(bytes.begin(), bytes.end(), output.bytes.begin() + end)) {
      return false;
    }
    end += size;
  }
  return end == static_cast<int64_t>(output.bytes.size());
}

// Every output that lies in input 0 has its bytes there.
bool AreParts(const std::vector<int64_t>& offsets, const TensorData& input,
              const std::vector<TensorData>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (offsets[i] < 0) continue;
    const auto& bytes = outputs[i].bytes;
    const auto end = static_cast<int64_t>(bytes.size()) + offsets[i];
    if (end > static_cast<int64_t>(input.bytes.size()) ||
        !std::equal(bytes.begin(), bytes.end(),
                    input.bytes.begin() + offsets[i])) {
      return false;
    }
  }
  return true;
}

// Data of every operand; null where absent.
std::vector<const TensorData*> OperandData(
    const NodeCase& node, const std::vector<TensorData>& variable) {
  std::vector<const TensorData*> out;
  size_t next = 0;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const auto constant = node.constants.find(static_cast<int>(i));
    out.push_back(!node.inputs[i]                    ? nullptr
                  : constant != node.constants.end() ? &constant->second
                                                     : &variable[next++]);
  }
  return out;
}

}  // namespace

Status ViewsAgree(const Described& described, const NodeCase& node,
                  CaseRng& rng) {
  TIM_ASSIGN_OR_RETURN(const CaseView made,
                       CaseView::Create(node, described.registry));
  const ir::OpSchema& schema = made.schema();
  const bool is_view = Says(schema.is_view, made.view());
  const bool is_identity = Says(schema.is_identity, made.view());
  ir::InPlaceOffsets offsets;
  if (schema.in_place_offsets) offsets = schema.in_place_offsets(made.view());
  if (!is_view && !is_identity && offsets.inputs.empty() &&
      offsets.outputs.empty()) {
    return OkStatus();
  }
  TIM_ASSIGN_OR_RETURN(const TestNode test_node,
                       MakeNode(node, described.registry));
  const auto variable = CaseInputs(node, rng.engine());
  const auto inputs = OperandData(node, variable);
  TIM_ASSIGN_OR_RETURN(const auto outputs, Eval(test_node, variable));
  if ((is_view || is_identity) && inputs[0]->bytes != outputs[0].bytes) {
    return InvalidArgument(is_view ? "is_view" : "is_identity",
                           " holds, but output 0 has other bytes than input 0");
  }
  if (is_identity && inputs[0]->desc.shape != outputs[0].desc.shape) {
    return InvalidArgument(
        "is_identity holds, but output 0 has another shape than input 0");
  }
  if (!offsets.inputs.empty() &&
      !AreConcatenated(offsets.inputs, inputs, outputs[0])) {
    return InvalidArgument("in_place_offsets are [",
                           StrJoin(offsets.inputs, ", "),
                           "], but output 0 has not the inputs' bytes there");
  }
  if (!offsets.outputs.empty() &&
      !AreParts(offsets.outputs, *inputs[0], outputs)) {
    return InvalidArgument("in_place_offsets are [",
                           StrJoin(offsets.outputs, ", "),
                           "], but input 0 has not the outputs' bytes there");
  }
  return OkStatus();
}

}  // namespace tim::testing
