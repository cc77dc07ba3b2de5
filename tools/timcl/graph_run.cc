// `timcl graph-run`: partitions a graph file, runs each partition, and compares
// it with what the host makes of its operations.
#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "base/write_file.h"
#include "graph_api/dump.h"
#include "graph_api/graph.h"
#include "graph_api/logical_tensor.h"
#include "graph_api/partitioning.h"
#include "tools/timcl/commands.h"
#include "tools/timcl/graph_difference.h"
#include "tools/timcl/graph_json.h"
#include "tools/timcl/graph_runner.h"
#include "tools/timcl/graph_shapes.h"
#include "tools/timcl/read_file.h"
#include "tools/timcl/terminal.h"

namespace tim::tool {
namespace {

using graph::LogicalTensor;
using graph::Partition;

/// One partition, and what became of it.
struct Outcome {
  std::shared_ptr<const Partition> partition;
  Status status = {};  ///< Why it was not run.
  PartitionRun run = {};
  std::vector<GraphDifference> differences = {};  ///< By output, if compared.

  /// The output that is worst for its tolerance; null: none was compared.
  const GraphDifference* Worst() const {
    const auto excess = [](const GraphDifference& one) {
      return one.differs() ? 1 + one.error
                           : one.error / std::max(one.allowed, 1e-30);
    };
    const auto worst = std::max_element(
        differences.begin(), differences.end(),
        [&](const GraphDifference& a, const GraphDifference& b) {
          if (a.differs() != b.differs()) return b.differs();
          return excess(a) < excess(b);
        });
    return worst == differences.end() ? nullptr : &*worst;
  }
};

/// Runs the partitions of a graph one after the other.
class Session {
 public:
  Session(const Arguments& arguments, const std::vector<graph::Op>& ops,
          GraphRunner runner)
      : arguments_(arguments.graph_run),
        ops_(ops),
        runner_(std::move(runner)) {}

  Outcome Run(const std::shared_ptr<const Partition>& partition) {
    Outcome outcome = {.partition = partition};
    outcome.status = partition->supported() ? RunSupported(&outcome)
                                            : WhyUnsupported(*partition);
    return outcome;
  }

  std::string DeviceName() const { return runner_.DeviceName(); }

  /// Drops the bytes of tensors.
  void Drop(const std::vector<size_t>& tensors) {
    for (const size_t id : tensors) tensors_.erase(id);
  }

 private:
  static Status WhyUnsupported(const Partition& partition) {
    for (const graph::Op& op : partition.ops()) {
      TIM_RETURN_IF_ERROR(graph::CheckSupported(op));
    }
    return Unimplemented("the limits of TIMCL_GRAPH_PARTITION leave it out");
  }

  Status RunSupported(Outcome* outcome) {
    const Partition& partition = *outcome->partition;
    TIM_RETURN_IF_ERROR(FillInputs(partition));
    TIM_ASSIGN_OR_RETURN(
        outcome->run, runner_.Run(outcome->partition, tensors_, arguments_.runs,
                                  arguments_.dump));
    if (arguments_.compare) TIM_RETURN_IF_ERROR(CompareWithHost(outcome));
    for (const GraphTensor& output : outcome->run.outputs) {
      tensors_[output.description.id] = output;
    }
    return OkStatus();
  }

  // Inputs of the graph, and outputs of partitions that were not run.
  Status FillInputs(const Partition& partition) {
    for (const LogicalTensor& port : partition.ports().inputs) {
      if (tensors_.count(port.id) != 0) continue;
      TIM_ASSIGN_OR_RETURN(GraphTensor tensor, AllocateTensor(Strided(port)));
      TIM_RETURN_IF_ERROR(Fill(RangeFor(port, ops_), arguments_.seed, &tensor));
      tensors_[port.id] = std::move(tensor);
    }
    return OkStatus();
  }

  Status CompareWithHost(Outcome* outcome) {
    const Partition& partition = *outcome->partition;
    auto expected = Evaluate(partition, tensors_);
    if (!expected.ok()) return expected.status().WithContext("on the host");
    const GraphTolerance tolerance =
        ToleranceOf(partition, arguments_.tolerance);
    for (const GraphTensor& output : outcome->run.outputs) {
      TIM_ASSIGN_OR_RETURN(
          outcome->differences.emplace_back(),
          Compare(output, expected->at(output.description.id), tolerance));
    }
    return OkStatus();
  }

  const GraphRunArguments& arguments_;
  const std::vector<graph::Op>& ops_;
  const GraphRunner runner_;
  GraphTensors tensors_;
};

// The file's kind, unless there is no engine of it here.
tim_graph_engine_kind_t EngineKindFor(const GraphRunArguments& arguments,
                                      tim_graph_engine_kind_t of_file) {
  if (arguments.engine == "cpu") return tim_graph_cpu;
  if (arguments.engine == "gpu") return tim_graph_gpu;
  return tim_graph_engine_get_count(of_file) > 0 ? of_file : tim_graph_cpu;
}

Status MakePartitions(const std::vector<graph::Op>& ops,
                      const std::string& policy, tim_graph_graph* graph) {
  for (const graph::Op& op : ops) {
    tim_graph_op holder = {.op = op};
    TIM_RETURN_IF_ERROR(StatusOf(tim_graph_add_op(graph, &holder)));
  }
  TIM_RETURN_IF_ERROR(StatusOf(tim_graph_graph_finalize(graph)));
  return StatusOf(tim_graph_graph_filter(
      graph, policy == "debug" ? tim_graph_partition_policy_debug
                               : tim_graph_partition_policy_fusion));
}

Status DumpTo(const std::string& folder, const graph::Graph& graph) {
  if (folder.empty()) return OkStatus();
  TIM_RETURN_IF_ERROR(CreateFolder(folder));
  return graph::DumpPartitioning(folder, graph.ops(), graph.traits(),
                                 graph.partitions());
}

// Names of the ops, of a few where there are many.
std::string NamesOf(const std::vector<graph::Op>& ops) {
  constexpr size_t kMostNamed = 6;
  std::string text;
  for (size_t i = 0; i < std::min(ops.size(), kMostNamed); ++i) {
    text += StrCat(i == 0 ? "" : ";", ops[i].name);
  }
  if (ops.size() > kMostNamed) {
    text += StrCat(";... (", ops.size(), " operations)");
  }
  return text;
}

std::string ErrorText(const GraphDifference& worst) {
  std::string text = worst.integer ? StrCat("error ", worst.error, " of ",
                                            worst.allowed, " codes")
                                   : StrCat("error ", Scientific(worst.error),
                                            " of ", Scientific(worst.allowed));
  text += StrCat(" in tensor ", worst.id);
  if (worst.nans > 0) text += StrCat(" (", worst.nans, " times NaN)");
  return worst.differs() ? text + "  DIFFERENT" : text;
}

std::string TextOf(const Outcome& outcome, const std::string& device) {
  const Partition& partition = *outcome.partition;
  std::string text =
      StrCat("partition ", partition.id(), "  ", NamesOf(partition.ops()));
  if (!outcome.status.ok()) {
    return StrCat(text,
                  partition.supported() ? "  FAILED: " : "  unsupported: ",
                  outcome.status.message(), "\n");
  }
  text += StrCat("  kernels ",
                 outcome.run.kernels.empty() ? "none" : outcome.run.kernels,
                 "  ", device, "  ", Milliseconds(outcome.run.ms));
  const GraphDifference* const worst = outcome.Worst();
  if (worst != nullptr) text += "  " + ErrorText(*worst);
  return text + "\n";
}

Json JsonOf(const Outcome& outcome) {
  const Partition& partition = *outcome.partition;
  Json ops = Json::array();
  for (const graph::Op& op : partition.ops()) {
    ops.push_back({{"id", op.id}, {"name", op.name}, {"kind", op.def->name}});
  }
  Json json = {{"id", partition.id()},
               {"supported", partition.supported()},
               {"operations", std::move(ops)}};
  if (!outcome.status.ok()) {
    json["reason"] = outcome.status.message();
    return json;
  }
  json["kernels"] = outcome.run.kernels;
  json["first_ms"] = outcome.run.first_ms;
  json["ms"] = outcome.run.ms;
  Json outputs = Json::array();
  for (size_t i = 0; i < outcome.run.outputs.size(); ++i) {
    const LogicalTensor& tensor = outcome.run.outputs[i].description;
    Json output = {{"id", tensor.id}, {"tensor", graph::ToString(tensor)}};
    if (i < outcome.differences.size()) {
      const GraphDifference& difference = outcome.differences[i];
      output["error"] = difference.error;
      output["allowed"] = difference.allowed;
      output["differs"] = difference.differs();
      output["nans"] = difference.nans;
    }
    outputs.push_back(std::move(output));
  }
  json["outputs"] = std::move(outputs);
  return json;
}

// Tensors, by partition, that it reads or makes and no later one reads.
std::vector<std::vector<size_t>> LastUses(const graph::Partitions& partitions) {
  std::vector<std::vector<size_t>> uses(partitions.size());
  std::set<size_t> seen;
  for (size_t i = partitions.size(); i-- > 0;) {
    const graph::Ports& ports = partitions[i]->ports();
    for (const auto* tensors : {&ports.inputs, &ports.outputs}) {
      for (const LogicalTensor& port : *tensors) {
        if (seen.insert(port.id).second) uses[i].push_back(port.id);
      }
    }
  }
  return uses;
}

/// Counts of outcomes, and the first failure.
struct Summary {
  size_t run = 0, unsupported = 0, different = 0;
  Status failure = {};

  void Add(const Outcome& outcome) {
    if (!outcome.partition->supported()) {
      ++unsupported;
    } else if (!outcome.status.ok()) {
      if (failure.ok()) {
        failure = outcome.status.WithContext(
            StrCat("partition ", outcome.partition->id()));
      }
    } else {
      ++run;
      const GraphDifference* const worst = outcome.Worst();
      if (worst != nullptr && worst->differs()) ++different;
    }
  }
};

// Runs all partitions; prints each when it has run, unless JSON is wanted.
Summary RunAll(const graph::Partitions& partitions, bool as_json,
               Session* session, Json* json) {
  Summary summary;
  const std::vector<std::vector<size_t>> last_uses = LastUses(partitions);
  for (size_t i = 0; i < partitions.size(); ++i) {
    ShowProgress(StrCat("partition ", i + 1, " of ", partitions.size()));
    const Outcome outcome = session->Run(partitions[i]);
    ClearProgress();
    summary.Add(outcome);
    if (as_json) {
      json->push_back(JsonOf(outcome));
    } else {
      Print(TextOf(outcome, session->DeviceName()));
    }
    session->Drop(last_uses[i]);
  }
  return summary;
}

Result<ExitCode> RunFile(const Arguments& arguments, GraphJson file) {
  const GraphRunArguments& own = arguments.graph_run;
  TIM_RETURN_IF_ERROR(SetShapes(own.shapes, &file.ops));
  file.traits.kind = EngineKindFor(own, file.traits.kind);
  tim_graph_graph graph = {.graph = graph::Graph(file.traits)};
  TIM_RETURN_IF_ERROR(MakePartitions(file.ops, own.policy, &graph));
  TIM_RETURN_IF_ERROR(DumpTo(own.dump, graph.graph));
  TIM_ASSIGN_OR_RETURN(GraphRunner runner,
                       GraphRunner::Create(file.traits.kind, arguments.device));
  Session session(arguments, graph.graph.ops(), std::move(runner));
  if (!arguments.json) {
    for (const std::string& ignored : file.ignored) {
      Print(StrCat("note: ", ignored, " is left out\n"));
    }
  }
  const graph::Partitions& partitions = graph.graph.partitions();
  Json json = Json::array();
  const Summary summary = RunAll(partitions, arguments.json, &session, &json);
  if (arguments.json) {
    PrintJson({{"version", file.version},
               {"engine", tim_graph_engine_kind2str(file.traits.kind)},
               {"device", session.DeviceName()},
               {"ignored", file.ignored},
               {"partitions", json}});
  } else {
    Print(StrCat(partitions.size(), " partitions: ", summary.run, " run, ",
                 summary.unsupported, " unsupported, ", summary.different,
                 " different\n"));
  }
  TIM_RETURN_IF_ERROR(summary.failure);
  return summary.different > 0 ? kDiffers : kDone;
}

}  // namespace

Result<ExitCode> RunGraphFile(const Arguments& arguments) {
  TIM_ASSIGN_OR_RETURN(const std::string text, ReadFile(arguments.file));
  Result<GraphJson> file = ReadGraphJson(text);
  const Status status = file.status();
  if (!file.ok()) return status.WithContext(StrCat("'", arguments.file, "'"));
  Result<ExitCode> code = RunFile(arguments, *std::move(file));
  if (code.ok()) return code;
  return code.status().WithContext(StrCat("'", arguments.file, "'"));
}

}  // namespace tim::tool
