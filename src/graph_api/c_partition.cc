// The C boundary: partitions.
#include <algorithm>
#include <vector>

#include "base/log.h"
#include "graph_api/compiled_cache.h"
#include "graph_api/dump.h"
#include "graph_api/error.h"
#include "graph_api/options.h"
#include "graph_api/partition.h"
#include "graph_api/verbose_lines.h"
#include "tim/graph/c_memory.h"

namespace tim::graph {
namespace {

Status Require(const_tim_graph_partition_t partition) {
  TIM_RETURN_IF_ERROR(RequireNotNull(partition, "partition"));
  return RequireNotNull(partition->partition.get(), "partition");
}

template <typename Read, typename T>
tim_graph_status_t Get(const_tim_graph_partition_t partition, T* value,
                       const char* what, const Read& read) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(Require(partition));
    TIM_RETURN_IF_ERROR(RequireNotNull(value, what));
    *value = read(*partition->partition);
    return OkStatus();
  });
}

// `list` has room for `room` elements, which must be enough.
template <typename T>
Status CopyList(const std::vector<T>& from, size_t room, T* list,
                const char* what) {
  if (room < from.size()) {
    return InvalidArgument("there is room for ", room, " ", what,
                           ", the partition has ", from.size());
  }
  if (from.empty()) return OkStatus();
  TIM_RETURN_IF_ERROR(RequireNotNull(list, what));
  std::copy(from.begin(), from.end(), list);
  return OkStatus();
}

Result<std::vector<LogicalTensor>> Gather(const LogicalTensor** list,
                                          size_t count, const char* what) {
  if (count != 0) TIM_RETURN_IF_ERROR(RequireNotNull(list, what));
  std::vector<LogicalTensor> tensors;
  for (size_t i = 0; i < count; ++i) {
    TIM_RETURN_IF_ERROR(RequireNotNull(list[i], what));
    tensors.push_back(*list[i]);
  }
  return tensors;
}

struct CompileArguments {
  std::vector<LogicalTensor> inputs, outputs;
};

Result<CompileArguments> GatherAll(
    const_tim_graph_partition_t partition,
    const_tim_graph_compiled_partition_t compiled, size_t in_num,
    const LogicalTensor** inputs, size_t out_num,
    const LogicalTensor** outputs) {
  TIM_RETURN_IF_ERROR(Require(partition));
  TIM_RETURN_IF_ERROR(RequireNotNull(compiled, "compiled partition"));
  CompileArguments arguments;
  TIM_ASSIGN_OR_RETURN(arguments.inputs, Gather(inputs, in_num, "input"));
  TIM_ASSIGN_OR_RETURN(arguments.outputs, Gather(outputs, out_num, "output"));
  return arguments;
}

// A later entry of an id counts.
Result<Residencies> ResidenciesOf(const tim_graph_compile_options_t* options) {
  Residencies residencies;
  if (options == nullptr || options->num_ports == 0) return residencies;
  TIM_RETURN_IF_ERROR(RequireNotNull(options->ports, "list of ports"));
  for (size_t i = 0; i < options->num_ports; ++i) {
    residencies[options->ports[i].id] = options->ports[i].residency;
  }
  return residencies;
}

void DumpIfWanted(const CompileSource& source,
                  const CompileArguments& arguments) {
  if ((DumpModes() & tim_graph_dump_mode_subgraph) == 0) return;
  const Status dumped = DumpCompiled(GetGraphOptions().dump_dir, source,
                                     arguments.inputs, arguments.outputs);
  if (!dumped.ok()) TIM_LOG(kWarning, "no dump: ", dumped.message());
}

}  // namespace
}  // namespace tim::graph

using namespace tim;         // NOLINT
using namespace tim::graph;  // NOLINT

tim_graph_status_t tim_graph_partition_destroy(
    tim_graph_partition_t partition) {
  return Answer([&] {
    delete partition;
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_partition_get_op_num(
    const_tim_graph_partition_t partition, size_t* num) {
  return Get(partition, num, "number",
             [](const Partition& of) { return of.ops().size(); });
}

tim_graph_status_t tim_graph_partition_get_ops(tim_graph_partition_t partition,
                                               size_t num, size_t* ids) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(Require(partition));
    std::vector<size_t> own;
    for (const Op& op : partition->partition->ops()) own.push_back(op.id);
    return CopyList(own, num, ids, "ids of ops");
  });
}

tim_graph_status_t tim_graph_partition_get_id(
    const_tim_graph_partition_t partition, size_t* id) {
  return Get(partition, id, "id", [](const Partition& of) { return of.id(); });
}

tim_graph_status_t tim_graph_partition_compile(
    tim_graph_partition_t partition,
    tim_graph_compiled_partition_t compiled_partition, size_t in_num,
    const tim_graph_logical_tensor_t** inputs, size_t out_num,
    const tim_graph_logical_tensor_t** outputs, tim_graph_engine_t engine) {
  return tim_graph_partition_compile_with_options(partition, compiled_partition,
                                                  in_num, inputs, out_num,
                                                  outputs, engine, nullptr);
}

tim_graph_status_t tim_graph_partition_compile_with_options(
    tim_graph_partition_t partition,
    tim_graph_compiled_partition_t compiled_partition, size_t in_num,
    const tim_graph_logical_tensor_t** inputs, size_t out_num,
    const tim_graph_logical_tensor_t** outputs, tim_graph_engine_t engine,
    const tim_graph_compile_options_t* options) {
  CompileResult result;
  const Status status = GuardedCall([&]() -> Status {
    TIM_ASSIGN_OR_RETURN(const CompileArguments arguments,
                         GatherAll(partition, compiled_partition, in_num,
                                   inputs, out_num, outputs));
    TIM_ASSIGN_OR_RETURN(const Residencies residencies, ResidenciesOf(options));
    const verbose::CompileLine line;
    bool hit = false;
    result = CompileOnce(
        partition->partition->source(), arguments.inputs, arguments.outputs,
        engine == nullptr ? nullptr : engine->shared_from_this(), &hit,
        residencies);
    if (result.compiled == nullptr) return OkStatus();
    compiled_partition->compiled = result.compiled;
    line.End(hit, partition->partition->source(), *result.compiled);
    DumpIfWanted(partition->partition->source(), arguments);
    return OkStatus();
  });
  if (!status.ok()) return Answer(status);
  return Answer(result.code, result.status);
}

tim_graph_status_t tim_graph_partition_get_input_ports_num(
    const_tim_graph_partition_t partition, size_t* num) {
  return Get(partition, num, "number",
             [](const Partition& of) { return of.ports().inputs.size(); });
}

tim_graph_status_t tim_graph_partition_get_input_ports(
    const_tim_graph_partition_t partition, size_t num,
    tim_graph_logical_tensor_t* inputs) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(Require(partition));
    return CopyList(partition->partition->ports().inputs, num, inputs,
                    "input ports");
  });
}

tim_graph_status_t tim_graph_partition_get_output_ports_num(
    const_tim_graph_partition_t partition, size_t* num) {
  return Get(partition, num, "number",
             [](const Partition& of) { return of.ports().outputs.size(); });
}

tim_graph_status_t tim_graph_partition_get_output_ports(
    const_tim_graph_partition_t partition, size_t num,
    tim_graph_logical_tensor_t* outputs) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(Require(partition));
    return CopyList(partition->partition->ports().outputs, num, outputs,
                    "output ports");
  });
}

tim_graph_status_t tim_graph_partition_is_supported(
    const_tim_graph_partition_t partition, uint8_t* is_supported) {
  return Get(partition, is_supported, "answer", [](const Partition& of) {
    return static_cast<uint8_t>(of.supported());
  });
}

tim_graph_status_t tim_graph_partition_get_engine_kind(
    const_tim_graph_partition_t partition, tim_graph_engine_kind_t* kind) {
  return Get(partition, kind, "kind",
             [](const Partition& of) { return of.traits().kind; });
}
