// Loads ONNX models: maps the file, imports it, and says what was not taken.
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "base/guarded.h"
#include "base/mapped_file.h"
#include "base/utf8.h"
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

std::string RefusalText(const std::vector<Refusal>& refusals) {
  std::string text = StrCat("the model has ", refusals.size(), " part",
                            refusals.size() == 1 ? "" : "s", " that ",
                            refusals.size() == 1 ? "is" : "are", " not taken:");
  for (const Refusal& refusal : refusals) {
    text +=
        StrCat("\n  '", refusal.node, "' (", refusal.op, "): ", refusal.reason);
  }
  text +=
      "\nNodes can be made by the caller: see ImportOptions::supplier; "
      "docs/models.md lists what is taken";
  return text;
}

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
  onnx::TensorReader tensors(source.owner, source.folder);
  SourceRecorder recorder;
  const bool records = !options.cpp_path.empty();
  GraphBuilder builder(context->CreateGraph(), records ? &recorder : nullptr);
  onnx::Folder folder(context);
  onnx::Importer importer(message, options, &tensors, &builder, &folder);
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

Model ImportGuarded(const std::shared_ptr<vx::Context>& context,
                    const std::string& name, const OnnxOptions& options,
                    const std::function<Result<Source>()>& open) {
  Model model;
  const Status status = GuardedCall([&]() -> Status {
    TIM_ASSIGN_OR_RETURN(const Source source, open());
    const Status imported = Import(context, source, options, &model);
    return imported.ok() ? imported : imported.WithContext(name);
  });
  if (!status.ok()) {
    model.graph = nullptr;
    model.inputs.clear();
    model.outputs.clear();
    model.error = ValidUtf8(status.message());
    for (Refusal& refusal : model.refusals) {
      for (std::string* text :
           {&refusal.node, &refusal.op, &refusal.about, &refusal.reason}) {
        *text = ValidUtf8(*text);
      }
    }
  }
  return model;
}

}  // namespace

Model LoadOnnx(const std::shared_ptr<vx::Context>& context,
               const std::string& path, const OnnxOptions& options) {
  return ImportGuarded(
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
  return ImportGuarded(context, "the model", options, [&]() -> Result<Source> {
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
