// Reading and writing elements of any type in `eval`; C++ twin of
// kernels/elements.clh.
#ifndef TIM_KERNELS_ELEMENTS_H_
#define TIM_KERNELS_ELEMENTS_H_

#include <cstdint>

#include "ir/op_schema.h"
#include "kernels/requantize.h"

namespace tim::kernels {

/// The policy that an operation's reserved attributes ask for.
RequantizePolicy PolicyOf(const ir::AttributeMap& attributes);

/// Index along the quantization axis of element i of a dense tensor; 0 for
/// per-tensor quantization.
class ChannelIndex {
 public:
  explicit ChannelIndex(const ir::TensorDesc& desc);
  int64_t operator()(int64_t i) const {
    return channels_ == 1 ? 0 : i / stride_ % channels_;
  }

 private:
  int64_t stride_ = 1;
  int64_t channels_ = 1;
};

/// Elements of a dense tensor.
class ElementReader {
 public:
  explicit ElementReader(const ir::ConstTensor& tensor);
  /// float32 value of element i: float(code - zero_point) * scale.
  float Real(int64_t i) const;
  /// Stored integer of element i (BOOL8: 0 or 1); integer types only.
  int64_t Code(int64_t i) const;

 private:
  const ir::TensorDesc& desc_;
  const void* data_;
  ChannelIndex channel_;
};

class ElementWriter {
 public:
  explicit ElementWriter(const ir::MutableTensor& tensor,
                         RequantizePolicy policy = {});
  /// A real value: rounded to the type, or clamp(round(y / scale + zero)).
  void StoreReal(int64_t i, float real);
  /// A value in units of codes: clamp(round(units)); float types as is.
  void StoreUnits(int64_t i, float units);
  /// An integer, saturated (or wrapped) to the type; integer types and BOOL8.
  void StoreCode(int64_t i, int64_t code);

 private:
  void StoreBits(int64_t i, int64_t code);

  const ir::TensorDesc& desc_;
  const ir::DataTypeInfo& info_;
  void* data_;
  RequantizePolicy policy_;
  ChannelIndex channel_;
};

/// How an element becomes one of another type or quantization (the DataConvert
/// rule).
enum class ConvertRule : uint8_t {
  kBits,        ///< Equal elements: a copy.
  kInteger,     ///< Plain integers: saturated exactly.
  kRequantize,  ///< clamp(round(float(code - zero_in) * M + zero_out)) with
                ///< M = float(double(scale_in) / scale_out)
  kReal,        ///< A float type on one side: through the real value.
};
ConvertRule ConvertRuleOf(const ir::TensorDesc& from, const ir::TensorDesc& to);

/// Moves elements between tensors that may differ in type and quantization.
class ElementConverter {
 public:
  ElementConverter(const ir::ConstTensor& from, const ir::MutableTensor& to)
      : ElementConverter(from, to, ConvertRuleOf(*from.desc, *to.desc)) {}
  ElementConverter(const ir::ConstTensor& from, const ir::MutableTensor& to,
                   ConvertRule rule, RequantizePolicy policy = {});
  void Convert(int64_t from_index, int64_t to_index);

 private:
  void CopyBits(int64_t from_index, int64_t to_index);

  const ir::TensorDesc& from_;
  const ir::TensorDesc& to_;
  const void* from_data_;
  void* to_data_;
  ConvertRule rule_;
  ElementReader reader_;
  ElementWriter writer_;
  ChannelIndex from_channel_;
  ChannelIndex to_channel_;
};

/// No quantization and no float anywhere: exact 64-bit integer arithmetic.
bool IsPlainInteger(const ir::TensorDesc& desc);

/// float(double(in) / out): the multiplier of a requantization.
inline float Multiplier(float scale_in, float scale_out) {
  return static_cast<float>(static_cast<double>(scale_in) / scale_out);
}

}  // namespace tim::kernels

#endif  // TIM_KERNELS_ELEMENTS_H_
