#include "device/opencl/user/image_header.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/checked_math.h"

namespace tim::device {
namespace {

using ir::DataType;

// The element types at their number in custom_images.cl.
constexpr DataType kElementTypes[] = {
    DataType::kFloat32, DataType::kFloat16, DataType::kInt8,  DataType::kUint8,
    DataType::kInt16,   DataType::kUint16,  DataType::kInt32, DataType::kUint32,
    DataType::kInt64,   DataType::kBool8,
};

std::optional<int> NumberOf(DataType type) {
  const auto* const found =
      std::find(std::begin(kElementTypes), std::end(kElementTypes), type);
  if (found == std::end(kElementTypes)) return std::nullopt;
  return static_cast<int>(found - std::begin(kElementTypes));
}

// Width, height and layers; each within an int, and the bytes within int64_t.
struct Extents {
  int64_t width = 1;
  int64_t height = 1;
  int64_t layers = 1;
};

std::optional<Extents> ExtentsOf(const ir::UserTensorArg& tensor) {
  Extents extents;
  std::optional<int64_t> bytes = ir::Info(tensor.type).bits / 8;
  for (size_t i = 0; i < tensor.dims.size(); ++i) {
    const int64_t dim = tensor.dims[i];
    if (dim < 1 || dim > std::numeric_limits<cl_int>::max())
      return std::nullopt;
    bytes = CheckedMul(*bytes, dim);
    if (!bytes) return std::nullopt;
    if (i == 0) extents.width = dim;
    if (i == 1) extents.height = dim;
    if (i >= 2) extents.layers *= dim;
  }
  if (extents.layers > std::numeric_limits<cl_int>::max()) return std::nullopt;
  if (!CheckedAdd(*bytes, kImageHeaderBytes)) return std::nullopt;
  return extents;
}

}  // namespace

Status CheckImage(ImageKind kind, const ir::UserTensorArg& tensor) {
  if (!NumberOf(tensor.type)) {
    return InvalidArgument("a tensor type the kernel does not take: images ",
                           "have no elements of ", ToString(tensor.type));
  }
  const auto extents = ExtentsOf(tensor);
  if (!extents) {
    return InvalidArgument("an image has 1 to ",
                           std::numeric_limits<cl_int>::max(),
                           " columns, rows and layers");
  }
  if (kind == ImageKind::kImage2d && extents->layers > 1) {
    return InvalidArgument("an image2d_t has one layer, the tensor ",
                           extents->layers, "; write image2d_array_t");
  }
  return OkStatus();
}

Result<ImageHeader> ImageHeaderOf(const ir::UserTensorArg& tensor) {
  const auto extents = ExtentsOf(tensor);
  const auto number = NumberOf(tensor.type);
  if (!extents || !number) return TIM_INTERNAL(tensor.name, " is no image");
  return ImageHeader{.width = static_cast<cl_int>(extents->width),
                     .height = static_cast<cl_int>(extents->height),
                     .layers = static_cast<cl_int>(extents->layers),
                     .type = *number};
}

}  // namespace tim::device
