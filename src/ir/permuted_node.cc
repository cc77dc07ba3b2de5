#include "ir/permuted_node.h"

#include <algorithm>

#include "ir/op_schema.h"

namespace tim::ir {
namespace {

std::string NameOf(const NodeView& view) {
  return view.node.composite ? view.node.name : view.node.schema->Key();
}

// Absent operands and unknown ranks take every permutation.
Status CheckPermutations(const NodeView& view, const PermutedNode& answer) {
  if (answer.inputs.size() != view.inputs.size() ||
      answer.outputs.size() != view.outputs.size()) {
    return TIM_INTERNAL(NameOf(view), " of ", view.inputs.size(),
                        " inputs and ", view.outputs.size(),
                        " outputs is permuted with ", answer.inputs.size(),
                        " and ", answer.outputs.size());
  }
  for (const auto* permutations : {&answer.inputs, &answer.outputs}) {
    for (const Permutation& p : *permutations) {
      if (IsPermutation(p)) continue;
      return TIM_INTERNAL(NameOf(view), " answers [", StrJoin(p, ", "),
                          "], which is no permutation");
    }
  }
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    const Permutation& p = answer.inputs[i];
    if (p.empty() || view.inputs[i] == nullptr) continue;
    if (static_cast<int>(p.size()) >= view.inputs[i]->shape.rank()) continue;
    return TIM_INTERNAL(NameOf(view), " answers [", StrJoin(p, ", "),
                        "] for input ", i, ", ",
                        view.inputs[i]->shape.ToString());
  }
  // A declared output may have another rank than the operator gives.
  for (size_t i = 0; i < view.outputs.size(); ++i) {
    const Permutation& p = answer.outputs[i];
    const Shape& shape = view.outputs[i]->shape;
    if (p.empty() || !shape.ranked()) continue;
    if (static_cast<int>(p.size()) == shape.rank()) continue;
    return Unimplemented("output ", i, ", ", shape.ToString(),
                         ", has another rank than its permutation [",
                         StrJoin(p, ", "), "]");
  }
  return OkStatus();
}

Status CheckQuestion(const NodeView& view, int operand,
                     std::span<const int> perm) {
  const auto count = static_cast<int>(view.inputs.size());
  if (operand < 0 || operand >= count || view.inputs[operand] == nullptr) {
    return InvalidArgument(NameOf(view), " has no input ", operand);
  }
  const Shape& shape = view.inputs[operand]->shape;
  if (IsPermutation(perm) && shape.ranked() &&
      shape.rank() == static_cast<int>(perm.size())) {
    return OkStatus();
  }
  return InvalidArgument(
      "[", StrJoin(std::vector(perm.begin(), perm.end()), ", "),
      "] is not a permutation of input ", operand, ", ", shape.ToString());
}

}  // namespace

PermutedNode UnpermutedNode(const NodeView& view) {
  return {.attributes = view.node.attributes,
          .inputs = std::vector<Permutation>(view.inputs.size()),
          .outputs = std::vector<Permutation>(view.outputs.size())};
}

Result<PermutedNode> PermuteNode(const NodeView& view, int operand,
                                 std::span<const int> perm) {
  TIM_RETURN_IF_ERROR(CheckQuestion(view, operand, perm));
  if (IsIdentity(perm)) return UnpermutedNode(view);
  if (view.node.composite || !view.node.schema->permute_rule) {
    return Unimplemented(NameOf(view), " does not let permutations through");
  }
  TIM_ASSIGN_OR_RETURN(PermutedNode answer,
                       view.node.schema->permute_rule(view, operand, perm));
  TIM_RETURN_IF_ERROR(CheckPermutations(view, answer));
  if (std::equal(perm.begin(), perm.end(), answer.inputs[operand].begin(),
                 answer.inputs[operand].end())) {
    return answer;
  }
  return TIM_INTERNAL(NameOf(view), " moves input ", operand,
                      " in another way than it was asked about");
}

Result<PermutedNode> NodeInDefaultLayout(const NodeView& view) {
  if (view.node.composite || !view.node.schema->layout_rule) {
    return UnpermutedNode(view);
  }
  TIM_ASSIGN_OR_RETURN(PermutedNode answer,
                       view.node.schema->layout_rule(view));
  TIM_RETURN_IF_ERROR(CheckPermutations(view, answer));
  return answer;
}

}  // namespace tim::ir
