#include "tests/properties/families/movement_cases.h"

#include <utility>

namespace tim::testing {

const std::vector<std::string>& MovedTypes() {
  static const auto* const types = new std::vector<std::string>{
      "f32>f32", "f16>f16",   "u8a>u8a", "i8a>i8a",   "i32>i32",
      "u8a>f32", "i16d>i16d", "f32>u8a", "i64>i64",   "b8>b8",
      "u8>u8",   "u4a>u4a",   "i4a>f32", "bf16>bf16", "i16a>i8a",
      "f64>f64", "i8c>i8c",   "u8c>f32", "f32>f16",   "i16>i32",
  };
  return *types;
}

NodeCase MovedNode(const std::string& op, ir::AttributeMap attributes,
                   std::vector<int64_t> input, std::vector<int64_t> output,
                   CaseRng& rng) {
  const TypeNames types = rng.Types(MovedTypes());
  return {.op = op,
          .attributes = std::move(attributes),
          .inputs = {rng.Desc(types.inputs[0], std::move(input))},
          .outputs = {rng.Desc(types.outputs[0], std::move(output))}};
}

NodeCase MovedFloats(const std::string& op, ir::AttributeMap attributes,
                     std::vector<int64_t> input, std::vector<int64_t> output) {
  return {.op = op,
          .attributes = std::move(attributes),
          .inputs = {Desc(ir::DataType::kFloat32, std::move(input))},
          .outputs = {Desc(ir::DataType::kFloat32, std::move(output))}};
}

double FlopsPerMoved(const NodeCase& node) {
  double flops = 0;
  for (const ir::TensorDesc& output : node.outputs) {
    flops += static_cast<double>(*output.shape.NumElements());
  }
  return flops;
}

}  // namespace tim::testing
