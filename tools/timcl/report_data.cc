// Gathers what `timcl report` shows: graph, operations, memory, options.
#include "tools/timcl/report_data.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/options.h"
#include "ir/dump/graph_json.h"
#include "ir/dump/partition_text.h"
#include "tim/vx/version.h"
#include "tools/timcl/graph_file.h"
#include "tools/timcl/slot_lives.h"

namespace tim::tool {
namespace {

// Places of the nodes of a graph as written, by their names.
class NodesByName {
 public:
  explicit NodesByName(const ir::Graph& graph) {
    for (const ir::NodeId id : graph.NodeIds()) {
      places_[graph.node(id).name].push_back(count_++);
    }
  }

  // The nodes that a step or decision of this label is about: "Conv2d#1+Relu#2"
  // is of two, "LSTM#3/gate" of the one whose body was put in its place.
  std::set<int> MeantBy(const std::string& label) const {
    std::set<int> nodes;
    if (Add(label, &nodes)) return nodes;
    for (std::string part : PartsOf(label)) {
      while (!Add(part, &nodes)) {
        const size_t end = part.find_last_of("/");
        if (end == std::string::npos) break;
        part.resize(end);
      }
    }
    return nodes;
  }

 private:
  bool Add(const std::string& name, std::set<int>* nodes) const {
    const auto found = places_.find(name);
    if (found == places_.end()) return false;
    nodes->insert(found->second.begin(), found->second.end());
    return true;
  }

  std::map<std::string, std::vector<int>> places_;
  int count_ = 0;
};

// The graph as written; its values by their place in "values".
Json GraphJson(const ir::Graph& graph) {
  Json json = Json::parse(ir::JsonOf(graph));
  std::map<ir::ValueId, int> places;
  for (const ir::ValueId id : graph.ValueIds()) {
    places.emplace(id, static_cast<int>(places.size()));
  }
  const auto list = [&](const std::vector<ir::ValueId>& ids) {
    Json array = Json::array();
    for (const ir::ValueId id : ids) {
      array.push_back(id == ir::kNone ? Json() : Json(places.at(id)));
    }
    return array;
  };
  json["inputs"] = list(graph.inputs());
  json["outputs"] = list(graph.outputs());
  json["states"] = Json::array();
  for (const auto& update : graph.state_updates()) {
    json["states"].push_back({{"state", places.at(update.state)},
                              {"next", places.at(update.value)}});
  }
  size_t at = 0;
  for (const ir::NodeId id : graph.NodeIds()) {
    Json& node = json["nodes"][at++];
    node["op"] = node["operator"];
    node.erase("operator");
    node.erase("body");
    node["inputs"] = list(graph.node(id).inputs);
    node["outputs"] = list(graph.node(id).outputs);
    node["operations"] = Json::array();
    node["decisions"] = Json::array();
  }
  return json;
}

// Places of operations in the profile, by label.
std::map<std::string, int> OperationsOf(const runtime::RunProfile& profile) {
  std::map<std::string, int> places;
  for (const auto& operation : profile.operations) {
    places.emplace(operation.name, static_cast<int>(places.size()));
  }
  return places;
}

const ir::PlanNotes::Operand* NoteOf(const ir::Plan& plan, size_t step,
                                     size_t operand) {
  const auto& notes = plan.notes.operands;
  if (step >= notes.size() || operand >= notes[step].size()) return nullptr;
  return notes[step][operand].value < 0 ? nullptr : &notes[step][operand];
}

std::string NameOf(const ir::Plan& plan, const ir::PlanNotes::Operand& note) {
  const std::string& name = plan.notes.values[note.value].name;
  return note.offset > 0 ? StrCat(name, " from byte ", note.offset) : name;
}

Json OperandJson(const ir::Plan& plan, size_t step, size_t operand) {
  const int slot = plan.steps[step].operands[operand];
  const ir::PlanNotes::Operand* note = NoteOf(plan, step, operand);
  Json json = {{"slot", slot},
               {"tensor", note == nullptr ? -1 : note->value},
               {"written", bool{plan.steps[step].written[operand]}}};
  if (note != nullptr) {
    json["name"] = NameOf(plan, *note);
    json["what"] = plan.notes.values[note->value].desc.ToString();
  } else {
    const bool constant = plan.slots[slot].kind == ir::SlotKind::kConstant;
    json["name"] = constant ? "packed constant" : "scratch";
    json["what"] = "";
  }
  return json;
}

double PerRun(const runtime::RunProfile& profile, int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1e3 /
         static_cast<double>(std::max<int64_t>(profile.runs, 1));
}

Json OperationJson(const runtime::RunProfile& profile,
                   const runtime::OperationProfile& operation) {
  const double us = PerRun(profile, operation.nanoseconds);
  const bool host = operation.clock == runtime::StepTime::Clock::kHost;
  return {{"name", operation.name},
          {"op", operation.op},
          {"kernel", operation.kernel},
          {"device", operation.device},
          {"us", us},
          {"clock", host ? "host" : "device"},
          {"gflops", us > 0 ? operation.operations / us / 1e3 : 0},
          {"gbytes_per_second", us > 0 ? operation.bytes / us / 1e3 : 0},
          {"chosen", operation.chosen},
          {"refused", operation.refused},
          {"nodes", Json::array()},
          {"steps", Json::array()},
          {"operands", Json::array()}};
}

// "operations", and which of them run each node.
void AddOperations(const runtime::RunProfile& profile, const NodesByName& nodes,
                   Json* report) {
  Json operations = Json::array();
  for (const auto& operation : profile.operations) {
    const size_t place = operations.size();
    operations.push_back(OperationJson(profile, operation));
    for (const int node : nodes.MeantBy(operation.name)) {
      operations.back()["nodes"].push_back(node);
      (*report)["nodes"][node]["operations"].push_back(place);
    }
  }
  (*report)["operations"] = std::move(operations);
}

// "steps", and the steps and operands of each operation.
void AddSteps(const ir::Plan& plan, const std::map<std::string, int>& places,
              Json* report) {
  std::set<std::tuple<int, int, int, bool>> known;
  Json steps = Json::array();
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const int place = places.at(plan.steps[s].label);
    Json& operation = (*report)["operations"][place];
    steps.push_back(place);
    operation["steps"].push_back(s);
    for (size_t i = 0; i < plan.steps[s].operands.size(); ++i) {
      Json operand = OperandJson(plan, s, i);
      const bool is_new = known
                              .emplace(place, operand["slot"].get<int>(),
                                       operand["tensor"].get<int>(),
                                       operand["written"].get<bool>())
                              .second;
      if (is_new) operation["operands"].push_back(std::move(operand));
    }
  }
  (*report)["steps"] = std::move(steps);
}

// "decisions"; a node has those that are of no operation: of views.
void AddDecisions(const ir::Plan& plan, const NodesByName& nodes,
                  const std::map<std::string, int>& places, Json* report) {
  Json decisions = Json::array();
  for (const ir::Decision& decision : plan.decisions) {
    if (!places.contains(decision.node)) {
      for (const int node : nodes.MeantBy(decision.node)) {
        (*report)["nodes"][node]["decisions"].push_back(decisions.size());
      }
    }
    decisions.push_back({{"node", decision.node},
                         {"chosen", decision.chosen},
                         {"on_host", decision.chosen.starts_with("host:")},
                         {"refused", decision.refused}});
  }
  (*report)["decisions"] = std::move(decisions);
}

// Per slot the name of the first tensor that is noted of it.
std::vector<std::string> SlotNames(const ir::Plan& plan) {
  std::vector<std::string> names(plan.slots.size());
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    for (size_t i = 0; i < plan.steps[s].operands.size(); ++i) {
      std::string& name = names[plan.steps[s].operands[i]];
      const ir::PlanNotes::Operand* note = NoteOf(plan, s, i);
      if (note != nullptr && name.empty()) name = NameOf(plan, *note);
    }
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) names[i] = StrCat("slot ", i);
  }
  return names;
}

Json MemoryJson(const ReportFacts& facts) {
  const ir::Plan& plan = facts.plan;
  int64_t constant_bytes = 0;
  for (const auto& block : plan.constants) constant_bytes += block.bytes;
  Json json = {{"arena_bytes", plan.memory.peak},
               {"bytes_without_reuse", plan.memory.no_reuse_sum},
               {"least_possible_bytes", plan.memory.lower_bound},
               {"host_scratch_bytes", plan.memory.eval_scratch},
               {"constant_bytes", constant_bytes},
               {"arenas", Json::array()},
               {"slots", Json::array()}};
  for (const ir::Arena& arena : plan.arenas) {
    json["arenas"].push_back({{"device", arena.device},
                              {"memory", ir::ToString(arena.memory)},
                              {"bytes", arena.bytes}});
  }
  const auto places = OperationsOf(facts.profile);
  const std::vector<SlotLife> lives = LivesOf(plan);
  const std::vector<std::string> names = SlotNames(plan);
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    const ir::Slot& slot = plan.slots[i];
    const auto writer = places.find(lives[i].writer);
    json["slots"].push_back(
        {{"slot", i},
         {"kind", tool::NameOf(slot.kind)},
         {"name", names[i]},
         {"index", slot.index},
         {"offset", slot.offset},
         {"bytes", slot.bytes},
         {"first", lives[i].first},
         {"last", lives[i].last},
         {"writer", writer == places.end() ? -1 : writer->second}});
  }
  return json;
}

Json DevicesJson(const ReportFacts& facts) {
  Json json = Json::array();
  const auto& reached = facts.profile.reached;
  for (size_t i = 0; i < facts.plan.devices.size(); ++i) {
    const ir::DeviceInfo& info = facts.plan.devices[i];
    const bool host = info.kind == "host";
    Json device = {{"name", host ? "host" : info.name}, {"kind", info.kind}};
    if (!host) {
      device["vendor"] = info.vendor;
      device["driver"] = info.driver;
      device["kernels"] = ir::ToString(info.device_class);
      device["compute_units"] = info.compute_units;
      device["global_memory_bytes"] = info.global_memory_bytes;
      device["max_allocation_bytes"] = info.max_allocation_bytes;
      device["local_memory_bytes"] = info.local_memory_bytes;
      device["max_work_group_size"] = info.max_work_group_size;
      device["float_vector_width"] = info.float_vector_width;
    }
    if (i < reached.size() && reached[i]) {
      device["measured"] = {
          {"gflops", reached[i]->gflops},
          {"gbytes_per_second", reached[i]->gbytes_per_second},
          {"launch_us", reached[i]->launch_us}};
    }
    json.push_back(std::move(device));
  }
  return json;
}

// Parts of the devices with the times of their operations.
Json PartitionOf(const ReportFacts& facts) {
  std::map<std::string, double> measured_us;
  for (const runtime::OperationProfile& operation : facts.profile.operations) {
    measured_us[operation.name] = PerRun(facts.profile, operation.nanoseconds);
  }
  return Json::parse(ir::PartitionJson(facts.plan, measured_us), nullptr,
                     /*allow_exceptions=*/false);
}

Json OptionsJson() {
  Json json = Json::array();
  for (const OptionSpec& option : OptionTable()) {
    const char* value = std::getenv(option.name);
    json.push_back({{"name", option.name},
                    {"value", value == nullptr ? Json() : Json(value)},
                    {"values", option.values},
                    {"default", option.default_value},
                    {"meaning", option.meaning}});
  }
  return json;
}

}  // namespace

Json ReportData(const ReportFacts& facts) {
  Json report = {{"library", vx::VersionText()},
                 {"file", facts.file},
                 {"file_library", facts.file_library}};
  report.update(GraphJson(facts.graph));
  report["graph"] = facts.plan.graph;
  report["devices"] = DevicesJson(facts);
  report["time"] = {
      {"runs", facts.profile.runs},
      {"run_us", facts.run_us},
      {"stepwise_us", PerRun(facts.profile, facts.profile.nanoseconds)}};
  const NodesByName nodes(facts.graph);
  const auto places = OperationsOf(facts.profile);
  AddOperations(facts.profile, nodes, &report);
  AddSteps(facts.plan, places, &report);
  AddDecisions(facts.plan, nodes, places, &report);
  report["partition"] = PartitionOf(facts);
  report["memory"] = MemoryJson(facts);
  report["options"] = OptionsJson();
  return report;
}

}  // namespace tim::tool
