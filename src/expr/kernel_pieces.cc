// Spells types, numbers and indices in OpenCL C.
#include "expr/kernel_pieces.h"

#include <bit>
#include <limits>

namespace tim::expr {
namespace {

using ir::DataType;

struct ElementText {
  DataType type;
  const char* storage;
};
constexpr ElementText kElements[] = {
    {DataType::kInt8, "char"},       {DataType::kUint8, "uchar"},
    {DataType::kInt32, "int"},       {DataType::kInt64, "long"},
    {DataType::kBool8, "uchar"},     {DataType::kFloat16, "half"},
    {DataType::kBFloat16, "ushort"}, {DataType::kFloat32, "float"},
};

std::string LongText(int64_t value) {
  if (value == std::numeric_limits<int64_t>::min()) return "LONG_MIN";
  return value < 0 ? StrCat("(", value, "L)") : StrCat(value, "L");
}

}  // namespace

const char* StorageOf(DataType type) {
  for (const ElementText& entry : kElements) {
    if (entry.type == type) return entry.storage;
  }
  return nullptr;
}

// Integers wrap: they are computed without signs.
const char kHelpers[] = R"(
static inline long x_add(long a, long b) {
  return (long)((ulong)a + (ulong)b);
}
static inline long x_sub(long a, long b) {
  return (long)((ulong)a - (ulong)b);
}
static inline long x_mul(long a, long b) {
  return (long)((ulong)a * (ulong)b);
}
static inline long x_div(long a, long b) {
  if (b == 0) return a < 0 ? LONG_MIN : a > 0 ? LONG_MAX : 0;
  if (b == -1) return x_sub(0, a);
  const long q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
static inline long x_mod(long a, long b) {
  if (b == 0 || b == -1) return 0;
  const long rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
static inline long x_absl(long x) { return x < 0 ? x_sub(0, x) : x; }
static inline long x_s32l(long x) { return (long)convert_int_sat(x); }
static inline long x_s32(float x) {
  return (long)tim_to_code_int(trunc(x));
}
#define x_abs(x) fabs(x)
#define x_min(a, b) ((a) < (b) || (a) != (a) ? (a) : (b))
#define x_max(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
#define x_minl(a, b) min(a, b)
#define x_maxl(a, b) max(a, b)
#define x_divl(a, b) x_div(a, b)
#define x_modl(a, b) x_mod(a, b)
#define x_rsqrt(x) tim_quotient_float(1.0f, tim_sqrt(x))
#define x_floor(a, b) ((a) >= 0 ? (a) / (b) : -(((b)-1 - (a)) / (b)))
#define x_ceil(a, b) ((a) <= 0 ? -(-(a) / (b)) : ((a)-1) / (b) + 1)
static inline ushort x_to_bf16(float x) {
  const uint bits = as_uint(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (ushort)((bits >> 16) | 0x40u);
  return (ushort)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
)";

const char* TypeText(ValueKind kind) {
  constexpr const char* kNames[] = {"float", "long", "int"};
  return kNames[static_cast<int>(kind)];
}

std::string ScalarText(Scalar value, ValueKind kind) {
  if (kind == ValueKind::kFloat) {
    return StrCat("as_float(", std::bit_cast<uint32_t>(value.real), "u)");
  }
  return kind == ValueKind::kBool ? StrCat(value.integer)
                                  : LongText(value.integer);
}

std::string IdentityText(Aggregate aggregate, ValueKind kind) {
  const bool real = kind == ValueKind::kFloat;
  switch (aggregate) {
    case Aggregate::kProduct:
      return real ? "1.0f" : "1L";
    case Aggregate::kMaximum:
      return real ? "-INFINITY" : "LONG_MIN";
    case Aggregate::kMinimum:
      return real ? "INFINITY" : "LONG_MAX";
    default:
      return real ? "0.0f" : "0";
  }
}

std::string AffineText(const Affine& index) {
  std::string out;
  for (int v = 0; v < kMostVariables; ++v) {
    const int64_t c = index.coefficients[v];
    if (c == 0) continue;
    if (!out.empty() || c < 0) out += c < 0 ? " - " : " + ";
    const int64_t size = c < 0 ? -c : c;
    out += size == 1 ? StrCat("i", v) : StrCat(size, " * i", v);
  }
  if (out.empty()) return StrCat(index.constant);
  if (index.constant > 0) out += StrCat(" + ", index.constant);
  if (index.constant < 0) out += StrCat(" - ", -index.constant);
  return out;
}

}  // namespace tim::expr
