// Builds a network through the public API of tim::graph, and runs it.
#include "bench/networks/partition_run.h"

#include <chrono>
#include <utility>

#include "bench/networks/layer_ops.h"
#include "bench/networks/values.h"

namespace tim::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int64_t kAlignment = 64;

}  // namespace

std::span<float> PartitionRun::FloatsOf(size_t id) const {
  const Memory& memory = memory_.at(id);
  return {reinterpret_cast<float*>(memory.bytes.get()), memory.elements};
}

std::span<float> PartitionRun::input() const {
  return FloatsOf(inputs_.front().get_logical_tensor().get_id());
}

std::span<const float> PartitionRun::output() const {
  return FloatsOf(outputs_.front().get_logical_tensor().get_id());
}

graph::tensor PartitionRun::Allocate(const Tensor& port) {
  const size_t bytes = port.get_mem_size();
  AlignedMemory memory =
      AllocateAligned(static_cast<int64_t>(bytes), kAlignment);
  void* const handle = memory.get();
  memory_[port.get_id()] = {std::move(memory), bytes / sizeof(float)};
  return {port, engine_, handle};
}

Status PartitionRun::Build(const Network& network) {
  TIM_ASSIGN_OR_RETURN(const LayerOps layers, OpsOfNetwork(network));
  graph::graph built(graph::engine::kind::cpu);
  for (const graph::op& op : layers.ops) built.add_op(op);
  built.finalize();
  const auto partitions = built.get_partitions();
  if (partitions.size() != 1) {
    return FailedPrecondition(network.name, ": ", partitions.size(),
                              " partitions, expected one");
  }
  std::vector<Tensor> inputs = {layers.results.front()};
  for (const ConstantPort& constant : layers.constants) {
    inputs.push_back(constant.tensor);
  }
  engine_ = graph::engine(graph::engine::kind::cpu, 0);
  stream_ = graph::stream(engine_);
  compiled_ = partitions[0].compile(inputs, {layers.results.back()}, engine_);
  for (const Tensor& port : inputs) inputs_.push_back(Allocate(port));
  outputs_.push_back(Allocate(layers.results.back()));
  for (const ConstantPort& constant : layers.constants) {
    const std::span<float> values = FloatsOf(constant.tensor.get_id());
    FillValues(constant.parameter->stream, constant.parameter->bound, values);
    for (float& value : values) value += constant.parameter->center;
  }
  return OkStatus();
}

Result<PartitionRun> PartitionRun::Create(const Network& network) {
  PartitionRun run;
  try {
    graph::set_constant_tensor_cache(1);
    TIM_RETURN_IF_ERROR(run.Build(network));
  } catch (const graph::error& error) {
    return FailedPrecondition(network.name, ": ", error.what());
  }
  return run;
}

Result<double> PartitionRun::Run() {
  const auto start = Clock::now();
  try {
    compiled_.execute(stream_, inputs_, outputs_);
  } catch (const graph::error& error) {
    return FailedPrecondition(error.what());
  }
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace tim::bench
