// Imports models, and makes binary graphs of them that stay in this process.
#include "tools/timcl/model_file.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string_view>
#include <utility>

#include "base/options.h"
#include "tim/models/onnx.h"
#include "tim/models/tflite.h"
#include "tools/timcl/graph_file.h"
#include "tools/timcl/model_options.h"
#include "tools/timcl/terminal.h"
#include "vx/core/user_programs.h"
#include "vx/graph/context_impl.h"
#include "vx/graph/graph_impl.h"

namespace tim::tool {
namespace {

using models::Model;

// FlatBuffers have what they are behind the first offset.
bool BeginsAsTflite(const std::string& path) {
  char bytes[8] = {};
  std::ifstream file(path, std::ios::binary);
  return file.read(bytes, sizeof(bytes)) && std::string(bytes + 4, 4) == "TFL3";
}

#ifdef TIM_CL_MODELS
Result<Model> Import(const std::shared_ptr<vx::Context>& context,
                     const std::string& path, const ModelArguments& arguments,
                     const std::string& cpp_path) {
  if (FormatOf(path) == ModelFormat::kOnnx) {
    models::OnnxOptions options;
    TIM_RETURN_IF_ERROR(FillImportOptions(arguments, &options));
    options.cpp_path = cpp_path;
    options.external_data_folder = arguments.external_data;
    if (!arguments.signature.empty()) {
      return InvalidArgument("--signature ", arguments.signature,
                             ": models of ONNX have none");
    }
    return models::LoadOnnx(context, path, options);
  }
  models::TfliteOptions options;
  TIM_RETURN_IF_ERROR(FillImportOptions(arguments, &options));
  options.cpp_path = cpp_path;
  options.signature = arguments.signature;
  if (!arguments.external_data.empty()) {
    return InvalidArgument("--external-data ", arguments.external_data,
                           ": models of TFLite have none");
  }
  return models::LoadTflite(context, path, options);
}
#else
Result<Model> Import(const std::shared_ptr<vx::Context>&,
                     const std::string& path, const ModelArguments&,
                     const std::string&) {
  return NotFound("'", path,
                  "' is a model, and this timcl was built without importers: "
                  "build it with TIM_CL_BUILD_MODELS=ON");
}
#endif

std::string NamesOf(const std::vector<models::Port>& ports) {
  std::string names;
  for (const models::Port& port : ports) {
    names += StrCat(names.empty() ? "'" : ", '", port.name, "'");
  }
  return names.empty() ? "none" : names;
}

// Shapes and values are of inputs; a value's input is none any more.
Status CheckNames(const ModelArguments& arguments, const Model& model) {
  for (const std::string& word : arguments.shapes) {
    TIM_ASSIGN_OR_RETURN(const NamedText named, SplitAtLast("--shape", word));
    const bool known = std::any_of(
        model.inputs.begin(), model.inputs.end(),
        [&](const models::Port& port) { return port.name == named.name; });
    if (known) continue;
    return InvalidArgument("--shape ", word, ": there is no input '",
                           named.name, "'; there are ", NamesOf(model.inputs));
  }
  return OkStatus();
}

// Options of the library by the names that they have here.
std::string WithOptions(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"ImportOptions::shapes", "--shape"},
      {"ImportOptions::dimensions", "--dim"},
      {"ImportOptions::values", "--value"},
      {"ImportOptions::most_trips", "--trips"},
      {"ImportOptions::stacked_rows", "--stacked-rows"}};
  for (const auto& [name, option] : kNames) {
    for (size_t at = 0; (at = text.find(name, at)) != std::string::npos;) {
      text.replace(at, name.size(), option);
    }
  }
  return text;
}

// The reader knows a port by the name that the model has for it.
void NamePorts(const std::vector<models::Port>& models,
               const std::vector<std::shared_ptr<vx::Tensor>>& tensors,
               std::vector<binary::Port>* ports) {
  for (size_t i = 0; i < ports->size() && i < tensors.size(); ++i) {
    for (const models::Port& model : models) {
      if (model.tensor == tensors[i]) (*ports)[i].name = model.name;
    }
  }
}

// Devices do not matter before the graph is compiled: the host, which is
// everywhere, is asked for nothing but inference.
vx::ContextState StateForImport(device::Devices devices) {
  vx::ContextOptions options = {.strict = false,
                                .lenient = GetOptions().lenient};
  options.placement = [](const ir::Node&) { return -1; };
  options.programs = vx::UserPrograms();
  return {std::move(devices), std::move(options)};
}

}  // namespace

const char* ToString(ModelFormat format) {
  switch (format) {
    case ModelFormat::kNone:
      return "none";
    case ModelFormat::kOnnx:
      return "ONNX";
    case ModelFormat::kTflite:
      return "TFLite";
  }
  return "";
}

ModelFormat FormatOf(const std::string& path) {
  if (path.ends_with(".onnx")) return ModelFormat::kOnnx;
  if (path.ends_with(".tflite")) return ModelFormat::kTflite;
  return BeginsAsTflite(path) ? ModelFormat::kTflite : ModelFormat::kNone;
}

std::shared_ptr<vx::Context> ContextOn(const device::Devices& devices) {
  return vx::CreateContext(devices, {.strict = GetOptions().strict,
                                     .lenient = GetOptions().lenient,
                                     .dump = GetOptions().dump});
}

Result<Model> ImportModel(const std::shared_ptr<vx::Context>& context,
                          const std::string& path,
                          const ModelArguments& arguments,
                          const std::string& cpp_path) {
  ShowProgress("importing the model");
  TIM_ASSIGN_OR_RETURN(Model model, Import(context, path, arguments, cpp_path));
  ClearProgress();
  for (const std::string& warning : model.warnings) {
    std::fprintf(stderr, "timcl: warning: %s\n", warning.c_str());
  }
  if (model) {
    TIM_RETURN_IF_ERROR(CheckNames(arguments, model));
    return model;
  }
  // The command line is at fault where the failure is about its options.
  std::string error = WithOptions(model.error);
  const bool options = model.refusals.empty() && error != model.error;
  if (error.find(path) == std::string::npos) {
    error = StrCat("'", path, "': ", error);
  }
  model.error = std::move(error);
  for (models::Refusal& refusal : model.refusals) {
    refusal.reason = WithOptions(std::move(refusal.reason));
  }
  if (options) return InvalidArgument(model.error);
  return model;
}

Result<Model> LoadModel(const std::shared_ptr<vx::Context>& context,
                        const std::string& path,
                        const ModelArguments& arguments) {
  TIM_ASSIGN_OR_RETURN(Model model, ImportModel(context, path, arguments));
  if (model) return model;
  return NotFound(model.error);
}

Result<binary::Blob> OpenModel(const std::string& path,
                               const ModelArguments& arguments) {
  TIM_ASSIGN_OR_RETURN(const auto host,
                       DevicesFor("host", GetOptions().on_device));
  const vx::ContextState state = StateForImport(host);
  const auto context = vx::CreateContext(state.devices, state.options);
  TIM_ASSIGN_OR_RETURN(const Model model, LoadModel(context, path, arguments));
  auto& graph = static_cast<vx::GraphImpl&>(*model.graph);
  auto local = graph.CompileFor(state);
  if (!local.ok()) return AsFailed(local.status());
  binary::Blob blob = std::move(local->blob);
  NamePorts(model.inputs, graph.InputsTensor(), &blob.inputs);
  NamePorts(model.outputs, graph.OutputsTensor(), &blob.outputs);
  return blob;
}

}  // namespace tim::tool
