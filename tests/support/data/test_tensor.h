// Tensors of tests: made by hand or at random, read as real values, compared.
#ifndef TIM_TESTS_SUPPORT_DATA_TEST_TENSOR_H_
#define TIM_TESTS_SUPPORT_DATA_TEST_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/tensor_desc.h"

namespace tim::testing {

/// A dense tensor.
struct TensorData {
  ir::TensorDesc desc;
  std::vector<std::byte> bytes;
};

/// `shape` of `type`, not quantized.
ir::TensorDesc Desc(ir::DataType type, std::vector<int64_t> shape);
/// Per-tensor quantized.
ir::TensorDesc Desc(ir::DataType type, std::vector<int64_t> shape, float scale,
                    int32_t zero_point);
/// Fixed point: real = code * 2^-fl.
ir::TensorDesc DescFixed(ir::DataType type, std::vector<int64_t> shape, int fl);

/// A desc of the type that a short name of the specification means, with random
/// scale, zero point or fl: "f32", "f16", "bf16", "f64", "b8", "i32" and other
/// plain integers; "u8a", "i8a", "i16a", "u16a", "i32a", "u4a", "i4a"
/// quantized; "i8d", "i16d" fixed point; "i8c", "u8c" per channel along `axis`.
ir::TensorDesc DescOf(const std::string& name, std::vector<int64_t> shape,
                      std::mt19937& rng, int axis = 0);

/// `rank` extents, mostly of 1, 2, 3, 5, 16, 31, 32 and 33, at most `limit`
/// elements.
std::vector<int64_t> RandomShape(int rank, std::mt19937& rng,
                                 int64_t limit = 20000);

/// T is the storage type (uint16_t holds the bits of a half).
template <typename T>
TensorData MakeTensor(const ir::TensorDesc& desc, const std::vector<T>& data) {
  TensorData out{desc, std::vector<std::byte>(data.size() * sizeof(T))};
  std::memcpy(out.bytes.data(), data.data(), out.bytes.size());
  return out;
}
template <typename T>
std::vector<T> Values(const TensorData& tensor) {
  std::vector<T> out(tensor.bytes.size() / sizeof(T));
  std::memcpy(out.data(), tensor.bytes.data(), out.size() * sizeof(T));
  return out;
}
/// Real value of every element, in double: (code - zero point) * scale.  4-bit
/// and per-channel tensors too.
std::vector<double> RealValues(const TensorData& tensor);
/// Stored integer of every element; integer types and BOOL8.
std::vector<int64_t> Codes(const TensorData& tensor);

/// Random codes or values of a static desc: integers over their whole range,
/// float types normally distributed (deviation 2) with some exact zeros.
TensorData RandomTensor(const ir::TensorDesc& desc, std::mt19937& rng);

/// Largest difference allowed: absolute + relative * |expected|.  Used for
/// float types only; other types must be equal bit for bit.  Infinities and
/// NaN must agree.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

/// Ok, or the first element that differs.
Status CompareTensors(const TensorData& expected, const TensorData& actual,
                      Tolerance tolerance = {});

/// `actual` against real results of a reference in double: integers must be a
/// nearest code of clamp(expected / scale + zero point), with a hundredth of a
/// code to spare for arithmetic in float; float types within `tolerance` or
/// their own rounding.
Status CheckReal(const TensorData& actual, const std::vector<double>& expected,
                 Tolerance tolerance = {.absolute = 1e-6, .relative = 1e-6});

/// Bytes of a dense tensor in `layout` (dense or blocked); tail lanes hold the
/// real value 0.
Result<std::vector<std::byte>> ToLayout(const TensorData& dense,
                                        const ir::Layout& layout);
/// The reverse.  Fails where a tail lane is not the real value 0.
Result<TensorData> FromLayout(const std::vector<std::byte>& bytes,
                              const ir::TensorDesc& desc);

/// A generator whose seed is printed, and taken from TIMCL_TEST_SEED if set.
std::mt19937 SeededRng(uint32_t seed);

/// A desc of this type: uint8, int8 and int16 with random scale and zero point
/// or fixed point, the others not quantized.
ir::TensorDesc RandomDesc(ir::DataType type, const std::vector<int64_t>& dims,
                          std::mt19937& rng);

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_DATA_TEST_TENSOR_H_
