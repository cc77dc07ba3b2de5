// `timcl compare --against`: a run here, and what another engine or a folder of
// arrays has for the same inputs.
#include "tools/timcl/against.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/options.h"
#include "ir/dump/file_names.h"
#include "tools/timcl/compared_sides.h"
#include "tools/timcl/comparison_text.h"
#include "tools/timcl/graph_file.h"
#include "tools/timcl/record.h"
#include "tools/timcl/reference.h"
#include "vx/core/given_name.h"
#include "vx/core/user_programs.h"
#include "vx/lite/loaded_graph.h"

namespace tim::tool {
namespace {

// Values here, and those of the reference with the same names.
struct Pairs {
  RecordedRun here;
  RecordedRun there;
  std::vector<std::string> missing;  ///< Outputs that the reference lacks.
  std::vector<std::string> unused;   ///< Names that no value here has.
};

Status CheckOneFile(const Arguments& arguments) {
  const CompareArguments& compare = arguments.compare;
  const bool second = !compare.other_file.empty() ||
                      !compare.other_device.empty() || !compare.set.empty() ||
                      !compare.other_set.empty() || !compare.reduce.empty();
  if (!second) return OkStatus();
  return InvalidArgument(
      "--against goes without another file, --other-device, --set, "
      "--other-set and --reduce");
}

Result<Reference> ReferenceOf(const Arguments& arguments,
                              const Tensors& inputs) {
  const std::string& against = arguments.compare.against;
  if (against == "onnxruntime" || against == "litert") {
    return RunReference(arguments, inputs);
  }
  return ReferenceIn(against);
}

// As `timcl run` does.
Result<RecordedRun> RunHere(const binary::Blob& blob, const Tensors& inputs,
                            const Arguments& arguments) {
  TIM_ASSIGN_OR_RETURN(auto devices,
                       DevicesFor(arguments.device, GetOptions().on_device));
  RecordedRun run = {.graph = blob.graph_name,
                     .device = devices.back()->info().name,
                     .values = {}};
  TIM_ASSIGN_OR_RETURN(const Tensors outputs, MakeTensors(blob.outputs));
  ShowProgress("the run here");
  auto graph =
      lite::LoadedGraph::Create(blob, std::move(devices), vx::UserPrograms());
  if (!graph.ok()) return AsFailed(graph.status());
  const Status status = (*graph)->Run(inputs.ForRun(), outputs.ForRun());
  if (!status.ok()) return AsFailed(status);
  for (size_t i = 0; i < outputs.ports.size(); ++i) {
    const binary::Port& port = *outputs.ports[i];
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(port.desc));
    const std::byte* const begin = outputs.memory[i].get();
    run.values.push_back({.name = vx::GivenIn(port.name),
                          .producer = StrCat("output ", i),
                          .desc = port.desc,
                          .bytes = {begin, begin + bytes}});
  }
  return run;
}

// The name by which the reference has the value; empty where it has none.
std::string KeyOf(const RecordedValue& value, const Reference& reference) {
  if (!reference.by_file_name) {
    return reference.files.contains(value.name) ? value.name : "";
  }
  const std::string plain = ir::FileNameOf(value.name);
  constexpr std::string_view kOutput = "output ";
  if (value.producer.starts_with(kOutput)) {
    const std::string numbered =
        StrCat(value.producer.substr(kOutput.size()), "_", plain);
    if (reference.files.contains(numbered)) return numbered;
  }
  return reference.files.contains(plain) ? plain : "";
}

Status AddPair(const RecordedValue& value, const std::string& key,
               const Reference& reference, Pairs* pairs) {
  TIM_ASSIGN_OR_RETURN(
      RecordedValue there,
      ValueOf(reference.files.at(key), value.name, value.producer, value.desc));
  pairs->here.values.push_back(value);
  pairs->there.values.push_back(std::move(there));
  return OkStatus();
}

// The tensors between that steps have left, by the names that they were given.
Status AddTensors(const binary::Blob& blob, const Tensors& inputs,
                  const Arguments& arguments, const Reference& reference,
                  std::set<std::string>* left, Pairs* pairs) {
  ShowProgress("the run here, step by step");
  auto run = Record(
      blob, inputs,
      {.device = arguments.device, .options = GetOptions(), .apart = {}});
  if (!run.ok()) return AsFailed(run.status());
  for (RecordedValue& value : run->values) {
    value.name = vx::GivenIn(value.name);
    const std::string key = KeyOf(value, reference);
    if (key.empty() || left->erase(key) == 0) continue;
    TIM_RETURN_IF_ERROR(AddPair(value, key, reference, pairs));
  }
  return OkStatus();
}

Result<Pairs> PairsOf(const binary::Blob& blob, const Tensors& inputs,
                      const Arguments& arguments, const Reference& reference) {
  TIM_ASSIGN_OR_RETURN(RecordedRun run, RunHere(blob, inputs, arguments));
  std::set<std::string> left;
  for (const auto& [name, path] : reference.files) left.insert(name);
  Pairs pairs;
  pairs.here.graph = run.graph;
  pairs.here.device = run.device;
  std::vector<std::pair<const RecordedValue*, std::string>> outputs;
  for (const RecordedValue& value : run.values) {
    const std::string key = KeyOf(value, reference);
    left.erase(key);
    if (key.empty()) {
      pairs.missing.push_back(value.name);
    } else {
      outputs.emplace_back(&value, key);
    }
  }
  if (reference.by_file_name && !left.empty()) {
    TIM_RETURN_IF_ERROR(
        AddTensors(blob, inputs, arguments, reference, &left, &pairs));
  }
  for (const auto& [value, key] : outputs) {
    TIM_RETURN_IF_ERROR(AddPair(*value, key, reference, &pairs));
  }
  pairs.unused.assign(left.begin(), left.end());
  if (!pairs.here.values.empty()) return pairs;
  return InvalidArgument("--against ", arguments.compare.against,
                         ": it has no output of the graph, which are '",
                         StrJoin(pairs.missing, "', '"), "'");
}

Json JsonOf(const Arguments& arguments, const Reference& reference,
            const Pairs& pairs, const Comparison& comparison) {
  Json json = {
      {"first", {{"file", arguments.file}, {"device", pairs.here.device}}},
      {"second", {{"origin", reference.origin}}},
      {"layers", Json::array()},
      {"missing", pairs.missing},
      {"unused", pairs.unused},
      {"first_different", nullptr}};
  for (const LayerDifference& layer : comparison.layers) {
    json["layers"].push_back(JsonOf(layer));
  }
  const LayerDifference* const first = comparison.FirstDifferent();
  if (first != nullptr) json["first_different"] = JsonOf(*first);
  return json;
}

std::string TextOf(const Arguments& arguments, const Reference& reference,
                   const Pairs& pairs, const Comparison& comparison) {
  std::string text =
      StrCat("first   graph '", pairs.here.graph, "' of ", arguments.file,
             " on ", pairs.here.device, "\nsecond  ", reference.origin, "\n",
             TextOf(comparison, pairs.here, pairs.there));
  for (const std::string& name : pairs.missing) {
    text += StrCat("not compared: '", name, "', which the second lacks\n");
  }
  for (const std::string& name : pairs.unused) {
    text += StrCat("not compared: '", name,
                   "', of which the first has left no tensor\n");
  }
  const LayerDifference* const first = comparison.FirstDifferent();
  if (first == nullptr) {
    return text + StrCat("all ", comparison.layers.size(), " agree\n");
  }
  return text + StrCat("the first that differs: ", Sentence(*first), "\n");
}

}  // namespace

Result<ExitCode> CompareAgainst(const Arguments& arguments) {
  TIM_RETURN_IF_ERROR(CheckOneFile(arguments));
  TIM_ASSIGN_OR_RETURN(const binary::Blob blob,
                       OpenGraphFile(arguments.file, arguments.model));
  TIM_ASSIGN_OR_RETURN(Tensors inputs, MakeTensors(blob.inputs));
  TIM_ASSIGN_OR_RETURN(const auto record, RecordIn(blob));
  TIM_RETURN_IF_ERROR(FillInputs(
      arguments.run, InputsOf(record, blob, arguments.run), &inputs));
  TIM_ASSIGN_OR_RETURN(const Reference reference,
                       ReferenceOf(arguments, inputs));
  TIM_ASSIGN_OR_RETURN(const Pairs pairs,
                       PairsOf(blob, inputs, arguments, reference));
  ClearProgress();
  const Comparison comparison =
      Compare(pairs.here, pairs.there, TolerancesOf(arguments));
  if (arguments.json) {
    PrintJson(JsonOf(arguments, reference, pairs, comparison));
  } else {
    Print(TextOf(arguments, reference, pairs, comparison));
  }
  return comparison.FirstDifferent() == nullptr ? kDone : kDiffers;
}

}  // namespace tim::tool
