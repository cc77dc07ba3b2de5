// `timcl compare`: two runs of a network, and the first layer that differs.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "tools/timcl/commands.h"
#include "tools/timcl/compared_sides.h"
#include "tools/timcl/graph_file.h"
#include "tools/timcl/layer_differences.h"
#include "tools/timcl/recorded_run.h"
#include "tools/timcl/reduce.h"
#include "tools/timcl/terminal.h"

namespace tim::tool {
namespace {

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
  std::optional<ReducedGraph> reduced = {};
};

// The part of a fused layer before the whole.
std::vector<SuspectedLayer> SuspectedOf(const Found& found) {
  std::vector<SuspectedLayer> suspected;
  if (found.part != nullptr) {
    suspected.push_back(
        {.layer = found.part, .nodes = {NodeOf(*found.part->first)}});
  }
  const std::set<std::string> fused = FusedIn(*found.layer);
  suspected.push_back(
      {.layer = found.layer,
       .nodes = fused.empty() ? std::set{NodeOf(*found.layer->first)} : fused});
  return suspected;
}

// Before long work; the folder is made when there is something for it.
Status CheckFolder(const std::string& folder) {
  std::error_code error;
  if (folder.empty() || !std::filesystem::exists(folder, error) ||
      std::filesystem::is_directory(folder, error)) {
    return OkStatus();
  }
  return NotFound("--reduce '", folder, "': it is a file; name a folder");
}

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
  if (!found.reduced) return text;
  return text + StrCat("reduced to ", StrJoin(found.reduced->nodes, ", "),
                       ", which differs alone; this repeats it:\n",
                       found.reduced->command, "\n");
}

Json JsonOf(const ReducedGraph& reduced) {
  return {{"nodes", reduced.nodes},
          {"graphs", reduced.graphs},
          {"inputs", reduced.inputs},
          {"command", reduced.command}};
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
  json["reduced"] = nullptr;
  if (found.reduced) json["reduced"] = JsonOf(*found.reduced);
  return json;
}

}  // namespace

Result<ExitCode> CompareLayers(const Arguments& arguments) {
  TIM_RETURN_IF_ERROR(CheckFolder(arguments.compare.reduce));
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
  if (found.layer != nullptr && !arguments.compare.reduce.empty()) {
    TIM_ASSIGN_OR_RETURN(found.reduced, Reduce(sides, SuspectedOf(found),
                                               tolerances, arguments));
  }
  if (arguments.json) {
    PrintJson(JsonOf(sides, runs, comparison, found));
  } else {
    Print(TextOf(sides, runs, comparison) + Verdict(comparison, found));
  }
  return found.layer == nullptr ? kDone : kDiffers;
}

}  // namespace tim::tool
