// Element types, shapes, specs and attributes of tim::values.
#ifndef TIM_VALUES_TYPES_H_
#define TIM_VALUES_TYPES_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tim/export.h"

namespace tim {
namespace values {

class Graph;

namespace internal {
struct Access;  // the library's way into the handles
struct AttributeState;
}  // namespace internal

/// Element types.  4-bit elements are packed, two per byte along axis 0, each
/// row to a whole byte; kBool8 is one byte, 0 or 1.
enum class Type : uint8_t {
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
  kBool8,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64
};

/// Extents, fastest-varying axis first: an NCHW tensor is {W, H, C, N}.  The
/// rank may be unknown, and each extent known, bounded, or unknown.
class TIM_API Shape {
 public:
  static constexpr int64_t kUnknown = -1;

  /// A shape of unknown rank.
  Shape() = default;
  Shape(std::initializer_list<int64_t> extents)
      : ranked_(true), extents_(extents) {}
  explicit Shape(std::vector<int64_t> extents)
      : ranked_(true), extents_(std::move(extents)) {}
  /// A shape of rank 0: one element.
  static Shape Scalar();
  /// Extents as most frameworks order them: {N, C, H, W}.
  static Shape FromSlowestFirst(std::vector<int64_t> extents);

  /// The extent of `axis`, which is unknown, is at most `most`.
  Shape& SetBound(int axis, int64_t most);

  bool ranked() const { return ranked_; }
  /// 0 where it is unknown.
  int rank() const { return static_cast<int>(extents_.size()); }
  /// kUnknown where it is unknown, and for an axis that there is not.
  int64_t operator[](int axis) const;
  /// The extent where it is known, else its bound; kUnknown without one.
  int64_t Bound(int axis) const;
  /// Rank and every extent are known.
  bool IsStatic() const;
  /// -1 where it is unknown or overflows 63 bits.
  int64_t NumElements() const;
  /// "[28, 28, 1, ?]", "[?<=64]", "[...]" for unknown rank.
  std::string ToString() const;
  bool operator==(const Shape& other) const;
  bool operator!=(const Shape& other) const { return !(*this == other); }

 private:
  bool ranked_ = false;
  std::vector<int64_t> extents_;
  std::vector<int64_t> bounds_;  // empty, or one per axis
};

/// The meaning of an integer tensor's codes as real values.  `kind`:
/// 0 none: the code itself
/// 1 per tensor: (code - zero_points[0]) * scales[0]
/// 2 per channel: the same with those of the index along `axis`
/// 3 fixed point: code * 2^-fl
struct Quantization {
  int kind = 0;
  int axis = -1;
  std::vector<float> scales = {};
  std::vector<int32_t> zero_points = {};
  int fl = 0;
};

/// Facts about a tensor without its bytes.
struct TIM_API Spec {
  /// float32 of unknown rank.
  Spec();
  Spec(Type element_type, Shape extents);
  Type type;
  Shape shape;
  Quantization quantization;
};

/// An attribute of an operator.  Integers serve where an operator wants floats,
/// and names where it has an enumeration: {"pad_type", "same"}.
class TIM_API Attribute {
 public:
  Attribute(bool value);  // NOLINT: attributes are written as values
  template <typename Integer,
            typename std::enable_if<std::is_integral<Integer>::value &&
                                        !std::is_same<Integer, bool>::value,
                                    int>::type = 0>
  Attribute(Integer value)  // NOLINT
      : Attribute(FromInteger(static_cast<int64_t>(value))) {}
  Attribute(double value);                    // NOLINT
  Attribute(const char* value);               // NOLINT
  Attribute(std::string value);               // NOLINT
  Attribute(std::vector<int64_t> value);      // NOLINT
  Attribute(std::vector<double> value);       // NOLINT
  Attribute(std::vector<std::string> value);  // NOLINT
  Attribute(const Graph& value);              // NOLINT
  /// A move copies: no handle is left without what it stood for.
  Attribute(const Attribute& other) = default;
  Attribute& operator=(const Attribute& other) = default;

 private:
  friend struct internal::Access;
  static Attribute FromInteger(int64_t value);
  explicit Attribute(std::shared_ptr<const internal::AttributeState> state);

  std::shared_ptr<const internal::AttributeState> state_;
};

using Attributes = std::vector<std::pair<std::string, Attribute>>;

/// The text of the last failure on this thread; empty where there was none.
TIM_API std::string LastError();

}  // namespace values
}  // namespace tim

#endif  // TIM_VALUES_TYPES_H_
