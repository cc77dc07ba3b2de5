// Loads ONNX models: maps the file, imports it, and says what was not taken.
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "base/mapped_file.h"
#include "models/build/constant_budget.h"
#include "models/build/guarded_import.h"
#include "models/build/source_recorder.h"
#include "models/onnx/folder.h"
#include "models/onnx/importer.h"
#include "models/onnx/messages.h"
#include "models/onnx/tensor_reader.h"
#include "tim/models/onnx.h"

namespace tim::models {
namespace {

// Bytes of a model and what keeps them.
struct Source {
  std::shared_ptr<const void> owner;
  std::string_view bytes;
  std::string folder;  ///< Of external data.
};

// Nodes by operator, as refusals name them.
std::map<std::string, size_t> OperatorsOf(const onnx::GraphMessage& graph) {
  std::map<std::string, size_t> counts;
  for (const onnx::NodeMessage& node : graph.nodes) {
    ++counts[node.domain.empty() ? std::string(node.op)
                                 : StrCat(node.domain, ".", node.op)];
  }
  return counts;
}

Status Import(const std::shared_ptr<vx::Context>& context, const Source& source,
              const OnnxOptions& options, Model* model) {
  if (context == nullptr) return InvalidArgument("the context is null");
  TIM_ASSIGN_OR_RETURN(const onnx::ModelMessage message,
                       onnx::ReadModel(source.bytes));
  model->operators = OperatorsOf(message.graph);
  ConstantBudget budget(static_cast<int64_t>(source.bytes.size()));
  onnx::TensorReader tensors(source.owner, source.folder, &budget);
  SourceRecorder recorder;
  const bool records = !options.cpp_path.empty();
  GraphBuilder builder(context->CreateGraph(), records ? &recorder : nullptr,
                       context);
  onnx::Folder folder(context);
  onnx::Importer importer(message, options, &tensors, &budget, &builder,
                          &folder);
  const Status status = importer.Import();
  model->refusals = importer.refusals();
  model->warnings = tensors.warnings();
  model->warnings.insert(model->warnings.end(), importer.warnings().begin(),
                         importer.warnings().end());
  if (!model->refusals.empty()) {
    const std::string text = RefusalText(model->refusals);
    if (status.ok()) return Unimplemented(text);
    return Status(status.code(), StrCat(status.message(), "\n", text));
  }
  TIM_RETURN_IF_ERROR(status);
  if (records) TIM_RETURN_IF_ERROR(recorder.Write(options.cpp_path));
  model->inputs = builder.inputs();
  model->outputs = builder.outputs();
  model->graph = builder.graph();
  return OkStatus();
}

Model ImportFrom(const std::shared_ptr<vx::Context>& context,
                 const std::string& name, const OnnxOptions& options,
                 const std::function<Result<Source>()>& open) {
  return GuardedImport(name, [&](Model* model) -> Status {
    TIM_ASSIGN_OR_RETURN(const Source source, open());
    return Import(context, source, options, model);
  });
}

}  // namespace

Model LoadOnnx(const std::shared_ptr<vx::Context>& context,
               const std::string& path, const OnnxOptions& options) {
  return ImportFrom(
      context, StrCat("'", path, "'"), options, [&]() -> Result<Source> {
        TIM_ASSIGN_OR_RETURN(const auto file, MapFile(path));
        Source source;
        source.owner = file;
        source.bytes =
            std::string_view(reinterpret_cast<const char*>(file->bytes.data()),
                             file->bytes.size());
        source.folder = options.external_data_folder;
        if (source.folder.empty()) {
          source.folder = std::filesystem::path(path).parent_path().string();
        }
        if (source.folder.empty()) source.folder.push_back('.');
        return source;
      });
}

Model ParseOnnx(const std::shared_ptr<vx::Context>& context, const void* data,
                size_t size, const OnnxOptions& options) {
  return ImportFrom(context, "the model", options, [&]() -> Result<Source> {
    if (data == nullptr || size == 0) {
      return InvalidArgument("the model has no bytes");
    }
    // Arrays are copied one by one, as nothing keeps the bytes.
    return Source{nullptr,
                  std::string_view(static_cast<const char*>(data), size),
                  options.external_data_folder};
  });
}

}  // namespace tim::models
