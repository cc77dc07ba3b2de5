// `timcl explain`: which kernel each node has, and why no other.
#include <algorithm>
#include <string>
#include <vector>

#include "base/options.h"
#include "ir/dump/partition_text.h"
#include "ops/builtin.h"
#include "runtime/step_estimates.h"
#include "tools/timcl/commands.h"
#include "tools/timcl/graph_file.h"
#include "tools/timcl/terminal.h"

namespace tim::tool {
namespace {

bool Means(const ir::Decision& decision, const std::string& node) {
  if (decision.node == node) return true;
  const auto parts = PartsOf(decision.node);
  return std::find(parts.begin(), parts.end(), node) != parts.end();
}

// Devices beside the host, or the host alone.
std::string NameOf(const ir::Plan& plan) {
  if (plan.devices.size() < 3) return plan.devices.back().name;
  std::vector<std::string> names;
  for (size_t i = 1; i < plan.devices.size(); ++i) {
    names.push_back(plan.devices[i].Label());
  }
  return StrJoin(names, " and ");
}

bool OnHost(const ir::Decision& decision) {
  return decision.chosen.starts_with("host:");
}

bool HasNode(const ir::Graph& graph, const std::string& name) {
  const std::vector<ir::NodeId> ids = graph.NodeIds();
  return std::any_of(ids.begin(), ids.end(), [&](ir::NodeId id) {
    return graph.node(id).name == name;
  });
}

// Decisions about the node; all where it is empty.
std::vector<ir::Decision> DecisionsOf(const ir::Plan& plan,
                                      const std::string& node) {
  std::vector<ir::Decision> found;
  for (const ir::Decision& decision : plan.decisions) {
    if (node.empty() || Means(decision, node)) found.push_back(decision);
  }
  return found;
}

// A name that no node of the plan has: kInvalidArgument where the graph has
// none either.
Status CheckNode(const binary::Blob& blob, const Arguments& arguments) {
  ir::OpRegistry registry(&ops::BuiltinOperators());
  TIM_ASSIGN_OR_RETURN(const ir::Graph graph, GraphOf(blob, &registry));
  if (HasNode(graph, arguments.node)) return OkStatus();
  return InvalidArgument("the graph has no node '", arguments.node,
                         "'; `timcl explain ", arguments.file,
                         "` lists their names");
}

// The part of the graph that a node is in; null where there is one device, and
// of a plan from a file.
const ir::PartitionPart* PartOf(const ir::Plan& plan, const std::string& node) {
  const ir::Partition& partition = plan.notes.partition;
  if (plan.devices.size() < 3) return nullptr;
  for (const ir::PartitionNode& one : partition.nodes) {
    if (one.name == node) {
      return &partition.parts[static_cast<size_t>(one.part)];
    }
  }
  return nullptr;
}

std::string PartText(const ir::Plan& plan, const ir::PartitionPart& part) {
  const ir::Partition& partition = plan.notes.partition;
  return StrCat("part ", &part - partition.parts.data(), " on ",
                partition.devices[static_cast<size_t>(part.device)].spec);
}

Json JsonOf(const ir::Plan& plan, const Status& stored,
            const std::vector<ir::Decision>& decisions) {
  Json nodes = Json::array();
  Json recognized = Json::array();
  for (const ir::Decision& decision : decisions) {
    if (runtime::IsRecognized(decision)) {
      recognized.push_back(
          {{"operator", decision.chosen.substr(runtime::kRecognized.size())},
           {"nodes", PartsOf(decision.node)}});
      continue;
    }
    nodes.push_back({{"node", decision.node},
                     {"chosen", decision.chosen},
                     {"on_host", OnHost(decision)},
                     {"refused", decision.refused}});
  }
  Json json = {{"graph", plan.graph},
               {"device", NameOf(plan)},
               {"plan_of_file", stored.ok()}};
  if (!stored.ok()) json["compiled_because"] = stored.message();
  json["nodes"] = nodes;
  json["recognized"] = recognized;
  if (plan.devices.size() > 2) {
    json["partition"] = Json::parse(ir::PartitionJson(plan), nullptr,
                                    /*allow_exceptions=*/false);
  }
  return json;
}

// "recognized: swish, from sigmoid, product"
std::string RecognizedText(const ir::Decision& decision) {
  return StrCat(decision.chosen, ", from ",
                StrJoin(PartsOf(decision.node), ", "));
}

std::string TextOf(const ir::Plan& plan, const ir::Decision& decision) {
  if (runtime::IsRecognized(decision)) {
    return StrCat("  ", RecognizedText(decision), "\n");
  }
  std::string text = StrCat(decision.node, "\n  has ", decision.chosen, "\n");
  if (const ir::PartitionPart* part = PartOf(plan, decision.node)) {
    text += StrCat("  in ", PartText(plan, *part), ", which has ",
                   part->nodes.size(), " nodes\n");
  }
  for (const std::string& refused : decision.refused) {
    text += StrCat("  not ", refused, "\n");
  }
  if (decision.refused.empty()) text += "  there is no other kernel\n";
  return text;
}

std::string TableOf(const ir::Plan& plan, const Status& stored) {
  std::vector<std::vector<std::string>> rows;
  int64_t on_host = 0;
  std::string recognized;
  for (const ir::Decision& decision : plan.decisions) {
    if (runtime::IsRecognized(decision)) {
      recognized += StrCat("\n  ", RecognizedText(decision));
      continue;
    }
    rows.push_back({decision.node, decision.chosen});
    const ir::PartitionPart* part = PartOf(plan, decision.node);
    if (part != nullptr) rows.back().push_back(PartText(plan, *part));
    if (OnHost(decision)) ++on_host;
  }
  std::string text = Columns(rows);
  text += StrCat(rows.size(), " nodes of graph '", plan.graph, "' on ",
                 NameOf(plan));
  if (plan.devices.size() > 1) text += StrCat(", ", on_host, " on the host");
  for (const ir::ComparedPlan& other : plan.notes.partition.compared) {
    const bool chosen = other.plan == plan.notes.partition.chosen;
    text += StrCat("\n", chosen ? "  taken     " : "  compared  ", other.plan,
                   ": ", Fixed(other.predicted_us, 1), " us predicted");
  }
  if (stored.ok()) text += ", by the file's plan";
  return StrCat(text, recognized, "\n");
}

}  // namespace

Result<ExitCode> ExplainNodes(const Arguments& arguments) {
  TIM_ASSIGN_OR_RETURN(const binary::Blob blob,
                       OpenGraphFile(arguments.file, arguments.model));
  TIM_ASSIGN_OR_RETURN(const auto devices,
                       DevicesFor(arguments.device, GetOptions().on_device));
  TIM_ASSIGN_OR_RETURN(const runtime::Division division,
                       DivisionFor(arguments.device, devices));
  TIM_ASSIGN_OR_RETURN(const PlannedGraph planned,
                       PlanOf(blob, devices, division));
  const auto decisions = DecisionsOf(planned.plan, arguments.node);
  if (decisions.empty() && !arguments.node.empty()) {
    TIM_RETURN_IF_ERROR(CheckNode(blob, arguments));
  }
  if (arguments.json) {
    PrintJson(JsonOf(planned.plan, planned.stored, decisions));
  } else if (arguments.node.empty()) {
    Print(TableOf(planned.plan, planned.stored));
  } else if (decisions.empty()) {
    Print(StrCat(arguments.node,
                 "\n  runs in no step: it was folded into constants or into "
                 "other nodes, or changes nothing\n"));
  } else {
    for (const ir::Decision& decision : decisions)
      Print(TextOf(planned.plan, decision));
  }
  return kDone;
}

}  // namespace tim::tool
