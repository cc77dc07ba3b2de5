// C++ side of kernels/bytes/codes.clh: which real values become the same codes
// by fewer operations.
#ifndef TIM_KERNELS_BYTES_CODES_H_
#define TIM_KERNELS_BYTES_CODES_H_

#include <optional>

#include "ir/tensor_desc.h"

namespace tim::kernels {

/// Compares, for every real value that an operation can have, ElementWriter's
/// StoreReal (saturating, to nearest even) with what codes.clh computes.
class BoundedCodes {
 public:
  /// For results like `y`: of none unless they are of 8 bits, quantized by
  /// tensor or not at all.
  explicit BoundedCodes(const ir::TensorDesc& y);

  void Add(float real);

  /// -DCORRECTIONS of codes.clh, the fewest that give the same codes for all
  /// values; none where it does not.
  std::optional<int> corrections() const;

 private:
  void Compare(float real);

  float scale_ = 1.0f;
  float inverse_ = 1.0f;
  float zero_ = 0.0f;
  float low_ = 0.0f;
  float high_ = 0.0f;
  bool equal_[2] = {true, true};  // By the number of corrections.
};

/// Whether codes of 8 bits become those of another quantization, by
/// ConvertRule::kRequantize, with units below 2^22.
bool AreBoundedCodes(const ir::TensorDesc& from, const ir::TensorDesc& to);

}  // namespace tim::kernels

#endif  // TIM_KERNELS_BYTES_CODES_H_
