#include "ir/data_type.h"

#include <limits>

namespace tim::ir {
namespace {

template <typename T>
constexpr DataTypeInfo Integer(DataType type, const char* name) {
  using Limits = std::numeric_limits<T>;
  // A uint64 code above the int64 range is not reachable by any operator.
  constexpr int64_t kMax = sizeof(T) == 8 ? std::numeric_limits<int64_t>::max()
                                          : static_cast<int64_t>(Limits::max());
  return {type,
          name,
          static_cast<int>(sizeof(T) * 8),
          Limits::is_signed ? NumberKind::kSigned : NumberKind::kUnsigned,
          static_cast<int64_t>(Limits::min()),
          kMax};
}

constexpr DataTypeInfo kTable[] = {
    {DataType::kUnknown, "unknown", 0, NumberKind::kNone, 0, 0},
    {DataType::kInt4, "int4", 4, NumberKind::kSigned, -8, 7},
    {DataType::kUint4, "uint4", 4, NumberKind::kUnsigned, 0, 15},
    Integer<int8_t>(DataType::kInt8, "int8"),
    Integer<uint8_t>(DataType::kUint8, "uint8"),
    Integer<int16_t>(DataType::kInt16, "int16"),
    Integer<uint16_t>(DataType::kUint16, "uint16"),
    Integer<int32_t>(DataType::kInt32, "int32"),
    Integer<uint32_t>(DataType::kUint32, "uint32"),
    Integer<int64_t>(DataType::kInt64, "int64"),
    Integer<uint64_t>(DataType::kUint64, "uint64"),
    {DataType::kBool8, "bool8", 8, NumberKind::kBool, 0, 1},
    {DataType::kFloat16, "float16", 16, NumberKind::kFloat, 0, 0},
    {DataType::kBFloat16, "bfloat16", 16, NumberKind::kFloat, 0, 0},
    {DataType::kFloat32, "float32", 32, NumberKind::kFloat, 0, 0},
    {DataType::kFloat64, "float64", 64, NumberKind::kFloat, 0, 0},
};

constexpr bool TableInOrder() {
  for (int i = 0; i < kDataTypeCount; ++i) {
    if (static_cast<int>(kTable[i].type) != i) return false;
  }
  return sizeof(kTable) / sizeof(kTable[0]) == kDataTypeCount;
}
static_assert(TableInOrder());

}  // namespace

const DataTypeInfo& Info(DataType type) {
  return kTable[static_cast<int>(type)];
}

}  // namespace tim::ir
