// Element types, and one table of their facts.
#ifndef TIM_IR_DATA_TYPE_H_
#define TIM_IR_DATA_TYPE_H_

#include <cstdint>

namespace tim::ir {

enum class DataType : uint8_t {
  kUnknown,
  kInt4,
  kUint4,
  kInt8,
  kUint8,
  kInt16,
  kUint16,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kBool8,  ///< One byte, 0 or 1.
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
};
inline constexpr int kDataTypeCount = 16;

enum class NumberKind : uint8_t { kNone, kSigned, kUnsigned, kBool, kFloat };

struct DataTypeInfo {
  DataType type;
  const char* name;  ///< "float32"
  int bits;          ///< Per element; 4-bit elements are packed along dim 0.
  NumberKind kind;
  int64_t min;  ///< Least and greatest code of an integer type.
  int64_t max;
};

const DataTypeInfo& Info(DataType type);
inline const char* ToString(DataType type) { return Info(type).name; }

inline bool IsFloat(DataType type) {
  return Info(type).kind == NumberKind::kFloat;
}
/// Signed or unsigned integer of any width; not BOOL8.
inline bool IsInteger(DataType type) {
  return Info(type).kind == NumberKind::kSigned ||
         Info(type).kind == NumberKind::kUnsigned;
}

}  // namespace tim::ir

#endif  // TIM_IR_DATA_TYPE_H_
