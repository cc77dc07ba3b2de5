#include "ops/elements/operands.h"

#include <algorithm>

#include "base/ascii.h"
#include "ops/elements/shapes.h"

namespace tim::ops {
namespace {

const ir::TensorDesc& DescOf(const ir::NodeView& view, Operand operand,
                             int index) {
  return operand == Operand::kInput ? *view.inputs[index]
                                    : *view.outputs[index];
}

const char* NameOf(Operand operand) {
  return operand == Operand::kInput ? "input " : "output ";
}

// eval computes in int64_t.
bool IsNumber(ir::DataType type) {
  return (ir::IsFloat(type) || ir::IsInteger(type)) &&
         type != ir::DataType::kUint64;
}

}  // namespace

Status CheckNumber(const ir::NodeView& view, Operand operand, int index) {
  const ir::DataType type = DescOf(view, operand, index).type;
  if (IsNumber(type)) return OkStatus();
  return InvalidArgument(
      NameOf(operand), index, " is ", ir::ToString(type),
      ", expected a float or integer type other than uint64");
}

Status CheckNumberOrBool(const ir::NodeView& view, Operand operand, int index) {
  const ir::DataType type = DescOf(view, operand, index).type;
  if (IsNumber(type) || type == ir::DataType::kBool8) return OkStatus();
  return InvalidArgument(
      NameOf(operand), index, " is ", ir::ToString(type),
      ", expected bool8, a float or integer type other than uint64");
}

Status CheckTruth(const ir::NodeView& view, Operand operand, int index) {
  const ir::TensorDesc& desc = DescOf(view, operand, index);
  const bool legal =
      desc.type == ir::DataType::kBool8 || desc.type == ir::DataType::kInt8;
  if (legal && !desc.quantized()) return OkStatus();
  return InvalidArgument(NameOf(operand), index, " is ", desc.ToString(),
                         ", expected bool8 or int8 without quantization");
}

Status CheckKnownType(const ir::NodeView& view, Operand operand, int index) {
  if (DescOf(view, operand, index).type != ir::DataType::kUnknown) {
    return OkStatus();
  }
  return InvalidArgument(NameOf(operand), index, " has no data type");
}

Status CheckChannels(const ir::TensorDesc& output) {
  const ir::Quantization& quantization = output.quantization;
  if (!output.quantized() || !quantization.per_channel()) return OkStatus();
  const int axis = quantization.axis;
  const auto given = static_cast<int64_t>(
      std::max(quantization.scales.size(), quantization.zero_points.size()));
  if (given == 1) return OkStatus();
  if (axis >= 0 && axis < output.shape.rank() &&
      (output.shape[axis] == given || output.shape[axis] == ir::kUnknownDim)) {
    return OkStatus();
  }
  return InvalidArgument("the output ", output.shape.ToString(), " has ", given,
                         " channels of quantization along axis ", axis,
                         "; declare as many as there are");
}

std::string LowerCase(std::string text) {
  for (char& c : text) c = AsciiLower(c);
  return text;
}

double ElementwiseCost(const ir::KernelNode& node, const ir::DeviceInfo& device,
                       const Price& price) {
  const AnchorView anchor(node);
  return EstimateMicroseconds(
      node.anchor->schema->compute_estimate(anchor.view()), device, price);
}

}  // namespace tim::ops
