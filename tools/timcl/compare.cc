// `timcl compare`: two runs of a network, and the first layer that differs.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/timcl/commands.h"
#include "tools/timcl/graph_file.h"
#include "tools/timcl/layer_differences.h"
#include "tools/timcl/recorded_run.h"
#include "tools/timcl/tensor_data.h"
#include "tools/timcl/terminal.h"

namespace tim::tool {
namespace {

// Settings that ParseOptions() sees before those of the environment.
const std::map<std::string, std::string>* g_given = nullptr;

const char* GivenOrEnvironment(const char* name) {
  const auto given = g_given->find(name);
  return given == g_given->end() ? std::getenv(name) : given->second.c_str();
}

bool IsVariable(const std::string& name) {
  const auto table = OptionTable();
  return std::any_of(table.begin(), table.end(),
                     [&](const OptionSpec& spec) { return spec.name == name; });
}

// The environment's options with those that are given as "NAME=VALUE".
Result<Options> OptionsWith(const std::vector<std::string>& settings) {
  std::map<std::string, std::string> given;
  for (const std::string& setting : settings) {
    const size_t equal = setting.find('=');
    const std::string name = setting.substr(0, equal);
    if (equal == std::string::npos || !IsVariable(name)) {
      return InvalidArgument("'", setting,
                             "' sets no variable of the library; expected "
                             "VARIABLE=VALUE, as TIMCL_WINOGRAD=0");
    }
    given[name] = setting.substr(equal + 1);
  }
  g_given = &given;
  std::string warnings;
  Options options = ParseOptions(GivenOrEnvironment, &warnings);
  g_given = nullptr;
  if (warnings.empty()) return options;
  warnings.pop_back();
  return InvalidArgument(warnings);
}

// One of the two runs.
struct Side {
  const char* name;  // "first"
  std::string file;
  binary::Blob blob;
  Tensors inputs;
  RecordedRunOptions options;
};
using Sides = std::array<Side, 2>;
using Runs = std::array<RecordedRun, 2>;

Status CheckDifferent(const Arguments& arguments) {
  const CompareArguments& compare = arguments.compare;
  const std::string other =
      compare.other_device.empty() ? "host" : compare.other_device;
  const bool same_file =
      compare.other_file.empty() || compare.other_file == arguments.file;
  if (same_file && compare.set == compare.other_set &&
      arguments.device == other) {
    return InvalidArgument(
        "both runs are the same; give another file, --other-device or "
        "--other-set");
  }
  return OkStatus();
}

Result<Sides> SidesOf(const Arguments& arguments) {
  const CompareArguments& compare = arguments.compare;
  TIM_RETURN_IF_ERROR(CheckDifferent(arguments));
  Sides sides;
  Side& first = sides[0];
  Side& second = sides[1];
  first.name = "first";
  second.name = "second";
  first.file = arguments.file;
  second.file =
      compare.other_file.empty() ? arguments.file : compare.other_file;
  TIM_ASSIGN_OR_RETURN(first.options.options, OptionsWith(compare.set));
  TIM_ASSIGN_OR_RETURN(second.options.options, OptionsWith(compare.other_set));
  first.options.device = arguments.device;
  second.options.device = compare.other_device;
  if (second.options.device.empty()) {
    const bool other_given =
        !compare.other_file.empty() || !compare.other_set.empty();
    second.options.device = other_given ? arguments.device : "host";
  }
  for (Side& side : sides) {
    TIM_ASSIGN_OR_RETURN(side.blob, OpenGraphFile(side.file));
  }
  TIM_ASSIGN_OR_RETURN(first.inputs, MakeTensors(first.blob.inputs));
  TIM_RETURN_IF_ERROR(
      FillInputs(arguments.run.inputs, arguments.run.seed, &first.inputs));
  TIM_ASSIGN_OR_RETURN(second.inputs,
                       ConvertInputs(first.inputs, second.blob.inputs));
  return sides;
}

// A device is shared with those who use it, so that one run follows the other.
Result<Runs> RecordBoth(const Sides& sides,
                        const std::set<std::string>& apart) {
  Runs runs;
  for (size_t i = 0; i < runs.size(); ++i) {
    ShowProgress(StrCat("the ", sides[i].name, " run"));
    RecordedRunOptions options = sides[i].options;
    options.apart = apart;
    auto run = Record(sides[i].blob, sides[i].inputs, options);
    if (!run.ok()) {
      const Status status =
          run.status().WithContext(StrCat("the ", sides[i].name, " run"));
      return status.code() == StatusCode::kInvalidArgument ? AsFailed(status)
                                                           : status;
    }
    runs[i] = *std::move(run);
  }
  return runs;
}

// The nodes of which either run has made one for this layer.
std::set<std::string> FusedIn(const LayerDifference& layer) {
  std::set<std::string> nodes;
  for (const RecordedValue* value : {layer.first, layer.second}) {
    const std::vector<std::string> parts = PartsOf(value->producer);
    if (parts.size() > 1) nodes.insert(parts.begin(), parts.end());
  }
  return nodes;
}

std::string NodeOf(const RecordedValue& value) {
  return PartsOf(value.producer).back();
}

// The first of `nodes` that differs where they are not fused; null: none does.
const LayerDifference* FirstAmong(const Comparison& comparison,
                                  const std::set<std::string>& nodes) {
  for (const LayerDifference& layer : comparison.layers) {
    if (layer.differs && nodes.contains(NodeOf(*layer.first))) return &layer;
  }
  return nullptr;
}

// The label of the step of `run` that has made the value's node part of a
// larger one; empty where none has.
std::string FusedInto(const RecordedRun& run, const RecordedValue& value) {
  for (const RecordedValue& other : run.values) {
    const std::vector<std::string> parts = PartsOf(other.producer);
    if (std::find(parts.begin(), parts.end(), NodeOf(value)) != parts.end()) {
      return other.producer;
    }
  }
  return "";
}

Json JsonOf(const LayerDifference& layer) {
  Json json = {{"node", NodeOf(*layer.first)},
               {"first_step", layer.first->producer},
               {"second_step", layer.second->producer},
               {"tensor", layer.first->name},
               {"first", layer.first->desc.ToString()},
               {"second", layer.second->desc.ToString()},
               {"differs", layer.differs}};
  if (!layer.same_size) return json;
  json["relative"] = layer.relative;
  json["absolute"] = layer.absolute;
  json["equal"] = layer.equal;
  if (layer.codes) json["codes"] = *layer.codes;
  json["first_nan"] = layer.first_nans;
  json["second_nan"] = layer.second_nans;
  return json;
}

Json JsonOf(const std::vector<const RecordedValue*>& values,
            const RecordedRun& other) {
  Json list = Json::array();
  for (const RecordedValue* value : values) {
    list.push_back({{"step", value->producer},
                    {"tensor", value->name},
                    {"fused_into", FusedInto(other, *value)}});
  }
  return list;
}

// A digit of the error is a mark: 1e-9 and less has none, 1 has nine.
std::string BarOf(const LayerDifference& layer) {
  if (!layer.same_size || layer.first_nans != layer.second_nans ||
      !std::isfinite(layer.relative)) {
    return "!!!!!!!!!";
  }
  if (layer.relative <= 1e-9) return "";
  const double digits = 9 + std::log10(layer.relative);
  return std::string(
      static_cast<size_t>(std::clamp(std::ceil(digits), 1.0, 9.0)), '#');
}

std::vector<std::string> RowOf(const LayerDifference& layer) {
  const std::string type = StrCat(ir::ToString(layer.first->desc.type), " ",
                                  layer.first->desc.shape.ToString());
  std::vector<std::string> row = {layer.differs ? "*" : " ",
                                  layer.first->producer, layer.first->name,
                                  type};
  if (!layer.same_size) {
    row.push_back(StrCat("the other has ", layer.second->desc.ToString()));
    return row;
  }
  row.push_back(Scientific(layer.relative));
  row.push_back(layer.codes ? StrCat(*layer.codes) : "");
  row.push_back(Fixed(100 * layer.equal, 2) + " %");
  row.push_back(layer.first_nans + layer.second_nans == 0
                    ? ""
                    : StrCat(layer.first_nans, "/", layer.second_nans));
  row.push_back(BarOf(layer));
  return row;
}

std::string MissingText(const std::vector<const RecordedValue*>& values,
                        const char* missing, const RecordedRun& other) {
  std::string text;
  for (const RecordedValue* value : values) {
    const std::string fused = FusedInto(other, *value);
    if (fused.empty()) continue;
    text += StrCat("fused away in the ", missing, " run: ", NodeOf(*value),
                   " ('", value->name, "'), a part of ", fused, "\n");
  }
  return text;
}

std::string Sentence(const LayerDifference& layer) {
  std::string text =
      StrCat(NodeOf(*layer.first), " ('", layer.first->name, "')");
  if (!layer.same_size) return text + ", whose sizes differ";
  if (layer.first_nans != layer.second_nans) {
    return text + StrCat(", with ", layer.first_nans, " and ",
                         layer.second_nans, " times NaN");
  }
  if (layer.codes) {
    return text + StrCat(", codes up to ", *layer.codes, " apart, ",
                         Fixed(100 * layer.equal, 2), " % equal");
  }
  return text + StrCat(", relative error ", Scientific(layer.relative));
}

std::string TextOf(const Sides& sides, const Runs& runs,
                   const Comparison& comparison) {
  std::string text;
  for (size_t i = 0; i < runs.size(); ++i) {
    text += StrCat(i == 0 ? "first   " : "second  ", "graph '", runs[i].graph,
                   "' of ", sides[i].file, " on ", runs[i].device, "\n");
  }
  std::vector<std::vector<std::string>> rows = {
      {" ", "step of the first", "tensor", "type", "error", "codes", "equal",
       "NaN", "1e-9 to 1"}};
  for (const LayerDifference& layer : comparison.layers) {
    rows.push_back(RowOf(layer));
  }
  return text + Columns(rows) +
         MissingText(comparison.only_second, "first", runs[0]) +
         MissingText(comparison.only_first, "second", runs[1]);
}

// The first layer that differs, and which part of it where it is fused.
struct Found {
  const LayerDifference* layer = nullptr;
  const LayerDifference* part = nullptr;
  bool fused = false;
};

std::string Verdict(const Comparison& comparison, const Found& found) {
  if (found.layer == nullptr) {
    return StrCat("all ", comparison.layers.size(), " layers agree\n");
  }
  std::string text =
      StrCat("the first layer that differs: ", Sentence(*found.layer), "\n");
  if (found.part != nullptr) {
    text += StrCat("not fused, the first is ", Sentence(*found.part), "\n");
  } else if (found.fused) {
    text += "not fused, its parts agree: the kernel for all of them differs\n";
  }
  return text;
}

Json JsonOf(const Sides& sides, const Runs& runs, const Comparison& comparison,
            const Found& found) {
  Json json;
  for (size_t i = 0; i < runs.size(); ++i) {
    json[sides[i].name]["file"] = sides[i].file;
    json[sides[i].name]["device"] = runs[i].device;
  }
  json["layers"] = Json::array();
  for (const LayerDifference& layer : comparison.layers) {
    json["layers"].push_back(JsonOf(layer));
  }
  json["only_first"] = JsonOf(comparison.only_first, runs[1]);
  json["only_second"] = JsonOf(comparison.only_second, runs[0]);
  json["first_different"] = nullptr;
  json["first_different_unfused"] = nullptr;
  if (found.layer != nullptr) json["first_different"] = JsonOf(*found.layer);
  if (found.part != nullptr) {
    json["first_different_unfused"] = JsonOf(*found.part);
  }
  return json;
}

}  // namespace

Result<ExitCode> CompareLayers(const Arguments& arguments) {
  TIM_ASSIGN_OR_RETURN(const Sides sides, SidesOf(arguments));
  TIM_ASSIGN_OR_RETURN(const Runs runs, RecordBoth(sides, {}));
  Tolerances tolerances = {.codes = arguments.compare.codes};
  if (arguments.compare.tolerance >= 0) {
    tolerances.relative = arguments.compare.tolerance;
  }
  const Comparison comparison = Compare(runs[0], runs[1], tolerances);
  Found found = {.layer = comparison.FirstDifferent()};
  // Again, with what was fused there left as it is.
  Runs again;
  Comparison unfused;
  if (found.layer != nullptr) {
    const std::set<std::string> nodes = FusedIn(*found.layer);
    found.fused = !nodes.empty();
    if (found.fused) {
      TIM_ASSIGN_OR_RETURN(again, RecordBoth(sides, nodes));
      unfused = Compare(again[0], again[1], tolerances);
      found.part = FirstAmong(unfused, nodes);
    }
  }
  if (arguments.json) {
    PrintJson(JsonOf(sides, runs, comparison, found));
  } else {
    Print(TextOf(sides, runs, comparison) + Verdict(comparison, found));
  }
  return found.layer == nullptr ? kDone : kDiffers;
}

}  // namespace tim::tool
