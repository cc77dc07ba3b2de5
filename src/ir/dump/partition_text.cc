// Writes parts, nodes and what was compared.
#include "ir/dump/partition_text.h"

#include <cstddef>
#include <string_view>

#include "base/json_text.h"
#include "base/str_cat.h"
#include "base/utf8.h"

namespace tim::ir {
namespace {

std::string Texts(const std::vector<std::string>& texts) {
  JsonArray array;
  for (const std::string& text : texts) array.Add(JsonString(text));
  return array.Text();
}

std::string DeviceText(const Partition& partition,
                       const PartitionDevice& device) {
  JsonObject links;
  for (const PartitionLink& link : device.links) {
    links.Add(partition.devices[static_cast<size_t>(link.to)].spec,
              JsonObject()
                  .Add("latency_us", JsonNumber(link.latency_us))
                  .Add("gbytes_per_second", JsonNumber(link.gbytes_per_second))
                  .AddText("route", link.direct ? "direct" : "host")
                  .Text());
  }
  return JsonObject()
      .AddText("spec", device.spec)
      .Add("gflops", JsonNumber(device.gflops))
      .Add("gbytes_per_second", JsonNumber(device.gbytes_per_second))
      .Add("launch_us", JsonNumber(device.launch_us))
      .Add("links", links.Text())
      .Text();
}

// The sum of what was measured of the nodes; below 0 where nothing was.
double MeasuredUs(const Partition& partition, const PartitionPart& part,
                  const std::map<std::string, double>& measured_us) {
  double sum = -1;
  for (const int node : part.nodes) {
    const auto found =
        measured_us.find(partition.nodes[static_cast<size_t>(node)].name);
    if (found == measured_us.end()) continue;
    sum = (sum < 0 ? 0 : sum) + found->second;
  }
  return sum;
}

std::string PartText(const Partition& partition, size_t number,
                     const std::map<std::string, double>& measured_us) {
  const PartitionPart& part = partition.parts[number];
  JsonArray nodes;
  for (const int node : part.nodes) {
    nodes.Add(JsonString(partition.nodes[static_cast<size_t>(node)].name));
  }
  JsonArray inputs;
  for (const PartitionInput& input : part.inputs) {
    inputs.Add(
        JsonObject()
            .AddText("value", input.value)
            .Add("bytes", JsonNumber(input.bytes))
            .Add("from", input.from < 0 ? "null" : JsonNumber(input.from))
            .Text());
  }
  const double measured = MeasuredUs(partition, part, measured_us);
  return JsonObject()
      .Add("id", JsonNumber(number))
      .AddText("device",
               partition.devices[static_cast<size_t>(part.device)].spec)
      .AddText("kind", part.graph ? "graph" : "kernels")
      .Add("nodes", nodes.Text())
      .Add("inputs", inputs.Text())
      .Add("predicted_us", JsonNumber(part.predicted_us))
      .Add("measured_us", measured < 0 ? "null" : JsonNumber(measured))
      .Text();
}

std::string NodeText(const PartitionNode& node) {
  return JsonObject()
      .AddText("name", node.name)
      .Add("part", JsonNumber(node.part))
      .AddText("kernel", node.kernel)
      .Add("predicted_us", JsonNumber(node.predicted_us))
      .Add("refused", Texts(node.refused))
      .Text();
}

// The text in quotes, as labels of DOT are.
std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : ValidUtf8(text)) {
    if (c == '"' || c == '\\') out += '\\';
    const bool control = static_cast<unsigned char>(c) < ' ' || c == '\x7F';
    out += control ? ' ' : c;
  }
  return out + "\"";
}

}  // namespace

std::string PartitionJson(const Plan& plan,
                          const std::map<std::string, double>& measured_us) {
  const Partition& partition = plan.notes.partition;
  JsonArray devices;
  for (const PartitionDevice& device : partition.devices) {
    devices.Add(DeviceText(partition, device));
  }
  JsonArray parts;
  for (size_t i = 0; i < partition.parts.size(); ++i) {
    parts.Add(PartText(partition, i, measured_us));
  }
  JsonArray nodes;
  for (const PartitionNode& node : partition.nodes) nodes.Add(NodeText(node));
  JsonArray compared;
  for (const ComparedPlan& other : partition.compared) {
    compared.Add(JsonObject()
                     .AddText("plan", other.plan)
                     .Add("predicted_us", JsonNumber(other.predicted_us))
                     .Add("peak_bytes", JsonNumber(other.peak_bytes))
                     .Text());
  }
  return JsonObject()
      .AddText("graph", plan.graph)
      .AddText("policy", partition.policy)
      .Add("devices", devices.Text())
      .Add("parts", parts.Text())
      .Add("nodes", nodes.Text())
      .Add("compared", compared.Text())
      .AddText("chosen", partition.chosen)
      .Text();
}

std::string PartitionDot(const Plan& plan) {
  const Partition& partition = plan.notes.partition;
  std::string text = StrCat("digraph ", Quoted(plan.graph), " {\n",
                            "  compound=true;\n  node [shape=box];\n");
  for (size_t i = 0; i < partition.parts.size(); ++i) {
    const PartitionPart& part = partition.parts[i];
    const std::string label =
        StrCat("part ", i, ": ",
               partition.devices[static_cast<size_t>(part.device)].spec);
    text += StrCat("  subgraph cluster_", i, " {\n    label=", Quoted(label),
                   ";\n");
    for (const int node : part.nodes) {
      text += StrCat("    n", node, " [label=",
                     Quoted(partition.nodes[static_cast<size_t>(node)].name),
                     "];\n");
    }
    text += "  }\n";
  }
  for (size_t i = 0; i < partition.parts.size(); ++i) {
    for (const PartitionInput& input : partition.parts[i].inputs) {
      if (input.from < 0) continue;
      const PartitionPart& from =
          partition.parts[static_cast<size_t>(input.from)];
      text += StrCat(
          "  n", from.nodes.back(), " -> n", partition.parts[i].nodes.front(),
          " [ltail=cluster_", input.from, ", lhead=cluster_", i,
          ", label=", Quoted(StrCat(input.value, ", ", input.bytes, " bytes")),
          "];\n");
    }
  }
  return text + "}\n";
}

}  // namespace tim::ir
