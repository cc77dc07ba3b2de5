// `timcl compile`: writes a model as a binary graph.
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"
#include "base/write_file.h"
#include "tim/vx/error.h"
#include "tools/timcl/commands.h"
#include "tools/timcl/graph_file.h"
#include "tools/timcl/model_file.h"
#include "tools/timcl/terminal.h"

namespace tim::tool {
namespace {

Result<std::vector<char>> BinaryOf(vx::Graph& graph) {
  ShowProgress("compiling");
  size_t size = 0;
  if (!graph.CompileToBinary(nullptr, &size)) {
    return FailedPrecondition(graph.ErrorMessage());
  }
  std::vector<char> bytes(size);
  if (!graph.CompileToBinary(bytes.data(), &size)) {
    return FailedPrecondition(graph.ErrorMessage());
  }
  return bytes;
}

Json NamesOf(const std::vector<models::Port>& ports) {
  Json names = Json::array();
  for (const models::Port& port : ports) names.push_back(port.name);
  return names;
}

}  // namespace

Result<ExitCode> CompileModel(const Arguments& arguments) {
  const ModelFormat format = FormatOf(arguments.file);
  if (format == ModelFormat::kNone) {
    return NotFound("'", arguments.file,
                    "' is no model: names of models end in .onnx or .tflite");
  }
  TIM_ASSIGN_OR_RETURN(const auto devices,
                       DevicesFor(arguments.device, GetOptions().on_device));
  TIM_ASSIGN_OR_RETURN(
      const models::Model model,
      LoadModel(ContextOn(devices), arguments.file, arguments.model));
  TIM_ASSIGN_OR_RETURN(const std::vector<char> bytes, BinaryOf(*model.graph));
  const std::string& out = arguments.compile.out;
  const Status written =
      WriteFile(out, {std::string_view(bytes.data(), bytes.size())});
  if (!written.ok()) return NotFound(written.message());
  const std::string& device = devices.back()->info().name;
  if (arguments.json) {
    PrintJson({{"model", arguments.file},
               {"format", ToString(format)},
               {"device", device},
               {"inputs", NamesOf(model.inputs)},
               {"outputs", NamesOf(model.outputs)},
               {"file", out},
               {"bytes", bytes.size()}});
  } else {
    Print(StrCat("model     ", arguments.file, ", ", ToString(format), "\n",
                 "device    ", device, "\n", "written   ", out, ", ",
                 Bytes(static_cast<int64_t>(bytes.size())), "\n"));
  }
  return kDone;
}

}  // namespace tim::tool
