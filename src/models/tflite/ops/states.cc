// Reads and writes the states of recurrent layers.
#include "models/tflite/ops/states.h"

#include "tim/vx/ops/concat.h"

namespace tim::models::tflite {

Result<Value> ReadState(Node& node, size_t input, const Dims& dims) {
  if (!node.Has(input)) return Value();
  const Value& state = node.inputs[input];
  Value wanted;
  wanted.dims = dims;
  if (state.ElementCount() != wanted.ElementCount()) {
    // Sizes of states are those of the file, whatever inputs are given.
    return node.Refuse(StrCat("input ", input), "the state is ",
                       Describe(state), ", of extents [", StrJoin(dims, ","),
                       "] here");
  }
  return node.builder().Reshape(state, dims);
}

Wanted StateWanted(const Node& node, size_t input, const Dims& dims) {
  const Value& like = node.Has(input) ? node.inputs[input] : node.declared[0];
  return Wanted::Of(like.type, dims, like.quantization);
}

void WriteState(Node& node, size_t input, const Value& next) {
  if (!node.Has(input) || node.inputs[input].constant != nullptr) return;
  const Value& state = node.inputs[input];
  if (state.tensor->GetSpec().GetTensorAttribute() != vx::VARIABLE) return;
  node.workspace->updates.push_back({state, next});
}

Status SetDirections(Node& node, const Value& forward, const Value& backward,
                     bool merges) {
  if (merges) {
    return node.SetOutput(
        0, node.builder().Add<vx::ops::Concat>(
               {forward, backward}, node.WantedOf(0), uint32_t{0}, 2));
  }
  TIM_RETURN_IF_ERROR(node.SetOutput(0, forward));
  return node.SetOutput(1, backward);
}

}  // namespace tim::models::tflite
