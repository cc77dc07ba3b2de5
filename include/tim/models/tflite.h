// TensorFlow Lite (LiteRT) models as graphs.
#ifndef TIM_MODELS_TFLITE_H_
#define TIM_MODELS_TFLITE_H_

#include <cstddef>
#include <memory>
#include <string>

#include "tim/models/model.h"
#include "tim/vx/context.h"

namespace tim {
namespace models {

/// Options of TFLite's importer.
struct TfliteOptions : ImportOptions {
  /// Signature whose names inputs and outputs have; empty: those of the first
  /// subgraph's tensors.
  std::string signature;
};

/// A model of a file; docs/models.md lists what is taken.  The file is mapped:
/// it must not change while the graph lives.  Never throws: see Model::error.
TIM_VX_API Model LoadTflite(const std::shared_ptr<vx::Context>& context,
                            const std::string& path,
                            const TfliteOptions& options = TfliteOptions());

/// As LoadTflite(), of `size` bytes, of which nothing is kept.
TIM_VX_API Model ParseTflite(const std::shared_ptr<vx::Context>& context,
                             const void* data, size_t size,
                             const TfliteOptions& options = TfliteOptions());

}  // namespace models
}  // namespace tim

#endif  // TIM_MODELS_TFLITE_H_
