#include "tests/ops/elementwise/broadcast_cases.h"
#include "tim/vx/ops/logical.h"

namespace tim::testing {
namespace {

namespace ops = vx::ops;
using ir::DataType;

template <typename Op>
OperatorCases Logic() {
  const std::string op = StrCat("tim.", Op::OpName());
  const auto legal = [op](CaseRng& rng) {
    return BroadcastNode(
        op, {"b8,b8>b8", "i8,i8>i8", "b8,i8>b8", "i8,i8>b8", "b8,b8>i8"}, rng);
  };
  const auto illegal = [op] {
    const auto b8 = Desc(DataType::kBool8, {4});
    const NodeCase node = {.op = op, .inputs = {b8, b8}, .outputs = {b8}};
    auto out = IllegalShapes(node);
    out.push_back(WithInput(node, 0, DataType::kFloat32));
    out.push_back(WithInput(node, 1, DataType::kUint8));
    out.push_back(WithOutput(node, DataType::kInt32));
    return out;
  };
  return {.op = op,
          .legal = legal,
          .illegal = illegal,
          .flops = FlopsPerElement(1),
          .shells = {ShellOf<Op>({})},
          .permute_rule = PermuteRule::kRequired};
}

}  // namespace

TIM_CASES(logical) {
  cases.Add(Logic<ops::LogicalAnd>());
  cases.Add(Logic<ops::LogicalOr>());
}

}  // namespace tim::testing
