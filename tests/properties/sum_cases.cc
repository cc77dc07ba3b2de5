#include "tests/properties/sum_cases.h"

namespace tim::testing {
namespace {

const std::vector<SumTypes>& AllSumTypes() {
  static const auto* const types = [] {
    auto* all = new std::vector<SumTypes>(KernelSumTypes());
    for (const SumTypes& each : EvalSumTypes()) all->push_back(each);
    return all;
  }();
  return *types;
}

}  // namespace

NodeCase SumCase(const SumNode& node, bool constant_weights, CaseRng& rng) {
  const std::vector<SumTypes>& types = AllSumTypes();
  SumOperands operands = RandomSumOperands(types[rng.Turn(types.size())],
                                           node.sizes, rng.engine());
  operands.output.shape = ir::Shape(node.output);
  NodeCase out = {.op = node.op,
                  .attributes = node.attributes,
                  .inputs = {operands.input, operands.weights},
                  .outputs = {operands.output}};
  if (constant_weights) out.constants[1] = rng.Data(operands.weights);
  if (!operands.bias) return out;
  out.inputs.push_back(operands.bias);
  auto& values = constant_weights ? out.constants : out.data;
  values[2] = RandomBias(operands, node.sizes.terms, rng.engine());
  return out;
}

double SumFlops(const NodeCase& node, int64_t terms) {
  return 2.0 * static_cast<double>(terms) *
         static_cast<double>(*node.outputs[0].shape.NumElements());
}

}  // namespace tim::testing
