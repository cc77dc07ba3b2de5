#include "ops/elements/sequence_axes.h"

#include <algorithm>
#include <utility>

#include "ir/op_schema.h"

namespace tim::ops {

ir::PermuteRule SwapBatchAndSteps(std::vector<int> inputs,
                                  std::vector<int> outputs) {
  return [inputs = std::move(inputs), outputs = std::move(outputs)](
             const ir::NodeView& view, int operand,
             std::span<const int> perm) -> Result<ir::PermutedNode> {
    const ir::Permutation swapped = {0, 2, 1};
    if (std::find(inputs.begin(), inputs.end(), operand) == inputs.end() ||
        !std::equal(perm.begin(), perm.end(), swapped.begin(), swapped.end())) {
      return Unimplemented("only batch and steps change places");
    }
    ir::PermutedNode out = ir::UnpermutedNode(view);
    out.attributes.Set("time_major", !out.attributes.Bool("time_major"));
    for (const int input : inputs) {
      if (input < std::ssize(out.inputs)) out.inputs[input] = swapped;
    }
    for (const int output : outputs) {
      if (output < std::ssize(out.outputs) &&
          out.attributes.Bool("return_sequences")) {
        out.outputs[output] = swapped;
      }
    }
    return out;
  };
}

}  // namespace tim::ops
