// Immutable tensors: the operands and results of all functions.
#ifndef TIM_VALUES_VALUE_H_
#define TIM_VALUES_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "tim/export.h"
#include "tim/values/device.h"
#include "tim/values/event.h"
#include "tim/values/types.h"

namespace tim {
namespace values {

namespace internal {
class ValueState;
struct TokenState;

/// The text becomes LastError().
TIM_API void SetLastError(const std::string& text);
/// True where memory of `type` may be read as elements of `bytes` bytes that
/// are floating-point, signed, or neither.
TIM_API bool Holds(Type type, size_t bytes, bool floating, bool is_signed);

/// The element type of a C++ type.
template <typename T>
struct TypeOf;
template <>
struct TypeOf<float> {
  static constexpr Type value = Type::kFloat32;
};
template <>
struct TypeOf<double> {
  static constexpr Type value = Type::kFloat64;
};
template <>
struct TypeOf<bool> {
  static constexpr Type value = Type::kBool8;
};
template <>
struct TypeOf<int8_t> {
  static constexpr Type value = Type::kInt8;
};
template <>
struct TypeOf<uint8_t> {
  static constexpr Type value = Type::kUint8;
};
template <>
struct TypeOf<int16_t> {
  static constexpr Type value = Type::kInt16;
};
template <>
struct TypeOf<uint16_t> {
  static constexpr Type value = Type::kUint16;
};
template <>
struct TypeOf<int32_t> {
  static constexpr Type value = Type::kInt32;
};
template <>
struct TypeOf<uint32_t> {
  static constexpr Type value = Type::kUint32;
};
template <>
struct TypeOf<int64_t> {
  static constexpr Type value = Type::kInt64;
};
template <>
struct TypeOf<uint64_t> {
  static constexpr Type value = Type::kUint64;
};
}  // namespace internal

/// Dense bytes of the host.
struct Plain {
  Spec spec = {};
  std::shared_ptr<const void> data = nullptr;
  size_t bytes = 0;

  explicit operator bool() const { return data != nullptr; }
  /// The elements, null where their type is another one.  uint16_t serves for
  /// the bits of 16-bit floats, uint8_t for kBool8 and packed 4-bit types.
  template <typename T>
  const T* As() const {
    static_assert(std::is_arithmetic<T>::value, "elements are numbers");
    return internal::Holds(spec.type, sizeof(T),
                           std::is_floating_point<T>::value,
                           std::is_signed<T>::value)
               ? static_cast<const T*>(data.get())
               : nullptr;
  }
};

/// A copy of dense bytes; without data where the spec's extents are not known.
TIM_API Plain MakePlain(const Spec& spec, const void* data);

/// A tensor that never changes.  A copy is a handle of the same one; it may
/// be pending, on any device, in any layout, or failed: what is done with a
/// failed value fails with its text.  Any thread.
class TIM_API Value {
 public:
  /// Failed: "no value".  As an operand that an operator can do without, it is
  /// an absent one.
  Value();
  /// float32 of rank 0.
  Value(float scalar);  // NOLINT: scalars are operands

  /// A copy of dense bytes.
  static Value FromHost(const Spec& spec, const void* data);
  /// The same, and the content never changes: kernels may prepare it once.
  static Value Constant(const Spec& spec, const void* data);
  /// The caller's memory, dense, which stays as it is until `release` is
  /// called, on any thread.
  static Value Wrap(const Spec& spec, void* data,
                    std::function<void()> release);
  /// A copy of `data`, which has as many elements as the shape.
  template <typename T>
  static Value Of(const Shape& shape, const std::vector<T>& data) {
    return FromElements(Spec(internal::TypeOf<T>::value, shape), data.data(),
                        data.size());
  }

  bool ok() const;
  /// The failure that is known now; empty where there is none.
  std::string error() const;
  /// Type, shape and quantization; unknown of a failed value.  Never blocks.
  Spec spec() const;
  Device device() const;
  /// True for a value of a graph that is being made: it has no bytes.
  bool symbolic() const;
  /// True where the value was recorded in lazy mode and has not been computed.
  bool pending() const;
  /// True where ToPlain() would return without waiting for work.
  bool ready() const;

  /// Dense bytes, which stay as long as the result; forces the value.  Empty
  /// where it failed, LastError() says why.
  Plain ToPlain() const;
  /// Copies the dense bytes to `data`, whose size must be their number.
  bool CopyTo(void* data, size_t bytes) const;
  /// The elements; empty where their type is another one.
  template <typename T>
  std::vector<T> ToVector() const {
    const Plain plain = ToPlain();
    if (!plain) return {};
    const T* const data = plain.As<T>();
    if (data == nullptr) {
      FailElements(sizeof(T));
      return {};
    }
    return std::vector<T>(data, data + plain.bytes / sizeof(T));
  }

  /// Event of the work that computes it; flushes it where it is pending.
  Event event() const;
  /// Forces the value; false where it failed, and error() says why.
  bool Wait() const;
  /// The same value with a name for messages.
  Value Named(const std::string& name) const;
  /// Spec and first elements; forces it.
  std::string ToString() const;

 private:
  friend struct internal::Access;
  static Value FromElements(const Spec& spec, const void* data, size_t count);
  static Value FromElements(const Spec& spec, const std::vector<bool>& data);
  void FailElements(size_t bytes) const;

  std::shared_ptr<internal::ValueState> state_;
};

template <>
inline Value Value::Of<bool>(const Shape& shape,
                             const std::vector<bool>& data) {
  return FromElements(Spec(Type::kBool8, shape), data);
}

/// The signal of a state change, to order what has effects.
class TIM_API Token {
 public:
  /// A token of a change that has been made.
  Token();
  bool ok() const;
  /// Blocks until the change has been made; whether it succeeded.
  bool Wait() const;

 private:
  friend struct internal::Access;
  std::shared_ptr<const internal::TokenState> state_;
};

using Function =
    std::function<std::vector<Value>(const std::vector<Value>& inputs)>;

}  // namespace values
}  // namespace tim

#endif  // TIM_VALUES_VALUE_H_
