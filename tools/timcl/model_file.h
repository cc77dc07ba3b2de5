// Files of models: ONNX and TensorFlow Lite.
#ifndef TIM_TOOLS_TIMCL_MODEL_FILE_H_
#define TIM_TOOLS_TIMCL_MODEL_FILE_H_

#include <memory>
#include <string>

#include "base/status.h"
#include "binary/blob.h"
#include "device/device.h"
#include "tim/models/model.h"
#include "tim/vx/context.h"
#include "tools/timcl/arguments.h"

namespace tim::tool {

enum class ModelFormat : uint8_t { kNone, kOnnx, kTflite };
const char* ToString(ModelFormat format);

/// By the ending of the name, .onnx or .tflite; files of TFLite also by what
/// they begin with.  kNone: the file is something else, or is not there.
ModelFormat FormatOf(const std::string& path);

/// A context for graphs that run on these devices, as Context::Create() makes.
std::shared_ptr<vx::Context> ContextOn(const device::Devices& devices);

/// The model, whose graph is one of `context`; warnings go to stderr.  A model
/// that is refused is no failure: it has no graph, and says why.
/// kInvalidArgument where `arguments` cannot be read or do not fit the model,
/// which may want some, kNotFound for files that cannot be read or are no
/// models, and where this program was built without importers.
/// \param cpp_path as ImportOptions::cpp_path.
Result<models::Model> ImportModel(const std::shared_ptr<vx::Context>& context,
                                  const std::string& path,
                                  const ModelArguments& arguments,
                                  const std::string& cpp_path = "");

/// The same; kNotFound, with all refusals, for a model without a graph.
Result<models::Model> LoadModel(const std::shared_ptr<vx::Context>& context,
                                const std::string& path,
                                const ModelArguments& arguments);

/// The model as a binary graph that is not compiled, whose inputs and outputs
/// have the model's names.  Errors are those of LoadModel().
Result<binary::Blob> OpenModel(const std::string& path,
                               const ModelArguments& arguments);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_MODEL_FILE_H_
