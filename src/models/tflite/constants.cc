// Permutes and dequantizes constants when a model is read.
#include "models/tflite/constants.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/half.h"
#include "base/parallel_for.h"

namespace tim::models::tflite {
namespace {

// Elements of `width` bytes, copied by the width's own type.
template <typename T>
void Permute(const HostArray& from, const std::vector<int>& order,
             const Dims& dims, void* to) {
  const size_t rank = order.size();
  std::vector<int64_t> steps(rank, 1);
  for (size_t i = rank; i-- > 1;) steps[i - 1] = steps[i] * from.dims[i];
  std::vector<int64_t> strides(rank);
  for (size_t i = 0; i < rank; ++i) strides[i] = steps[order[i]];
  const T* source = static_cast<const T*>(from.data.get());
  T* target = static_cast<T*>(to);
  const int64_t row = dims[rank - 1];
  const int64_t row_stride = strides[rank - 1];
  std::vector<int64_t> index(rank);
  const int64_t rows = row == 0 ? 0 : from.ElementCount() / row;
  int64_t place = 0;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t x = 0; x < row; ++x)
      *target++ = source[place + x * row_stride];
    for (size_t axis = rank - 1; axis-- > 0;) {
      place += strides[axis];
      if (++index[axis] < dims[axis]) break;
      place -= strides[axis] * dims[axis];
      index[axis] = 0;
    }
  }
}

// Whether only axes of extent 1 change their places.
bool KeepsOrder(const std::vector<int>& order, const Dims& dims) {
  int last = -1;
  for (const int axis : order) {
    if (dims[axis] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

template <typename T>
void Dequantize(const HostArray& array, const vx::Quantization& quantization,
                float* out) {
  const T* codes = static_cast<const T*>(array.data.get());
  const int64_t count = array.ElementCount();
  const auto& scales = quantization.Scales();
  const auto& zeros = quantization.ZeroPoints();
  int64_t inner = count;
  int64_t channels = 1;
  if (scales.size() > 1) {
    const size_t axis = array.dims.size() - 1 - quantization.ChannelDim();
    inner = 1;
    for (size_t i = axis + 1; i < array.dims.size(); ++i) {
      inner *= array.dims[i];
    }
    channels = array.dims[axis];
  }
  int64_t channel = 0;
  for (int64_t i = 0; i < count; i += inner) {
    const float scale = scales.empty() ? 1 : scales[channel];
    const int32_t zero =
        zeros.empty() ? 0 : zeros[std::min<size_t>(channel, zeros.size() - 1)];
    for (int64_t j = i; j < i + inner; ++j) {
      out[j] =
          static_cast<float>(static_cast<int64_t>(codes[j]) - zero) * scale;
    }
    channel = channel + 1 == channels ? 0 : channel + 1;
  }
}

// Pieces on all processors: half of the time goes into pages that `out` is the
// first to touch.
Status WidenHalves(const uint16_t* halves, size_t count, float* out) {
  constexpr size_t kPiece = size_t{1} << 20;
  const size_t pieces = count / kPiece + (count % kPiece != 0 ? 1 : 0);
  return ParallelFor(pieces, [&](size_t piece) {
    const size_t end = std::min(count, (piece + 1) * kPiece);
    for (size_t i = piece * kPiece; i < end; ++i) {
      out[i] = HalfToFloat(halves[i]);
    }
    return OkStatus();
  });
}

}  // namespace

HostArray PermutedArray(const HostArray& array, const std::vector<int>& order) {
  HostArray out;
  out.type = array.type;
  out.bytes = array.bytes;
  for (const int axis : order) out.dims.push_back(array.dims[axis]);
  if (KeepsOrder(order, array.dims) || array.bytes == 0) {
    out.data = array.data;
    return out;
  }
  auto memory = std::make_shared<std::vector<int64_t>>(array.bytes / 8 + 1);
  switch (ByteSizeOf(array.type, {})) {
    case 1:
      Permute<uint8_t>(array, order, out.dims, memory->data());
      break;
    case 2:
      Permute<uint16_t>(array, order, out.dims, memory->data());
      break;
    case 4:
      Permute<uint32_t>(array, order, out.dims, memory->data());
      break;
    default:
      Permute<uint64_t>(array, order, out.dims, memory->data());
      break;
  }
  out.data = std::shared_ptr<const void>(memory, memory->data());
  return out;
}

Result<HostArray> DequantizedArray(const HostArray& array,
                                   const vx::Quantization& quantization) {
  const auto count = static_cast<size_t>(array.ElementCount());
  // Zeros before them would take as long as the elements.
  const auto values = std::make_shared_for_overwrite<float[]>(count);
  float* const out = values.get();
  switch (array.type) {
    case vx::DataType::FLOAT16:
      TIM_RETURN_IF_ERROR(WidenHalves(
          static_cast<const uint16_t*>(array.data.get()), count, out));
      break;
    case vx::DataType::INT8:
      Dequantize<int8_t>(array, quantization, out);
      break;
    case vx::DataType::UINT8:
      Dequantize<uint8_t>(array, quantization, out);
      break;
    case vx::DataType::INT16:
      Dequantize<int16_t>(array, quantization, out);
      break;
    case vx::DataType::INT32:
      Dequantize<int32_t>(array, quantization, out);
      break;
    default:
      return Unimplemented("a constant of this type has no real values");
  }
  HostArray made;
  made.type = vx::DataType::FLOAT32;
  made.dims = array.dims;
  made.bytes = count * sizeof(float);
  made.data = std::shared_ptr<const void>(values, out);
  return made;
}

}  // namespace tim::models::tflite
