// Scalars of custom operators' kernels.
#ifndef TIM_VX_OPS_CUSTOM_PARAM_H_
#define TIM_VX_OPS_CUSTOM_PARAM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tim/vx/half.h"
#include "tim/vx/types.h"

namespace tim {
namespace vx {
namespace ops {

/// A scalar argument of a kernel.  `type` says which member of `data` counts:
///   FLOAT32, FLOAT16     f            INT64           l
///   INT8, INT16, INT32   i            BOOL8           b
///   UINT8, UINT16, UINT32 ui
/// unless `wide` names one that DataType cannot.  A vector takes as many of
/// them as it has elements, one behind the other; `lanes` is that number in the
/// first, and 0 in the others.
struct Param {
  union {
    float f;
    int i;
    bool b;
    unsigned int ui;
    int64_t l;
    uint64_t ul;
    double d;
  } data;
  DataType type;
  enum class Wide : uint8_t { kNone, kUint64, kDouble } wide = Wide::kNone;
  uint8_t lanes = 1;
};

/// The scalar that a C++ value is.
template <typename T, typename Enable = void>
struct ParamOf {
  static_assert(sizeof(T) == 0,
                "a custom operator's scalar must be a bool, an integer, a "
                "float, a double or a tim::vx::Half");
};

template <>
struct ParamOf<bool> {
  static Param Make(bool value) {
    Param param;
    param.data.ul = 0;
    param.data.b = value;
    param.type = DataType::BOOL8;
    return param;
  }
};

template <typename T>
struct ParamOf<T, typename std::enable_if<std::is_integral<T>::value &&
                                          std::is_signed<T>::value>::type> {
  static Param Make(T value) {
    Param param;
    param.data.l = 0;
    param.type = sizeof(T) == 1   ? DataType::INT8
                 : sizeof(T) == 2 ? DataType::INT16
                 : sizeof(T) == 4 ? DataType::INT32
                                  : DataType::INT64;
    if (sizeof(T) == 8) {
      param.data.l = static_cast<int64_t>(value);
    } else {
      param.data.i = static_cast<int>(value);
    }
    return param;
  }
};

template <typename T>
struct ParamOf<T, typename std::enable_if<std::is_integral<T>::value &&
                                          std::is_unsigned<T>::value>::type> {
  static Param Make(T value) {
    Param param;
    param.data.ul = 0;
    param.type = sizeof(T) == 1   ? DataType::UINT8
                 : sizeof(T) == 2 ? DataType::UINT16
                                  : DataType::UINT32;
    if (sizeof(T) == 8) {
      param.type = DataType::UNKNOWN;
      param.wide = Param::Wide::kUint64;
      param.data.ul = static_cast<uint64_t>(value);
    } else {
      param.data.ui = static_cast<unsigned int>(value);
    }
    return param;
  }
};

template <>
struct ParamOf<float> {
  static Param Make(float value) {
    Param param;
    param.data.ul = 0;
    param.data.f = value;
    param.type = DataType::FLOAT32;
    return param;
  }
};

template <>
struct ParamOf<double> {
  static Param Make(double value) {
    Param param;
    param.data.d = value;
    param.type = DataType::UNKNOWN;
    param.wide = Param::Wide::kDouble;
    return param;
  }
};

template <>
struct ParamOf<Half> {
  static Param Make(Half value) {
    Param param;
    param.data.ul = 0;
    param.data.f = static_cast<float>(value);
    param.type = DataType::FLOAT16;
    return param;
  }
};

/// Appends the scalar that a C++ value is.
template <typename T>
struct AppendParam {
  static void To(std::vector<Param>& param_list, const T& value) {
    param_list.push_back(ParamOf<T>::Make(value));
  }
};

template <typename T, std::size_t N>
struct AppendParam<std::array<T, N>> {
  static_assert(N == 2 || N == 3 || N == 4 || N == 8 || N == 16,
                "a vector of OpenCL C has 2, 3, 4, 8 or 16 elements");
  static_assert(!std::is_same<T, bool>::value,
                "OpenCL C has no vectors of bool");

  static void To(std::vector<Param>& param_list,
                 const std::array<T, N>& values) {
    for (std::size_t i = 0; i < N; ++i) {
      param_list.push_back(ParamOf<T>::Make(values[i]));
      param_list.back().lanes = i == 0 ? static_cast<uint8_t>(N) : uint8_t{0};
    }
  }
};

/// Appends the elements of `tup`, from I on, to `param_list`: a bool, an
/// integer, a float, a double or a Half each, or a std::array of 2, 3, 4, 8 or
/// 16 of one of these but bool, which goes to a vector: std::array<float, 4> to
/// float4.  Other types do not compile.
template <std::size_t I = 0, typename... Ts>
typename std::enable_if<I == sizeof...(Ts)>::type param_transform(
    std::tuple<Ts...>, std::vector<Param>&) {}

template <std::size_t I = 0, typename... Ts>
typename std::enable_if<(I < sizeof...(Ts))>::type param_transform(
    std::tuple<Ts...> tup, std::vector<Param>& param_list) {
  using T = typename std::tuple_element<I, std::tuple<Ts...>>::type;
  AppendParam<typename std::remove_cv<T>::type>::To(param_list,
                                                    std::get<I>(tup));
  param_transform<I + 1>(tup, param_list);
}

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_CUSTOM_PARAM_H_
