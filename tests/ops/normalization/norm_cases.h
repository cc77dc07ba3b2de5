// What the descriptions of normalisations share.
#ifndef TIM_TESTS_OPS_NORMALIZATION_NORM_CASES_H_
#define TIM_TESTS_OPS_NORMALIZATION_NORM_CASES_H_

#include <string>
#include <vector>

#include "tests/properties/pointwise_cases.h"

namespace tim::testing {

/// Types of operators of one input.
inline std::vector<std::string> NormTypes() {
  return {
      "f32>f32",   "f16>f16", "u8a>u8a",  "i8a>i8a", "i16d>i16d",
      "i8d>i8d",   "u8a>f32", "f32>u8a",  "f16>f32", "i16a>i16a",
      "i32>f32",   "f32>i8a", "u16a>f16", "i32>i32", "i32a>u8a",
      "bf16>bf16", "f64>f32", "i8c>f32",  "u4a>u8a",
  };
}

/// A node of one input whose attribute "axis" is drawn.
inline NodeCase AxisNode(const std::string& op, CaseRng& rng) {
  NodeCase node = UnaryNode(op, NormTypes(), rng);
  node.attributes.Set("axis", rng.Axis(node.outputs[0].shape.rank()));
  return node;
}

/// Operands, types and axes that operators of `legal`'s kind refuse; its input
/// 0 has rank 2.
inline std::vector<IllegalCase> IllegalNorms(const NodeCase& legal,
                                             bool has_axis) {
  std::vector<IllegalCase> out = IllegalOperands(legal);
  out.push_back({legal, "input 0 is bool8, expected"});
  out.back().node.inputs[0]->type = ir::DataType::kBool8;
  out.push_back({legal, "output 0 is bool8, expected"});
  out.back().node.outputs[0].type = ir::DataType::kBool8;
  if (!has_axis) return out;
  for (const int64_t axis : {int64_t{2}, int64_t{-3}}) {
    out.push_back({legal, "is outside"});
    out.back().node.attributes.Set("axis", axis);
  }
  return out;
}

/// Gives input `input`, of a float type, values or a constant.
inline void SetParameter(NodeCase* node, int input, bool positive,
                         bool constant, CaseRng& rng) {
  const ir::TensorDesc& desc = *node->inputs[input];
  TensorData data = rng.Data(desc);
  const size_t bytes = ir::Info(desc.type).bits / 8;
  for (size_t i = bytes - 1; positive && i < data.bytes.size(); i += bytes) {
    data.bytes[i] &= std::byte{0x7f};  // the sign
  }
  (constant ? node->constants : node->data)[input] = std::move(data);
}

}  // namespace tim::testing

#endif  // TIM_TESTS_OPS_NORMALIZATION_NORM_CASES_H_
