// `timcl compare`: two runs of a network, and the first layer that differs.
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "tools/timcl/against.h"
#include "tools/timcl/commands.h"
#include "tools/timcl/compared_sides.h"
#include "tools/timcl/comparison_text.h"
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

// The first of `nodes` that differs where they are not fused; null: none does.
const LayerDifference* FirstAmong(const Comparison& comparison,
                                  const std::set<std::string>& nodes) {
  for (const LayerDifference& layer : comparison.layers) {
    if (layer.differs && nodes.contains(NodeOf(*layer.first))) return &layer;
  }
  return nullptr;
}

std::string TextOf(const Sides& sides, const Runs& runs,
                   const Comparison& comparison) {
  std::string text;
  for (size_t i = 0; i < runs.size(); ++i) {
    text += StrCat(i == 0 ? "first   " : "second  ", "graph '", runs[i].graph,
                   "' of ", sides[i].file, " on ", runs[i].device, "\n");
  }
  return text + TextOf(comparison, runs[0], runs[1]);
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
  if (!arguments.compare.against.empty()) return CompareAgainst(arguments);
  TIM_RETURN_IF_ERROR(CheckFolder(arguments.compare.reduce));
  TIM_ASSIGN_OR_RETURN(const Sides sides, SidesOf(arguments));
  TIM_ASSIGN_OR_RETURN(const Runs runs, RecordBoth(sides, {}));
  const Tolerances tolerances = TolerancesOf(arguments);
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
