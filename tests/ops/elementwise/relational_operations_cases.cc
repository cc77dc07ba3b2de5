#include "tests/ops/elementwise/broadcast_cases.h"
#include "tim/vx/ops/relational_operations.h"

namespace tim::testing {
namespace {

namespace ops = vx::ops;
using ir::DataType;

const std::vector<std::string>& Types() {
  static const auto* const types = new std::vector<std::string>{
      "f32,f32>b8", "i32,i32>b8", "u8a,u8a>b8",   "f16,f16>b8",  "i8a,i8a>b8",
      "b8,b8>b8",   "i8d,i8d>b8", "i16a,i16a>b8", "f32,f32>i8",  "i16d,i16d>b8",
      "u8a,f32>b8", "f32,i32>b8", "u8,u8>b8",     "i64,i64>b8",  "i32,i64>i8",
      "u4a,u4a>b8", "i4a,u8a>b8", "i8c,i8a>b8",   "bf16,f32>b8", "f64,f64>b8",
      "i8a,f16>b8", "u8a,i8a>b8", "i32a,i32a>b8", "b8,i32>b8",
  };
  return *types;
}

template <typename Op>
OperatorCases Comparison() {
  const std::string op = StrCat("tim.", Op::OpName());
  const auto legal = [op](CaseRng& rng) {
    NodeCase node = BroadcastNode(op, Types(), rng);
    // Equal operands, which random ones of most types never are.
    if (node.inputs[0] == node.inputs[1] && rng.OneIn(2)) {
      node.data[0] = rng.Data(*node.inputs[0]);
      node.data[1] = node.data[0];
    }
    return node;
  };
  const auto illegal = [op] {
    const auto f32 = Desc(DataType::kFloat32, {4});
    const NodeCase node = {.op = op,
                           .inputs = {f32, f32},
                           .outputs = {Desc(DataType::kBool8, {4})}};
    auto out = IllegalShapes(node);
    out.push_back(WithInput(node, 0, DataType::kUint64));
    out.push_back(WithInput(node, 1, DataType::kUint64));
    out.push_back(WithOutput(node, DataType::kFloat32));
    out.push_back(WithOutput(node, DataType::kUint8));
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

TIM_CASES(relational_operations) {
  cases.Add(Comparison<ops::Greater>());
  cases.Add(Comparison<ops::GreaterOrEqual>());
  cases.Add(Comparison<ops::Less>());
  cases.Add(Comparison<ops::LessOrEqual>());
  cases.Add(Comparison<ops::Equal>());
  cases.Add(Comparison<ops::NotEqual>());
}

}  // namespace tim::testing
