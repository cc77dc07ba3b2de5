// Reads the sample's model files: a text header, then the raw data.
#ifndef TIM_SAMPLES_DETECTION_MODEL_FILE_H_
#define TIM_SAMPLES_DETECTION_MODEL_FILE_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tim/vx/tensor.h"
#include "tim/vx/types.h"

namespace detection {

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

struct Model {
  std::uint32_t extent = 0;          // the input's width and height
  std::array<float, 4> scales = {};  // of y, x, h, w in box encodings
  std::vector<std::string> classes;
  std::map<std::string, StoredTensor> tensors;
};

/// Reads `path` into `model`. On failure returns false; `error` names the file
/// and says why: it cannot be opened, is no model, is shorter or longer than
/// its first line says, has another checksum, or a line that makes no sense.
/// Format: README.md. The data is little-endian, as the host has to be.
bool ReadModel(const std::string& path, Model* model, std::string* error);

}  // namespace detection

#endif  // TIM_SAMPLES_DETECTION_MODEL_FILE_H_
