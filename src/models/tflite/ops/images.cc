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
