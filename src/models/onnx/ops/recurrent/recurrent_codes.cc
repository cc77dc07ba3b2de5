// Weights of DynamicQuantizeLSTM: codes, scales and zero points of all
// directions, and those of one.
#include <cstdint>
#include <utility>
#include <vector>

#include "models/onnx/ops/codes.h"
#include "models/onnx/ops/compose.h"
#include "models/onnx/ops/operands.h"
#include "models/onnx/ops/recurrent/recurrent.h"

namespace tim::models::onnx {
namespace {

/// Operand `input`, of a scale or zero point for all columns of a direction, or
/// for each of them, as {D, 1} or {D, columns}.
Result<Value> PerDirection(Node& node, size_t input, int64_t directions,
                           int64_t columns) {
  const Value& value = node.inputs[input];
  const bool for_all = value.rank() == 1 && value.ElementCount() == directions;
  const bool for_each =
      value.rank() == 2 && value.dims == Dims{directions, columns};
  if (!for_all && !for_each) {
    return InvalidArgument("operand ", input, " is ", Describe(value),
                           ", expected [", directions, "] or [", directions,
                           ",", columns, "]");
  }
  return node.builder->Reshape(value, {directions, for_all ? 1 : columns});
}

/// Codes at operand `input` less the zero point at `scale` + 1.
Result<CodedMatrix> ReadMatrix(Node& node, size_t input, size_t scale,
                               const Dims& dims) {
  if (!node.Has(input) || !node.Has(scale)) {
    return InvalidArgument("operand ", node.Has(input) ? scale : input,
                           " is absent");
  }
  const Value& codes = node.inputs[input];
  if (codes.type != vx::DataType::INT8 && codes.type != vx::DataType::UINT8) {
    return Unimplemented("operand ", input, " is ", Describe(codes),
                         "; int8 and uint8 are taken");
  }
  if (codes.dims != dims) {
    return InvalidArgument("operand ", input, " is ", Describe(codes),
                           ", expected [", StrJoin(dims, ","), "]");
  }
  CodedMatrix matrix;
  TIM_RETURN_IF_ERROR(CheckFloat(node, scale));
  TIM_ASSIGN_OR_RETURN(matrix.scale,
                       PerDirection(node, scale, dims[0], dims[2]));
  Value zero;
  if (node.Has(scale + 1)) {
    if (node.inputs[scale + 1].type != codes.type) {
      return InvalidArgument("operand ", scale + 1, " is ",
                             Describe(node.inputs[scale + 1]), ", operand ",
                             input, " ", Describe(codes));
    }
    TIM_ASSIGN_OR_RETURN(zero, PerDirection(node, scale + 1, dims[0], dims[2]));
    TIM_ASSIGN_OR_RETURN(
        zero, node.builder->Reshape(zero, {dims[0], 1, zero.dims[1]}));
  }
  TIM_ASSIGN_OR_RETURN(matrix.codes, Centered(node.builder, codes, zero));
  return matrix;
}

Result<CodedMatrix> PartOf(Node& node, const CodedMatrix& all, int directions,
                           int index) {
  CodedMatrix made;
  TIM_ASSIGN_OR_RETURN(const std::vector<Value> codes,
                       Parts(node, all.codes, directions,
                             {all.codes.dims[1], all.codes.dims[2]}));
  TIM_ASSIGN_OR_RETURN(const std::vector<Value> scales,
                       Parts(node, all.scale, directions, {all.scale.dims[1]}));
  made.codes = codes[index];
  made.scale = scales[index];
  return made;
}

}  // namespace

Status ReadCodes(Node& node, RecurrentNode* made) {
  RecurrentLayer& layer = made->layer;
  const int64_t columns = layer.gates * layer.units;
  TIM_ASSIGN_OR_RETURN(
      layer.coded_w,
      ReadMatrix(node, 1, 8, {made->directions, layer.x.dims[2], columns}));
  TIM_ASSIGN_OR_RETURN(
      layer.coded_r,
      ReadMatrix(node, 2, 10, {made->directions, layer.units, columns}));
  return OkStatus();
}

Status TakeCodes(Node& node, const RecurrentNode& whole, int index,
                 RecurrentLayer* layer) {
  if (layer->coded_w.codes.IsAbsent()) return OkStatus();
  TIM_ASSIGN_OR_RETURN(layer->coded_w, PartOf(node, whole.layer.coded_w,
                                              whole.directions, index));
  TIM_ASSIGN_OR_RETURN(layer->coded_r, PartOf(node, whole.layer.coded_r,
                                              whole.directions, index));
  return OkStatus();
}

}  // namespace tim::models::onnx
