// Moves the channels of images, and reads what windows have in common.
#include "models/tflite/ops/images.h"

namespace tim::models::tflite {

Result<Value> ChannelsFirst(Node& node, const Value& value) {
  std::vector<int> order = {0, value.rank() - 1};
  for (int axis = 1; axis + 1 < value.rank(); ++axis) order.push_back(axis);
  return node.Permuted(value, order);
}

Result<Value> ChannelsLast(Node& node, const Value& value) {
  std::vector<int> order = {0};
  for (int axis = 2; axis < value.rank(); ++axis) order.push_back(axis);
  order.push_back(1);
  return node.Permuted(value, order);
}

Status SetImage(Node& node, Result<Value> made, fbs::Activation activation) {
  if (!made.ok()) return made.status();
  return node.SetActivated(0, ChannelsLast(node, *made), activation);
}

Result<std::vector<Value>> ConvolutionOperands(Node& node, size_t image,
                                               size_t weights, size_t bias,
                                               const std::vector<int>& order) {
  const int rank = static_cast<int>(order.size());
  TIM_RETURN_IF_ERROR(node.ExpectRank(image, rank));
  TIM_RETURN_IF_ERROR(node.ExpectRank(weights, rank));
  std::vector<Value> operands(2);
  TIM_ASSIGN_OR_RETURN(operands[0], ChannelsFirst(node, node.inputs[image]));
  TIM_ASSIGN_OR_RETURN(const Value real, node.WeightsFor(node.inputs[image],
                                                         node.inputs[weights]));
  TIM_ASSIGN_OR_RETURN(operands[1], node.Permuted(real, order));
  if (node.Has(bias)) {
    TIM_RETURN_IF_ERROR(node.ExpectRank(bias, 1));
    TIM_ASSIGN_OR_RETURN(
        Value added, node.WeightsFor(node.inputs[image], node.inputs[bias]));
    operands.push_back(std::move(added));
  }
  return operands;
}

Result<vx::PadType> PaddingOf(Node& node, fbs::Padding padding) {
  if (padding == fbs::Padding::SAME) return vx::PadType::SAME;
  if (padding == fbs::Padding::VALID) return vx::PadType::VALID;
  return node.Refuse("padding", "number ", static_cast<int>(padding),
                     "; SAME and VALID are taken");
}

Result<std::array<uint32_t, 2>> Cells(Node& node, const char* what, int width,
                                      int height) {
  if (width < 1 || height < 1) {
    return node.Refuse(what, "it is ", width, " wide and ", height, " high");
  }
  return std::array<uint32_t, 2>{static_cast<uint32_t>(width),
                                 static_cast<uint32_t>(height)};
}

}  // namespace tim::models::tflite
