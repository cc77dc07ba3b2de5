// The C boundary: compiled partitions.
#include <memory>

#include "graph_api/compiled_partition.h"
#include "graph_api/error.h"
#include "graph_api/options.h"
#include "tim/graph/c_memory.h"

namespace tim::graph {
namespace {

Status RequireCompiled(const_tim_graph_compiled_partition_t partition) {
  TIM_RETURN_IF_ERROR(RequireNotNull(partition, "compiled partition"));
  if (partition->compiled != nullptr) return OkStatus();
  return InvalidArgument(
      "the compiled partition is empty: nothing was compiled into it");
}

Status RequireTensors(const char* what, size_t count,
                      const const_tim_graph_tensor_t* tensors) {
  if (count == 0 || tensors != nullptr) return OkStatus();
  return InvalidArgument("the list of ", what, " is null");
}

Status ExecuteCall(const_tim_graph_compiled_partition_t partition,
                   tim_graph_stream_t stream, ClientTensors inputs,
                   ClientTensors outputs, const_tim_graph_tensor_t scratchpad,
                   const tim_graph_execute_options_t* options = nullptr) {
  TIM_RETURN_IF_ERROR(RequireCompiled(partition));
  TIM_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
  TIM_RETURN_IF_ERROR(RequireTensors("inputs", inputs.size(), inputs.data()));
  TIM_RETURN_IF_ERROR(
      RequireTensors("outputs", outputs.size(), outputs.data()));
  return partition->compiled->Execute(*stream, inputs, outputs, scratchpad,
                                      GetGraphOptions().check, options);
}

}  // namespace
}  // namespace tim::graph

using namespace tim;         // NOLINT
using namespace tim::graph;  // NOLINT

tim_graph_status_t tim_graph_compiled_partition_create(
    tim_graph_compiled_partition_t* compiled_partition,
    tim_graph_partition_t partition) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(
        RequireNotNull(compiled_partition, "compiled partition"));
    TIM_RETURN_IF_ERROR(RequireNotNull(partition, "partition"));
    *compiled_partition = new tim_graph_compiled_partition();
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_compiled_partition_destroy(
    tim_graph_compiled_partition_t compiled_partition) {
  return Answer([&] {
    delete compiled_partition;
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_compiled_partition_execute(
    const_tim_graph_compiled_partition_t compiled_partition,
    tim_graph_stream_t stream, size_t num_inputs,
    const_tim_graph_tensor_t* inputs, size_t num_outputs,
    const_tim_graph_tensor_t* outputs) {
  return Answer([&] {
    return ExecuteCall(compiled_partition, stream, {inputs, num_inputs},
                       {outputs, num_outputs}, nullptr);
  });
}

tim_graph_status_t tim_graph_compiled_partition_execute_v2(
    const_tim_graph_compiled_partition_t compiled_partition,
    tim_graph_stream_t stream, size_t num_inputs,
    const_tim_graph_tensor_t* inputs, size_t num_outputs,
    const_tim_graph_tensor_t* outputs, const_tim_graph_tensor_t scratchpad) {
  return Answer([&] {
    return ExecuteCall(compiled_partition, stream, {inputs, num_inputs},
                       {outputs, num_outputs}, scratchpad);
  });
}

tim_graph_status_t tim_graph_compiled_partition_execute_with_options(
    const_tim_graph_compiled_partition_t compiled_partition,
    tim_graph_stream_t stream, size_t num_inputs,
    const_tim_graph_tensor_t* inputs, size_t num_outputs,
    const_tim_graph_tensor_t* outputs, const_tim_graph_tensor_t scratchpad,
    const tim_graph_execute_options_t* options) {
  return Answer([&] {
    return ExecuteCall(compiled_partition, stream, {inputs, num_inputs},
                       {outputs, num_outputs}, scratchpad, options);
  });
}

tim_graph_status_t tim_graph_compiled_partition_get_residency(
    const_tim_graph_compiled_partition_t compiled_partition, size_t id,
    tim_graph_residency_t* residency) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireCompiled(compiled_partition));
    TIM_RETURN_IF_ERROR(RequireNotNull(residency, "residency"));
    *residency = compiled_partition->compiled->ResidencyOf(id);
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_compiled_partition_query_logical_tensor(
    const_tim_graph_compiled_partition_t compiled_partition, size_t tid,
    tim_graph_logical_tensor_t* lt) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireCompiled(compiled_partition));
    TIM_RETURN_IF_ERROR(RequireNotNull(lt, "logical tensor"));
    *lt = compiled_partition->compiled->Query(tid);
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_compiled_partition_get_inplace_ports(
    const_tim_graph_compiled_partition_t compiled_partition,
    size_t* num_inplace_pairs, const tim_graph_inplace_pair_t** inplace_pairs) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireCompiled(compiled_partition));
    TIM_RETURN_IF_ERROR(RequireNotNull(num_inplace_pairs, "number of pairs"));
    TIM_RETURN_IF_ERROR(RequireNotNull(inplace_pairs, "list of pairs"));
    const auto& pairs = compiled_partition->compiled->in_place();
    *num_inplace_pairs = pairs.size();
    *inplace_pairs = pairs.data();
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_compiled_partition_get_scratchpad_logical_tensor(
    const_tim_graph_compiled_partition_t compiled_partition,
    tim_graph_logical_tensor_t* lt) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireCompiled(compiled_partition));
    TIM_RETURN_IF_ERROR(RequireNotNull(lt, "logical tensor"));
    *lt = compiled_partition->compiled->Scratchpad();
    return OkStatus();
  });
}
