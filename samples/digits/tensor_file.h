// Reads the sample's tensor files: a text header, then the raw data.
#ifndef TIM_SAMPLES_DIGITS_TENSOR_FILE_H_
#define TIM_SAMPLES_DIGITS_TENSOR_FILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tim/vx/tensor.h"
#include "tim/vx/types.h"

namespace digits {

/// What a file says about one tensor. `data` is empty for an activation, of
/// which the file gives only the type and the quantization.
struct StoredTensor {
  tim::vx::DataType type = tim::vx::DataType::UNKNOWN;
  float scale = 1.0f;
  std::int32_t zero_point = 0;
  tim::vx::ShapeType shape;  // fastest-varying dimension first
  std::vector<std::uint8_t> data;

  /// No quantization for FLOAT32, else ASYMMETRIC.
  tim::vx::Quantization Quantization() const;
};

using TensorFile = std::map<std::string, StoredTensor>;

/// Reads `path` into `file`. On failure returns false and says why in `error`.
/// Format: README.md. The data is little-endian, as the host has to be.
bool ReadTensorFile(const std::string& path, TensorFile* file,
                    std::string* error);

}  // namespace digits

#endif  // TIM_SAMPLES_DIGITS_TENSOR_FILE_H_
