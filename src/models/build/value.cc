// Elements and shapes of a model's tensors.
#include "models/build/value.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "base/checked_math.h"
#include "base/half.h"

namespace tim::models {
namespace {

using vx::DataType;

struct TypeRow {
  const char* name;
  int bits;
};

// Types by their number.
constexpr std::array<TypeRow, 13> kTypes = {{{"unknown", 0},
                                             {"int8", 8},
                                             {"uint8", 8},
                                             {"int16", 16},
                                             {"uint16", 16},
                                             {"int32", 32},
                                             {"uint32", 32},
                                             {"int64", 64},
                                             {"float16", 16},
                                             {"float32", 32},
                                             {"bool", 8},
                                             {"int4", 4},
                                             {"uint4", 4}}};

const TypeRow& RowOf(DataType type) {
  const auto index = static_cast<size_t>(type);
  return kTypes[index < kTypes.size() ? index : 0];
}

// -1 where it exceeds 63 bits or an extent is negative.
int64_t Product(std::span<const int64_t> dims) {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) {
    return std::all_of(dims.begin(), dims.end(),
                       [](int64_t extent) { return extent >= 0; })
               ? 0
               : -1;
  }
  int64_t count = 1;
  for (const int64_t extent : dims) {
    const auto next = CheckedMul(count, extent);
    if (extent < 0 || !next) return -1;
    count = *next;
  }
  return count;
}

template <typename T>
constexpr DataType kTypeOf = DataType::UNKNOWN;
template <>
constexpr DataType kTypeOf<float> = DataType::FLOAT32;
template <>
constexpr DataType kTypeOf<int8_t> = DataType::INT8;
template <>
constexpr DataType kTypeOf<uint8_t> = DataType::UINT8;
template <>
constexpr DataType kTypeOf<int16_t> = DataType::INT16;
template <>
constexpr DataType kTypeOf<uint16_t> = DataType::UINT16;
template <>
constexpr DataType kTypeOf<int32_t> = DataType::INT32;
template <>
constexpr DataType kTypeOf<uint32_t> = DataType::UINT32;
template <>
constexpr DataType kTypeOf<int64_t> = DataType::INT64;

// Elements of `Stored`, each through `convert`.
template <typename Stored, typename Out, typename Convert>
void Append(const HostArray& array, const Convert& convert,
            std::vector<Out>* out) {
  const auto* bytes = static_cast<const std::byte*>(array.data.get());
  for (size_t i = 0; i < out->size(); ++i) {
    Stored element;
    std::memcpy(&element, bytes + i * sizeof(Stored), sizeof(Stored));
    (*out)[i] = convert(element);
  }
}

// Integers and truth values; false for other types.
template <typename Out>
bool AppendIntegers(const HostArray& array, std::vector<Out>* out) {
  const auto convert = [](auto element) { return static_cast<Out>(element); };
  switch (array.type) {
    case DataType::INT8:
      return Append<int8_t>(array, convert, out), true;
    case DataType::UINT8:
      return Append<uint8_t>(array, convert, out), true;
    case DataType::BOOL8:
      Append<uint8_t>(
          array, [](uint8_t element) { return Out(element != 0 ? 1 : 0); },
          out);
      return true;
    case DataType::INT16:
      return Append<int16_t>(array, convert, out), true;
    case DataType::UINT16:
      return Append<uint16_t>(array, convert, out), true;
    case DataType::INT32:
      return Append<int32_t>(array, convert, out), true;
    case DataType::UINT32:
      return Append<uint32_t>(array, convert, out), true;
    case DataType::INT64:
      return Append<int64_t>(array, convert, out), true;
    default:
      return false;
  }
}

}  // namespace

int64_t HostArray::ElementCount() const { return Product(dims); }
int64_t Value::ElementCount() const { return Product(dims); }

Status CheckWhole(const HostArray& array) {
  const int64_t bytes = ByteSizeOf(array.type, array.dims);
  if (bytes >= 0 && static_cast<uint64_t>(bytes) == array.bytes &&
      (array.bytes == 0 || array.data != nullptr)) {
    return OkStatus();
  }
  return InvalidArgument("a constant of ", array.bytes, " bytes is not ",
                         TypeName(array.type), " [", StrJoin(array.dims, ","),
                         "]");
}

template <typename T>
HostArray ArrayOf(const std::vector<T>& values, Dims dims) {
  auto kept = std::make_shared<const std::vector<T>>(values);
  return {kTypeOf<T>, std::move(dims), values.size() * sizeof(T),
          std::shared_ptr<const void>(kept, kept->data())};
}
template HostArray ArrayOf(const std::vector<float>&, Dims);
template HostArray ArrayOf(const std::vector<int8_t>&, Dims);
template HostArray ArrayOf(const std::vector<uint8_t>&, Dims);
template HostArray ArrayOf(const std::vector<int16_t>&, Dims);
template HostArray ArrayOf(const std::vector<uint16_t>&, Dims);
template HostArray ArrayOf(const std::vector<int32_t>&, Dims);
template HostArray ArrayOf(const std::vector<uint32_t>&, Dims);
template HostArray ArrayOf(const std::vector<int64_t>&, Dims);

Result<std::vector<int64_t>> Integers(const HostArray& array) {
  TIM_RETURN_IF_ERROR(CheckWhole(array));
  std::vector<int64_t> out(static_cast<size_t>(array.ElementCount()));
  if (AppendIntegers(array, &out)) return out;
  return InvalidArgument("integers are expected, the type is ",
                         TypeName(array.type));
}

Result<std::vector<float>> Floats(const HostArray& array) {
  TIM_RETURN_IF_ERROR(CheckWhole(array));
  std::vector<float> out(static_cast<size_t>(array.ElementCount()));
  if (array.type == DataType::FLOAT32) {
    Append<float>(
        array, [](float element) { return element; }, &out);
    return out;
  }
  if (array.type == DataType::FLOAT16) {
    Append<uint16_t>(array, HalfToFloat, &out);
    return out;
  }
  if (AppendIntegers(array, &out)) return out;
  return InvalidArgument("numbers are expected, the type is ",
                         TypeName(array.type));
}

int64_t ByteSizeOf(DataType type, const Dims& dims) {
  const int bits = RowOf(type).bits;
  if (bits >= 8 || dims.empty()) {
    const auto bytes = CheckedMul(Product(dims), std::max(bits / 8, 1));
    return bytes ? std::max<int64_t>(*bytes, -1) : -1;
  }
  Dims packed = dims;
  if (bits == 4) packed.back() = packed.back() / 2 + packed.back() % 2;
  return Product(packed);
}

const char* TypeName(DataType type) { return RowOf(type).name; }

DataType GraphType(DataType type) {
  return type == DataType::INT64 ? DataType::INT32 : type;
}

vx::ShapeType GraphShape(const Dims& dims) {
  if (dims.empty()) return {1};
  return vx::ShapeType(dims.rbegin(), dims.rend());
}

Dims ModelDims(const vx::ShapeType& shape) {
  return Dims(shape.rbegin(), shape.rend());
}

std::string Describe(const Value& value) {
  if (value.IsAbsent()) return "absent";
  return StrCat(TypeName(value.type), " [", StrJoin(value.dims, ","), "]",
                value.constant != nullptr ? ", constant" : "");
}

Result<Dims> BroadcastDims(const Dims& a, const Dims& b) {
  Dims out = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  const size_t lead = out.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& extent = out[lead + i];
    if (extent == shorter[i] || shorter[i] == 1) continue;
    if (extent != 1) {
      return InvalidArgument("shapes [", StrJoin(a, ","), "] and [",
                             StrJoin(b, ","), "] do not fit each other");
    }
    extent = shorter[i];
  }
  return out;
}

Result<int> PositiveAxis(int64_t axis, int rank) {
  if (axis >= -rank && axis < rank) {
    return static_cast<int>(axis < 0 ? axis + rank : axis);
  }
  return InvalidArgument("axis ", axis, " is outside of rank ", rank);
}

}  // namespace tim::models
