// `timcl import`: what a model is made of, what of it is not taken, and the C++
// program that builds its graph.
#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/options.h"
#include "tim/vx/operation.h"
#include "tools/timcl/commands.h"
#include "tools/timcl/graph_file.h"
#include "tools/timcl/model_file.h"
#include "tools/timcl/terminal.h"
#include "vx/tensor/type_convert.h"

namespace tim::tool {
namespace {

using Counts = std::map<std::string, size_t>;

// Operations that say the model, by class.
Counts OperationsOf(const models::Model& model) {
  Counts counts;
  if (!model) return counts;
  for (const auto& operation : model.graph->OpVector()) {
    ++counts[operation->Name()];
  }
  return counts;
}

std::string TypeOf(const models::Port& port) {
  return ir::ToString(vx::ToIr(port.type).value_or(ir::DataType::kUnknown));
}

Json JsonOf(const std::vector<models::Port>& ports) {
  Json list = Json::array();
  for (const models::Port& port : ports) {
    list.push_back(
        {{"name", port.name}, {"type", TypeOf(port)}, {"dims", port.dims}});
  }
  return list;
}

Json JsonOf(const models::Model& model, const Arguments& arguments) {
  Json json = {{"model", arguments.file},
               {"format", ToString(FormatOf(arguments.file))},
               {"taken", static_cast<bool>(model)},
               {"inputs", JsonOf(model.inputs)},
               {"outputs", JsonOf(model.outputs)},
               {"operators", model.operators},
               {"operations", OperationsOf(model)},
               {"refusals", Json::array()},
               {"warnings", model.warnings}};
  for (const models::Refusal& refusal : model.refusals) {
    json["refusals"].push_back({{"node", refusal.node},
                                {"operator", refusal.op},
                                {"about", refusal.about},
                                {"reason", refusal.reason}});
  }
  if (!model) json["error"] = model.error;
  if (model && !arguments.import.cpp.empty()) {
    json["file"] = arguments.import.cpp;
  }
  return json;
}

std::string TextOf(const char* what, const std::vector<models::Port>& ports) {
  std::string text;
  for (size_t i = 0; i < ports.size(); ++i) {
    text += StrCat(what, " ", i, "  '", ports[i].name, "' ", TypeOf(ports[i]),
                   " [", StrJoin(ports[i].dims, ","), "]\n");
  }
  return text;
}

std::string TextOf(const char* head, const Counts& counts) {
  if (counts.empty()) return "";
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, count] : counts) {
    rows.push_back({StrCat("  ", name), StrCat(count)});
  }
  return head + Columns(rows);
}

std::string RefusalsOf(const models::Model& model) {
  std::vector<std::vector<std::string>> rows = {
      {"node", "operator", "about", "not taken because"}};
  for (const models::Refusal& refusal : model.refusals) {
    rows.push_back({refusal.node, refusal.op, refusal.about, refusal.reason});
  }
  return rows.size() == 1 ? "" : Columns(rows);
}

// Commands that make a program of the file.
std::string BuildLines(const std::string& cpp) {
  const std::string program =
      std::filesystem::path(cpp).replace_extension().string();
  return StrCat("written   ", cpp, " and ", cpp,
                ".weights; this compiles it:\nc++ -O2 '", cpp, "' -o '",
                program == cpp ? program + ".out" : program,
                "' $(pkg-config --cflags --libs tim-cl)\n");
}

std::string TextOf(const models::Model& model, const Arguments& arguments) {
  std::string text = StrCat(
      "model     ", arguments.file, ", ", ToString(FormatOf(arguments.file)),
      model ? "\n" : ", which is not taken\n", TextOf("input  ", model.inputs),
      TextOf("output ", model.outputs),
      TextOf("operators of the file:\n", model.operators),
      TextOf("operations of the graph:\n", OperationsOf(model)),
      RefusalsOf(model));
  if (model && !arguments.import.cpp.empty()) {
    text += BuildLines(arguments.import.cpp);
  }
  return text;
}

}  // namespace

Result<ExitCode> ImportModelFile(const Arguments& arguments) {
  if (FormatOf(arguments.file) == ModelFormat::kNone) {
    return NotFound("'", arguments.file,
                    "' is no model: names of models end in .onnx or .tflite");
  }
  TIM_ASSIGN_OR_RETURN(const auto host,
                       DevicesFor("host", GetOptions().on_device));
  TIM_ASSIGN_OR_RETURN(const models::Model model,
                       ImportModel(ContextOn(host), arguments.file,
                                   arguments.model, arguments.import.cpp));
  if (!model && model.refusals.empty()) {
    return NotFound(model.error);
  }
  if (arguments.json) {
    PrintJson(JsonOf(model, arguments));
  } else {
    Print(TextOf(model, arguments));
  }
  return model ? kDone : kNoFile;
}

}  // namespace tim::tool
