// Layout arguments say what layout inference needs, and nothing else acts on
// them.
#include <algorithm>

#include "ir/op_schema.h"
#include "tests/properties/permuted_case.h"
#include "tests/properties/properties.h"
#include "tim/vx/types.h"

namespace tim::testing {
namespace {

constexpr int64_t kLayouts = static_cast<int64_t>(vx::DataLayout::OcIcWHD) + 1;

bool IsLayout(const ir::AttributeSpec& spec) {
  return spec.type == ir::AttributeType::kInt && spec.name.ends_with("layout");
}

Status CheckUnpermuted(const ir::NodeView& view) {
  TIM_ASSIGN_OR_RETURN(const ir::PermutedNode answer,
                       ir::NodeInDefaultLayout(view));
  for (const auto* permutations : {&answer.inputs, &answer.outputs}) {
    if (std::all_of(permutations->begin(), permutations->end(),
                    [](const auto& p) { return ir::IsIdentity(p); })) {
      continue;
    }
    return InvalidArgument("an axis moves of a node in default layouts");
  }
  if (answer.attributes == view.node.attributes) return OkStatus();
  return InvalidArgument("a node in default layouts gets the attributes ",
                         answer.attributes.ToString(), " for ",
                         view.node.attributes.ToString());
}

Status SameResults(const Described& described, const NodeCase& node,
                   const ir::AttributeMap& attributes, CaseRng& rng) {
  NodeCase other = node;
  other.attributes = attributes;
  TIM_ASSIGN_OR_RETURN(const TestNode a, MakeNode(node, described.registry));
  TIM_ASSIGN_OR_RETURN(const TestNode b, MakeNode(other, described.registry));
  const auto inputs = CaseInputs(node, rng.engine());
  TIM_ASSIGN_OR_RETURN(const auto expected, Eval(a, inputs));
  TIM_ASSIGN_OR_RETURN(const auto actual, Eval(b, inputs));
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].bytes == actual[i].bytes) continue;
    return InvalidArgument("output ", i, " depends on layout arguments");
  }
  return OkStatus();
}

}  // namespace

Status LayoutsAgree(const Described& described, const NodeCase& node,
                    CaseRng& rng) {
  TIM_ASSIGN_OR_RETURN(const CaseView plain,
                       CaseView::Create(node, described.registry));
  if (!plain.schema().layout_rule) return OkStatus();
  TIM_RETURN_IF_ERROR(CheckUnpermuted(plain.view()));
  NodeCase stated = node;
  for (const ir::AttributeSpec& spec : plain.schema().attributes) {
    if (!IsLayout(spec)) continue;
    stated.attributes.Set(spec.name, rng.Int(0, kLayouts - 1));
  }
  TIM_RETURN_IF_ERROR(SameResults(described, node, stated.attributes, rng));
  TIM_ASSIGN_OR_RETURN(const CaseView view,
                       CaseView::Create(stated, described.registry));
  const auto answer = ir::NodeInDefaultLayout(view.view());
  if (!answer.ok()) {
    const Status& status = answer.status();
    return status.message().find("layout") != std::string::npos ? OkStatus()
                                                                : status;
  }
  TIM_RETURN_IF_ERROR(
      SameResults(described, node, answer->attributes, rng)
          .WithContext("attributes of the node in default layouts"));
  stated.constants.clear();  // a view shows descriptions alone
  stated.data.clear();
  const NodeCase usual = PermutedCase(stated, *answer);
  TIM_ASSIGN_OR_RETURN(const CaseView again,
                       CaseView::Create(usual, described.registry));
  return CheckUnpermuted(again.view())
      .WithContext(StrCat("the answer to ", stated.attributes.ToString()));
}

}  // namespace tim::testing
