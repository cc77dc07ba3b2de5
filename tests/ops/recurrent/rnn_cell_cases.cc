#include "tests/properties/operator_cases.h"
#include "tim/vx/ops/rnn_cell.h"

namespace tim::testing {
namespace {

using Ints = std::vector<int64_t>;

ir::TensorDesc F32(Ints shape) {
  return Desc(ir::DataType::kFloat32, std::move(shape));
}

// input, weights, bias, state, recurrent weights
NodeCase Cell(int64_t width, int64_t units, int64_t batch) {
  return {.op = "tim.RNNCell",
          .inputs = {F32({width, batch}), F32({width, units}), F32({units}),
                     F32({units, batch}), F32({units, units})},
          .outputs = {F32({units, batch})}};
}

NodeCase Legal(CaseRng& rng) {
  NodeCase node = Cell(rng.Extent(), rng.Extent(17), rng.Int(1, 5));
  if (rng.OneIn(2)) node.outputs.push_back(node.outputs[0]);
  if (rng.OneIn(2)) return node;
  for (const int weights : {1, 2, 4}) {
    node.constants[weights] = rng.Data(*node.inputs[weights]);
  }
  return node;
}

double Flops(const NodeCase& node) {
  const double width = static_cast<double>(node.inputs[1]->shape[0]);
  const double units = static_cast<double>(node.inputs[1]->shape[1]);
  return 2 * (width + units) *
         static_cast<double>(*node.outputs[0].shape.NumElements());
}

std::vector<IllegalCase> Illegal() {
  NodeCase unbound = Cell(3, 2, 4);
  unbound.inputs.pop_back();
  NodeCase flat = Cell(3, 2, 4);
  flat.inputs[0] = F32({12});
  NodeCase state = Cell(3, 2, 4);
  state.inputs[3] = F32({2, 1});
  return {{unbound, "input 4 is not bound"},
          {flat, "input 0 must have rank 2"},
          {state, "input 3 is [2, 1]"}};
}

}  // namespace

// What its public class is made of: tests/vx/recurrent/rnn_cell_test.cc.
TIM_CASES(rnn_cell) {
  cases.Add(
      {.op = "tim.RNNCell",
       .legal = Legal,
       .illegal = Illegal,
       .tolerance = {.absolute = 5e-5},
       .flops = Flops,
       .shells = {ShellOf<vx::ops::RNNCell>({}, vx::ops::RNNCell::kTANH)}});
}

}  // namespace tim::testing
