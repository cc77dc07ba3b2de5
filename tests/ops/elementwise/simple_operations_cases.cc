#include "tests/properties/pointwise_cases.h"
#include "tim/vx/ops/erf.h"
#include "tim/vx/ops/simple_operations.h"

namespace tim::testing {
namespace {

namespace ops = vx::ops;

template <typename Op>
OperatorCases Simple(double flops) {
  return UnaryCases(StrCat("tim.", Op::OpName()), flops, {ShellOf<Op>({})});
}

// Made of many operations, of which the estimate is rough.
template <typename Op>
OperatorCases Rough(double flops) {
  OperatorCases cases = Simple<Op>(flops);
  cases.flops_factor = 2;
  return cases;
}

// Truth values: bool8, or int8 as 0 and not 0.
OperatorCases LogicalNot() {
  const std::string op = "tim.LogicalNot";
  OperatorCases cases = Simple<ops::LogicalNot>(1);
  cases.legal = [op](CaseRng& rng) {
    return UnaryNode(op, {"b8>b8", "i8>i8", "b8>i8", "i8>b8"}, rng);
  };
  cases.illegal = [op] {
    const auto desc = Desc(ir::DataType::kBool8, {4});
    const NodeCase legal = {.op = op, .inputs = {desc}, .outputs = {desc}};
    std::vector<IllegalCase> out = IllegalOperands(legal);
    for (const auto& wrong :
         {Desc(ir::DataType::kFloat32, {4}), Desc(ir::DataType::kUint8, {4}),
          Desc(ir::DataType::kInt8, {4}, 0.5f, 1)}) {
      out.push_back({legal, "input 0 is " + wrong.ToString()});
      out.back().node.inputs[0] = wrong;
      out.push_back({legal, "output 0 is " + wrong.ToString()});
      out.back().node.outputs[0] = wrong;
    }
    out.push_back({legal, "declared as [5]"});
    out.back().node.outputs[0].shape = ir::Shape({5});
    out.back().node.declared = {true};
    return out;
  };
  return cases;
}

}  // namespace

TIM_CASES(simple_operations) {
  cases.Add(Simple<ops::Neg>(1));
  cases.Add(Simple<ops::Abs>(1));
  cases.Add(Simple<ops::Square>(1));
  cases.Add(Simple<ops::Floor>(1));
  cases.Add(Simple<ops::Ceil>(1));
  cases.Add(Simple<ops::Round>(1));
  cases.Add(LogicalNot());
  cases.Add(Rough<ops::Rcp>(40));
  cases.Add(Rough<ops::Sqrt>(30));
  cases.Add(Rough<ops::Rsqrt>(70));
  cases.Add(Rough<ops::Exp>(25));
  cases.Add(Rough<ops::Log>(35));
  cases.Add(Rough<ops::ATanh>(80));
  cases.Add(Rough<ops::ACosh>(100));
  cases.Add(Rough<ops::Erf>(120));
  cases.Add(Rough<ops::Sin>(30));
  cases.Add(Rough<ops::Cos>(30));
  cases.Add(Rough<ops::Tan>(70));
  cases.Add(Rough<ops::ATan>(60));
}

}  // namespace tim::testing
