// permute_rule commutes with eval.
#include <algorithm>

#include "ir/op_schema.h"
#include "tests/properties/permuted_case.h"
#include "tests/properties/properties.h"

namespace tim::testing {
namespace {

// Any, or one that leaves a plane [W, H] in front, where operators are that
// need it.
ir::Permutation RandomPermutation(int rank, CaseRng& rng) {
  if (rank < 3 || rng.OneIn(2)) return rng.Permutation(rank);
  ir::Permutation out = {0, 1};
  if (rng.OneIn(2)) std::swap(out[0], out[1]);
  for (const int axis : rng.OneIn(2) ? rng.Permutation(rank - 2)
                                     : ir::IdentityPermutation(rank - 2)) {
    out.push_back(axis + 2);
  }
  return out;
}

bool IsOfWholeBytes(const NodeCase& node) {
  const auto whole = [](const ir::TensorDesc& desc) {
    return ir::Info(desc.type).bits >= 8;
  };
  for (const auto& input : node.inputs) {
    if (input && !whole(*input)) return false;
  }
  return std::all_of(node.outputs.begin(), node.outputs.end(), whole);
}

Status AnswerAgrees(const Described& described, const NodeCase& node,
                    const ir::PermutedNode& answer, CaseRng& rng) {
  TIM_ASSIGN_OR_RETURN(const TestNode plain,
                       MakeNode(node, described.registry));
  const NodeCase permuted_case = PermutedCase(node, answer);
  TIM_RETURN_IF_ERROR(ShapesAgree(described, permuted_case, rng)
                          .WithContext("the permuted node"));
  TIM_ASSIGN_OR_RETURN(const TestNode permuted,
                       MakeNode(permuted_case, described.registry));
  const auto inputs = CaseInputs(node, rng.engine());
  TIM_ASSIGN_OR_RETURN(const auto expected, Eval(plain, inputs));
  TIM_ASSIGN_OR_RETURN(const auto actual,
                       Eval(permuted, PermutedInputs(node, inputs, answer)));
  for (size_t i = 0; i < expected.size(); ++i) {
    TIM_RETURN_IF_ERROR(
        CompareTensors(PermutedData(expected[i], answer.outputs[i]), actual[i],
                       ToleranceOf(expected[i].desc, described.cases.tolerance))
            .WithContext(StrCat("output ", i)));
  }
  return OkStatus();
}

}  // namespace

Status PermutedNodeAgrees(const Described& described, const NodeCase& node,
                          CaseRng& rng) {
  TIM_ASSIGN_OR_RETURN(const CaseView view,
                       CaseView::Create(node, described.registry));
  const PermuteRule rule = described.cases.permute_rule;
  if (!view.schema().permute_rule) {
    return rule != PermuteRule::kBarrier
               ? InvalidArgument("the schema has no permute_rule")
               : OkStatus();
  }
  Status refused;
  bool answered = false;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i]) continue;
    const int operand = static_cast<int>(i);
    const auto perm = RandomPermutation(node.inputs[i]->shape.rank(), rng);
    const auto answer = ir::PermuteNode(view.view(), operand, perm);
    if (!answer.ok()) {
      refused = answer.status();
      continue;
    }
    answered = true;
    if (!IsOfWholeBytes(node)) continue;
    TIM_RETURN_IF_ERROR(AnswerAgrees(described, node, *answer, rng)
                            .WithContext(StrCat("input ", i, " permuted by [",
                                                StrJoin(perm, ", "), "]")));
  }
  return rule == PermuteRule::kRequired && !answered ? refused : OkStatus();
}

}  // namespace tim::testing
