// Ops become nodes of the compiler's partitioner, and its parts partitions.
#include "graph_api/partitioning.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "compiler/partitioner.h"
#include "graph_api/lower_ops.h"
#include "graph_api/op_def.h"
#include "graph_api/verbose.h"
#include "ir/node_descs.h"

namespace tim::graph {
namespace {

constexpr int kMostRank = 8;  // of the compiler

Status CheckRanks(const Op& op, const std::vector<LogicalTensor>& tensors,
                  const char* what) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].ndims > kMostRank) {
      return Unimplemented(op.def->name, " '", op.name, "': ", what, " ", i,
                           " has rank ", tensors[i].ndims, ", at most ",
                           kMostRank, " is supported");
    }
  }
  return OkStatus();
}

Result<compiler::PartitionLimits> LimitsOf(const PartitionOptions& options) {
  compiler::PartitionLimits limits = {.max_ops = options.max_ops,
                                      .min_ops = options.min_ops,
                                      .max_partitions = options.max_partitions,
                                      .max_anchors = options.max_anchors};
  if (options.policy == tim_graph_partition_policy_fusion) return limits;
  if (options.policy != tim_graph_partition_policy_debug) {
    return InvalidArgument("there is no partition policy ",
                           static_cast<int>(options.policy),
                           "; there are fusion (1) and debug (2)");
  }
  if (options.min_ops > 1) {
    return InvalidArgument("min_ops is ", options.min_ops,
                           ", and policy debug makes partitions of one op: "
                           "leave min_ops at 1, or take policy fusion");
  }
  limits.max_ops = 1;
  return limits;
}

bool AllDimsKnown(const std::vector<Op>& ops) {
  return std::all_of(ops.begin(), ops.end(), [](const Op& op) {
    return std::all_of(op.inputs.begin(), op.inputs.end(), HasKnownDims) &&
           std::all_of(op.outputs.begin(), op.outputs.end(), HasKnownDims);
  });
}

// Floating-point operations and bytes of an op's nodes; 1 where it is not
// lowered.
double CostOf(const Op& op) {
  const Result<LoweredOps> lowered =
      LowerOps(op.name, {op}, PortsOf({op}).inputs);
  if (!lowered.ok()) return 1;
  const ir::ComputeEstimate estimate = ir::EstimateOf(lowered->graph);
  return estimate.flops + estimate.bytes_read + estimate.bytes_written;
}

// Ops that are not supported are logged with the reason.
bool IsSupported(const Op& op, tim_graph_engine_kind_t kind) {
  const Status status = CheckSupported(op, kind);
  if (!status.ok() && verbose::Wants(kVerboseDispatch)) {
    verbose::Dispatch(StrCat("op ", op.id, ": ", status.message()));
  }
  return status.ok();
}

compiler::PartitionInput Described(const std::vector<Op>& ops,
                                   tim_graph_engine_kind_t kind,
                                   const PartitionOptions& options) {
  compiler::PartitionInput input;
  std::map<size_t, size_t> producers;  // by tensor
  for (size_t i = 0; i < ops.size(); ++i) {
    for (const LogicalTensor& tensor : ops[i].outputs) {
      producers.emplace(tensor.id, i);
    }
  }
  const bool by_cost = options.max_partitions != 0 && AllDimsKnown(ops);
  for (const Op& op : ops) {
    std::vector<size_t>& read = input.producers.emplace_back();
    for (const LogicalTensor& tensor : op.inputs) {
      const auto found = producers.find(tensor.id);
      if (found != producers.end()) read.push_back(found->second);
    }
    input.labels.push_back(IsSupported(op, kind) ? 0 : compiler::kAlone);
    input.anchors.push_back(op.def->anchor);
    if (by_cost) input.costs.push_back(CostOf(op));
  }
  return input;
}

}  // namespace

Status CheckSupported(const Op& op) {
  if (op.def->lower == nullptr) {
    return Unimplemented(op.def->name, " '", op.name,
                         "': the library does not run this kind");
  }
  TIM_RETURN_IF_ERROR(CheckRanks(op, op.inputs, "input"));
  TIM_RETURN_IF_ERROR(CheckRanks(op, op.outputs, "output"));
  if (op.def->supports == nullptr) return OkStatus();
  const Status status = op.def->supports(op);
  if (status.ok()) return status;
  return Unimplemented(op.def->name, " '", op.name, "': ", status.message());
}

Status CheckSupported(const Op& op, tim_graph_engine_kind_t kind) {
  TIM_RETURN_IF_ERROR(CheckSupported(op));
  if (op.def->supports_on == nullptr) return OkStatus();
  const Status status = op.def->supports_on(op, kind);
  if (status.ok()) return status;
  return Unimplemented(op.def->name, " '", op.name, "': ", status.message());
}

Ports PortsOf(const std::vector<Op>& ops,
              const std::vector<size_t>& used_outside) {
  std::set<size_t> produced, read;
  for (const Op& op : ops) {
    for (const LogicalTensor& tensor : op.inputs) read.insert(tensor.id);
    for (const LogicalTensor& tensor : op.outputs) produced.insert(tensor.id);
  }
  for (const size_t tensor : used_outside) read.erase(tensor);
  Ports ports;
  std::set<size_t> listed;
  for (const Op& op : ops) {
    for (const LogicalTensor& tensor : op.inputs) {
      if (produced.count(tensor.id) == 0 && listed.insert(tensor.id).second) {
        ports.inputs.push_back(tensor);
      }
    }
    for (const LogicalTensor& tensor : op.outputs) {
      if (read.count(tensor.id) == 0 && listed.insert(tensor.id).second) {
        ports.outputs.push_back(tensor);
      }
    }
  }
  return ports;
}

Result<Partitions> MakePartitions(const std::vector<Op>& ops,
                                  const GraphTraits& traits,
                                  const PartitionOptions& options) {
  TIM_ASSIGN_OR_RETURN(const compiler::PartitionLimits limits,
                       LimitsOf(options));
  TIM_ASSIGN_OR_RETURN(
      const std::vector<compiler::Part> parts,
      compiler::PartitionNodes(Described(ops, traits.kind, options), limits));
  std::vector<size_t> part_of(ops.size());
  std::map<size_t, size_t> producers;  // tensor to part
  for (size_t part = 0; part < parts.size(); ++part) {
    for (const size_t op : parts[part].nodes) {
      part_of[op] = part;
      for (const LogicalTensor& tensor : ops[op].outputs) {
        producers.emplace(tensor.id, part);
      }
    }
  }
  std::vector<std::vector<size_t>> used_outside(parts.size());
  for (size_t op = 0; op < ops.size(); ++op) {
    for (const LogicalTensor& tensor : ops[op].inputs) {
      const auto found = producers.find(tensor.id);
      if (found != producers.end() && found->second != part_of[op]) {
        used_outside[found->second].push_back(tensor.id);
      }
    }
  }
  Partitions partitions;
  for (size_t part = 0; part < parts.size(); ++part) {
    std::vector<Op> own;
    for (const size_t op : parts[part].nodes) own.push_back(ops[op]);
    Ports ports = PortsOf(own, used_outside[part]);
    partitions.push_back(std::make_shared<const Partition>(
        traits, std::move(own), std::move(ports),
        parts[part].label != compiler::kAlone));
  }
  return partitions;
}

std::shared_ptr<const Partition> PartitionOfOp(Op op,
                                               tim_graph_engine_kind_t kind) {
  const bool supported = IsSupported(op, kind);
  std::vector<Op> ops = {std::move(op)};
  Ports ports = PortsOf(ops);
  return std::make_shared<const Partition>(
      GraphTraits{.kind = kind}, std::move(ops), std::move(ports), supported);
}

}  // namespace tim::graph
