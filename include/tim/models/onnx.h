// ONNX models as graphs.
#ifndef TIM_MODELS_ONNX_H_
#define TIM_MODELS_ONNX_H_

#include <cstddef>
#include <memory>
#include <string>

#include "tim/models/model.h"
#include "tim/vx/context.h"

namespace tim {
namespace models {

/// Options of ONNX's importer.
struct OnnxOptions : ImportOptions {
  /// Folder of external data; empty: beside the file.
  std::string external_data_folder;
};

/// A model of a file, opsets 7 to 21 of ai.onnx, and earlier ones where their
/// operators are those of opset 7.  docs/models.md lists what is taken.  The
/// file is mapped: it must not change while the graph lives.  Never throws: see
/// Model::error.  \param context not null; the model has a graph of its own.
TIM_VX_API Model LoadOnnx(const std::shared_ptr<vx::Context>& context,
                          const std::string& path,
                          const OnnxOptions& options = OnnxOptions());

/// As LoadOnnx(), of `size` bytes, of which nothing is kept.
TIM_VX_API Model ParseOnnx(const std::shared_ptr<vx::Context>& context,
                           const void* data, size_t size,
                           const OnnxOptions& options = OnnxOptions());

}  // namespace models
}  // namespace tim

#endif  // TIM_MODELS_ONNX_H_
