// Random nodes of operators whose inputs broadcast.
#ifndef TIM_TESTS_OPS_ELEMENTWISE_BROADCAST_CASES_H_
#define TIM_TESTS_OPS_ELEMENTWISE_BROADCAST_CASES_H_

#include <string>
#include <vector>

#include "tests/properties/pointwise_cases.h"

namespace tim::testing {

/// Inputs and output of one of these combinations of types; each input has a
/// shape of its own.
inline NodeCase BroadcastNode(const std::string& op,
                              const std::vector<std::string>& types,
                              CaseRng& rng) {
  const TypeNames names = rng.Types(types);
  const auto whole = rng.Shape(1, 5, 4000);
  NodeCase out = {.op = op};
  std::vector<int64_t> result;
  for (const std::string& name : names.inputs) {
    const auto shape = rng.OneIn(2) ? rng.BroadcastFrom(whole) : whole;
    result = result.empty() ? shape : BroadcastOf(result, shape);
    out.inputs.push_back(rng.Desc(name, shape));
  }
  out.outputs = {rng.Desc(names.outputs[0], result)};
  return out;
}

/// What is wrong with the number of operands and with the shape of the last
/// input and of the output of a node of operands [4].
inline std::vector<IllegalCase> IllegalShapes(const NodeCase& legal) {
  std::vector<IllegalCase> out = IllegalOperands(legal);
  out.push_back({legal, "do not broadcast"});
  out.back().node.inputs.back()->shape = ir::Shape({3});
  out.push_back({legal, "declared as [5]"});
  out.back().node.outputs[0].shape = ir::Shape({5});
  out.back().node.declared = {true};
  return out;
}

/// An operand of a type that is not taken.
inline IllegalCase WithInput(const NodeCase& legal, int input,
                             ir::DataType type) {
  IllegalCase out = {legal,
                     StrCat("input ", input, " is ", ir::ToString(type))};
  out.node.inputs[static_cast<size_t>(input)] = Desc(type, {4});
  return out;
}
inline IllegalCase WithOutput(const NodeCase& legal, ir::DataType type) {
  IllegalCase out = {legal, StrCat("output 0 is ", ir::ToString(type))};
  out.node.outputs[0] = Desc(type, {4});
  return out;
}

}  // namespace tim::testing

#endif  // TIM_TESTS_OPS_ELEMENTWISE_BROADCAST_CASES_H_
