// Loads TFLite models: maps the file, imports it, and says what was not taken.
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/mapped_file.h"
#include "models/build/guarded_import.h"
#include "models/build/source_recorder.h"
#include "models/tflite/importer.h"
#include "tim/models/tflite.h"
#include "tim/transform/layout_inference.h"
#include "tim/vx/error.h"

namespace tim::models {
namespace {

// Bytes of a model, aligned, and what keeps them.
struct Source {
  std::shared_ptr<const void> keeper;
  std::span<const std::byte> bytes;
};

// Ports with their tensors in the graph that layout inference made.
Status TakePorts(const std::map<std::shared_ptr<vx::Tensor>,
                                std::shared_ptr<vx::Tensor>>& tensors,
                 std::vector<Port> ports, std::vector<Port>* taken) {
  for (Port& port : ports) {
    const auto found = tensors.find(port.tensor);
    if (found == tensors.end()) {
      return TIM_INTERNAL("layout inference has lost port '", port.name, "'");
    }
    port.tensor = found->second;
    taken->push_back(std::move(port));
  }
  return OkStatus();
}

Status Import(std::shared_ptr<vx::Context> context, const Source& source,
              const TfliteOptions& options, Model* model) {
  if (context == nullptr) return InvalidArgument("the context is null");
  TIM_ASSIGN_OR_RETURN(const tflite::File file,
                       tflite::File::Open(source.bytes, source.keeper));
  SourceRecorder recorder;
  recorder.UseLayoutInference();
  const bool records = !options.cpp_path.empty();
  GraphBuilder builder(context->CreateGraph(), records ? &recorder : nullptr,
                       context);
  TIM_RETURN_IF_ERROR(tflite::Importer(file, options, &builder, model).Run());
  if (!model->refusals.empty()) {
    return Unimplemented(RefusalText(model->refusals));
  }
  // Images have their channels first in the graph: Transposes stand around
  // every operator on them, until these are taken out here.
  const auto [graph, tensors] =
      transform::LayoutInference(builder.graph(), context);
  if (!graph->ErrorMessage().empty()) {
    return InvalidArgument(graph->ErrorMessage());
  }
  TIM_RETURN_IF_ERROR(TakePorts(tensors, builder.inputs(), &model->inputs));
  TIM_RETURN_IF_ERROR(TakePorts(tensors, builder.outputs(), &model->outputs));
  if (records) TIM_RETURN_IF_ERROR(recorder.Write(options.cpp_path));
  model->graph = graph;
  return OkStatus();
}

Model ImportFrom(const std::shared_ptr<vx::Context>& context,
                 const std::string& name, const TfliteOptions& options,
                 const std::function<Result<Source>()>& open) {
  return GuardedImport(name, [&](Model* model) -> Status {
    TIM_ASSIGN_OR_RETURN(const Source source, open());
    return Import(context, source, options, model);
  });
}

}  // namespace

Model LoadTflite(const std::shared_ptr<vx::Context>& context,
                 const std::string& path, const TfliteOptions& options) {
  return ImportFrom(context, StrCat("'", path, "'"), options,
                    [&]() -> Result<Source> {
                      TIM_ASSIGN_OR_RETURN(const auto file, MapFile(path));
                      return Source{file, file->bytes};
                    });
}

Model ParseTflite(const std::shared_ptr<vx::Context>& context, const void* data,
                  size_t size, const TfliteOptions& options) {
  return ImportFrom(context, "the model", options, [&]() -> Result<Source> {
    if (data == nullptr || size == 0) {
      return InvalidArgument("the model has no bytes");
    }
    struct alignas(16) Block {
      std::byte bytes[16];
    };
    auto copy = std::make_shared<std::vector<Block>>(size / sizeof(Block) + 1);
    std::memcpy(copy->data(), data, size);
    const std::span<const std::byte> bytes(
        reinterpret_cast<const std::byte*>(copy->data()), size);
    return Source{std::move(copy), bytes};
  });
}

}  // namespace tim::models
