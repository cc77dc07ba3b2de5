// Named attributes of operations.
#ifndef TIM_VX_ATTRIBUTE_H_
#define TIM_VX_ATTRIBUTE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace tim {
namespace vx {

/// The type that an attribute of C++ type T is kept as: bool, int64_t (also
/// for enums), double, std::string, or a vector of these.
template <typename T, typename Enable = void>
struct AttributeValue;

template <>
struct AttributeValue<bool> {
  using type = bool;
  static bool Keep(bool value) { return value; }
  static void Restore(bool kept, bool* value) { *value = kept; }
};

template <typename T>
struct AttributeValue<T,
                      typename std::enable_if<std::is_integral<T>::value ||
                                              std::is_enum<T>::value>::type> {
  using type = int64_t;
  static int64_t Keep(T value) { return static_cast<int64_t>(value); }
  static void Restore(int64_t kept, T* value) { *value = static_cast<T>(kept); }
};

/// Unsigned parameters of 32 bits that clients give negative numbers (an axis
/// from the end, a padding that crops, an extent left open) keep them: the last
/// 2^24 values are the numbers from -2^24 to -1.  Every smaller one is itself.
template <>
struct AttributeValue<std::uint32_t> {
  using type = int64_t;
  static int64_t Keep(std::uint32_t value) {
    constexpr std::uint32_t kFirstNegative = 0xFF000000u;
    const int64_t kept = value;
    return value < kFirstNegative ? kept : kept - (int64_t{1} << 32);
  }
  static void Restore(int64_t kept, std::uint32_t* value) {
    *value = static_cast<std::uint32_t>(kept);
  }
};

template <typename T>
struct AttributeValue<
    T, typename std::enable_if<std::is_floating_point<T>::value>::type> {
  using type = double;
  static double Keep(T value) { return static_cast<double>(value); }
  static void Restore(double kept, T* value) { *value = static_cast<T>(kept); }
};

template <>
struct AttributeValue<std::string> {
  using type = std::string;
  static std::string Keep(const std::string& value) { return value; }
  static void Restore(const std::string& kept, std::string* value) {
    *value = kept;
  }
};

template <typename T>
struct AttributeValue<std::vector<T>> {
  using Element = AttributeValue<T>;
  using type = std::vector<typename Element::type>;
  static type Keep(const std::vector<T>& value) {
    type kept;
    for (const T& element : value) kept.push_back(Element::Keep(element));
    return kept;
  }
  static void Restore(const type& kept, std::vector<T>* value) {
    value->clear();
    for (const auto& element : kept) {
      T restored;
      Element::Restore(element, &restored);
      value->push_back(restored);
    }
  }
};

template <typename T, std::size_t N>
struct AttributeValue<std::array<T, N>> {
  using type = typename AttributeValue<std::vector<T>>::type;
  static type Keep(const std::array<T, N>& value) {
    type kept(N);
    for (std::size_t i = 0; i < N; ++i) {
      kept[i] = AttributeValue<T>::Keep(value[i]);
    }
    return kept;
  }
};

/// A name and a value, as operator classes hand them to BuiltinOp.
class NamedAttribute {
 public:
  template <typename T>
  NamedAttribute(const char* name, const T& value) : name_(name) {
    Set(AttributeValue<T>::Keep(value));
  }
  NamedAttribute(const char* name, const char* value) : name_(name) {
    Set(std::string(value));
  }

  enum class Type { kBool, kInt, kFloat, kString, kInts, kFloats, kStrings };

  const char* name() const { return name_; }
  Type type() const { return type_; }
  /// Of these the one that type() names holds the value (kBool: number()).
  int64_t number() const { return int_; }
  double real() const { return float_; }
  const std::string& text() const { return string_; }
  const std::vector<int64_t>& numbers() const { return ints_; }
  const std::vector<double>& reals() const { return floats_; }
  const std::vector<std::string>& texts() const { return strings_; }

 private:
  void Set(bool value) {
    type_ = Type::kBool;
    int_ = value ? 1 : 0;
  }
  void Set(int64_t value) {
    type_ = Type::kInt;
    int_ = value;
  }
  void Set(double value) {
    type_ = Type::kFloat;
    float_ = value;
  }
  void Set(const std::string& value) {
    type_ = Type::kString;
    string_ = value;
  }
  void Set(const std::vector<int64_t>& value) {
    type_ = Type::kInts;
    ints_ = value;
  }
  void Set(const std::vector<double>& value) {
    type_ = Type::kFloats;
    floats_ = value;
  }
  void Set(const std::vector<std::string>& value) {
    type_ = Type::kStrings;
    strings_ = value;
  }

  const char* name_;
  Type type_ = Type::kInt;
  int64_t int_ = 0;
  double float_ = 0;
  std::string string_;
  std::vector<int64_t> ints_;
  std::vector<double> floats_;
  std::vector<std::string> strings_;
};

}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_ATTRIBUTE_H_
