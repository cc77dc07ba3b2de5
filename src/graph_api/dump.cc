// Writes graphs and partitions to files, where the modes of dumps ask for it.
#include "graph_api/dump.h"

#include <atomic>
#include <map>

#include "base/hash.h"
#include "base/write_file.h"
#include "graph_api/error.h"
#include "graph_api/json_graph.h"
#include "graph_api/options.h"
#include "graph_api/partitioning.h"
#include "tim/graph/c.h"

namespace tim::graph {
namespace {

constexpr unsigned kUnset = ~0u;
constexpr unsigned kAllModes =
    tim_graph_dump_mode_subgraph | tim_graph_dump_mode_graph;

constinit std::atomic<unsigned> dump_modes = kUnset;

// Descriptions of the call in place of the graph's.
void Describe(const std::map<size_t, LogicalTensor>& known,
              std::vector<LogicalTensor>* tensors) {
  for (LogicalTensor& tensor : *tensors) {
    const auto found = known.find(tensor.id);
    if (found != known.end()) tensor = found->second;
  }
}

}  // namespace

unsigned DumpModes() {
  const unsigned modes = dump_modes.load(std::memory_order_relaxed);
  return modes == kUnset ? GetGraphOptions().dump : modes;
}

Status SetDumpMode(unsigned modes) {
  if ((modes & ~kAllModes) != 0) {
    return InvalidArgument("there is no dump mode ", modes,
                           "; there are none (0), subgraph (1), graph (2) and "
                           "both (3)");
  }
  dump_modes = modes;
  return OkStatus();
}

Status DumpPartitioning(const std::string& folder, const std::vector<Op>& ops,
                        const GraphTraits& traits,
                        const Partitions& partitions) {
  static constinit std::atomic<size_t> next = 0;
  const std::string stem =
      StrCat(folder, "/graph-", next.fetch_add(1, std::memory_order_relaxed));
  const Ports ports = PortsOf(ops);
  TIM_RETURN_IF_ERROR(
      WriteFile(stem + ".json", {JsonOfGraph(ops, ports, traits)}));
  return WriteFile(stem + "-partitioning.json",
                   {JsonOfPartitions(partitions, ports, traits)});
}

Status DumpCompiled(const std::string& folder, const CompileSource& source,
                    const std::vector<LogicalTensor>& inputs,
                    const std::vector<LogicalTensor>& outputs) {
  std::map<size_t, LogicalTensor> known;
  for (const auto* list : {&inputs, &outputs}) {
    for (const LogicalTensor& tensor : *list) known[tensor.id] = tensor;
  }
  std::vector<Op> ops = *source.ops;
  for (Op& op : ops) {
    Describe(known, &op.inputs);
    Describe(known, &op.outputs);
  }
  const std::string json =
      JsonOfGraph(ops, {.inputs = *source.inputs, .outputs = *source.outputs},
                  {.kind = source.kind,
                   .fpmath_mode = source.fpmath_mode,
                   .fpmath_applies_to_int = source.fpmath_applies_to_int});
  return WriteFile(StrCat(folder, "/graph-", source.id, "-",
                          HashText(json).ToString(), ".json"),
                   {json});
}

}  // namespace tim::graph

tim_graph_status_t tim_graph_set_dump_mode(tim_graph_dump_mode_t modes) {
  return tim::graph::Answer(
      [&] { return tim::graph::SetDumpMode(static_cast<unsigned>(modes)); });
}
