// Converts and moves elements of constants on the host.
#include "models/build/constant_values.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace tim::models {
namespace {

using vx::DataType;

constexpr size_t kSmallBytes = 64 * 1024;

template <typename T>
std::optional<HostArray> InType(const std::vector<int64_t>& values,
                                const Dims& dims) {
  std::vector<T> out(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::in_range<T>(values[i])) return std::nullopt;
    out[i] = static_cast<T>(values[i]);
  }
  return ArrayOf(out, dims);
}

HostArray Truths(const std::vector<int64_t>& values, const Dims& dims) {
  std::vector<uint8_t> out(values.size());
  std::transform(values.begin(), values.end(), out.begin(),
                 [](int64_t value) -> uint8_t { return value != 0 ? 1 : 0; });
  HostArray array = ArrayOf(out, dims);
  array.type = DataType::BOOL8;
  return array;
}

// Product of the extents of dims[first], dims[first + 1] ...
int64_t CountFrom(const Dims& dims, size_t first) {
  int64_t count = 1;
  for (size_t i = first; i < dims.size(); ++i) count *= dims[i];
  return count;
}

}  // namespace

Result<HostArray> Narrowed(const HostArray& array) {
  TIM_ASSIGN_OR_RETURN(const std::vector<int64_t> values, Integers(array));
  if (auto narrow = InType<int32_t>(values, array.dims)) return *narrow;
  const auto wide = std::find_if(
      values.begin(), values.end(),
      [](int64_t value) { return !std::in_range<int32_t>(value); });
  return Unimplemented("element ", wide - values.begin(), " is ", *wide,
                       "; int64 is taken where 32 bits hold it");
}

std::optional<HostArray> CastOf(const HostArray& array, DataType type) {
  const auto values = Integers(array);
  if (!values.ok()) return std::nullopt;
  switch (type) {
    case DataType::INT8:
      return InType<int8_t>(*values, array.dims);
    case DataType::UINT8:
      return InType<uint8_t>(*values, array.dims);
    case DataType::INT16:
      return InType<int16_t>(*values, array.dims);
    case DataType::UINT16:
      return InType<uint16_t>(*values, array.dims);
    case DataType::INT32:
      return InType<int32_t>(*values, array.dims);
    case DataType::UINT32:
      return InType<uint32_t>(*values, array.dims);
    case DataType::INT64:
      return ArrayOf(*values, array.dims);
    case DataType::BOOL8:
      return Truths(*values, array.dims);
    default:
      return std::nullopt;
  }
}

bool IsSmall(const HostArray& array) {
  return array.bytes <= kSmallBytes && array.type != DataType::INT4 &&
         array.type != DataType::UINT4 && CheckWhole(array).ok();
}

HostArray Transposed(const HostArray& array,
                     const std::vector<int>& permutation) {
  const size_t rank = permutation.size();
  HostArray out = array;
  std::vector<int64_t> strides(rank);
  for (size_t i = 0; i < rank; ++i) {
    const auto from = static_cast<size_t>(permutation[i]);
    out.dims[i] = array.dims[from];
    strides[i] = CountFrom(array.dims, from + 1);
  }
  const int64_t count = array.ElementCount();
  if (count == 0) return out;
  const size_t size = array.bytes / static_cast<size_t>(count);
  // Memory of int64_t, so that every type is aligned.
  auto memory = std::make_shared<std::vector<int64_t>>(array.bytes / 8 + 1);
  auto* to = reinterpret_cast<std::byte*>(memory->data());
  const auto* from = static_cast<const std::byte*>(array.data.get());
  std::vector<int64_t> at(rank, 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t source = 0;
    for (size_t axis = 0; axis < rank; ++axis) {
      source += at[axis] * strides[axis];
    }
    std::memcpy(to + static_cast<size_t>(i) * size,
                from + static_cast<size_t>(source) * size, size);
    for (size_t axis = rank; axis-- > 0;) {
      if (++at[axis] < out.dims[axis]) break;
      at[axis] = 0;
    }
  }
  out.data = std::shared_ptr<const void>(memory, memory->data());
  return out;
}

Result<vx::Quantization> QuantizationInDims(const Value& value,
                                            const Dims& dims) {
  vx::Quantization quantization = value.quantization;
  const int32_t channel = quantization.ChannelDim();
  const bool per_channel =
      quantization.Type() == vx::QuantType::SYMMETRIC_PER_CHANNEL ||
      quantization.Type() == vx::QuantType::ASYMMETRIC_PER_CHANNEL;
  if (!per_channel || channel < 0 || channel >= value.rank()) {
    return quantization;
  }
  const auto axis = static_cast<size_t>(GraphAxis(channel, value.rank()));
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != value.dims[axis] ||
        CountFrom(dims, i + 1) != CountFrom(value.dims, axis + 1)) {
      continue;
    }
    quantization.SetChannelDim(
        GraphAxis(static_cast<int>(i), static_cast<int>(dims.size())));
    return quantization;
  }
  return Unimplemented("quantization per channel along axis ", axis, " of [",
                       StrJoin(value.dims, ","), "] has no axis in [",
                       StrJoin(dims, ","), "]");
}

}  // namespace tim::models
