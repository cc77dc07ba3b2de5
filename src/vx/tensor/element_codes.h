// Real values and codes of whole tensors on the host.
#ifndef TIM_VX_TENSOR_ELEMENT_CODES_H_
#define TIM_VX_TENSOR_ELEMENT_CODES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "ir/tensor_desc.h"

namespace tim::vx {

/// The bytes of a tensor that holds the real value 0 everywhere.
Result<std::vector<std::byte>> ZeroBytes(const ir::TensorDesc& desc);
/// Makes the real value 0 everywhere of memory that is zeros.
Status SetZeroPoints(const ir::TensorDesc& desc, void* memory);

/// Real values of the first `count` elements of a dense tensor.
void ToReal(const ir::TensorDesc& desc, const void* bytes,
            std::span<float> real);

/// Codes of real values: rint(x / scale) + zero point, saturated; 4-bit codes
/// take a byte each.
void ToCodes(const ir::TensorDesc& desc, std::span<const float> real,
             void* codes);

/// Codes as in `bytes`, 4-bit ones spread to a byte each.
void Unpack(const ir::TensorDesc& desc, const void* bytes, int64_t count,
            void* codes);

}  // namespace tim::vx

#endif  // TIM_VX_TENSOR_ELEMENT_CODES_H_
