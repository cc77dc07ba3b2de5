// Compiles and executes partitions, and evaluates their ops on the host.
#include "tools/timcl/graph_runner.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "base/options.h"
#include "device/host/host_device.h"
#include "graph_api/compiled_partition.h"
#include "graph_api/dump.h"
#include "graph_api/gpu_ports.h"
#include "graph_api/lower_ops.h"
#include "graph_api/partitioning.h"
#include "graph_api/port_layouts.h"
#include "graph_api/tensor.h"
#include "graph_api/verbose_lines.h"
#include "tools/timcl/graph_file.h"

namespace tim::tool {
namespace {

using graph::LogicalTensor;
using graph::Partition;
using TensorHandle = std::shared_ptr<tim_graph_tensor>;

bool IsHostScalar(const LogicalTensor& description) {
  return description.property == tim_graph_tensor_property_host_scalar;
}

std::vector<const LogicalTensor*> PointersTo(
    const std::vector<LogicalTensor>& list) {
  std::vector<const LogicalTensor*> pointers;
  for (const LogicalTensor& one : list) pointers.push_back(&one);
  return pointers;
}

// An engine of the devices that a name stands for.
Result<std::shared_ptr<tim_graph_engine>> EngineOn(const std::string& device) {
  TIM_ASSIGN_OR_RETURN(device::Devices devices,
                       DevicesFor(device, GetOptions().on_device));
  auto programs = graph::ProgramsFor(*devices.back());
  tim_graph_engine* const made = tim_graph_engine::Make(
      graph::EngineParts{.kind = tim_graph_cpu,
                         .devices = std::move(devices),
                         .allocator = graph::OwnHostAllocator(),
                         .programs = std::move(programs)});
  return std::shared_ptr<tim_graph_engine>(made, tim_graph_engine_destroy);
}

// Copies between the memory of a gpu engine's tensor and the host's.
enum class Direction { kToDevice, kToHost };
Status CopyBetween(const GraphTensor& host, const tim_graph_tensor& on_device,
                   Direction direction) {
  if (graph::IsEmpty(graph::DimsOf(host.description))) return OkStatus();
  device::Device& device = *on_device.engine()->device();
  TIM_ASSIGN_OR_RETURN(const graph::GpuPort port,
                       graph::DevicePortOf(on_device, host.bytes, device));
  if (port.memory == nullptr) return TIM_INTERNAL("a port has no memory");
  const auto host_device = device::CreateHostDevice();
  TIM_ASSIGN_OR_RETURN(const auto imported,
                       host_device->Import(host.memory.get(), host.bytes));
  const device::BufferRange here = {imported.get(), 0, host.bytes};
  const device::BufferRange there = {port.memory->buffer.get(),
                                     port.memory->offset, host.bytes};
  TIM_ASSIGN_OR_RETURN(const auto stream, device.CreateStream());
  TIM_RETURN_IF_ERROR(direction == Direction::kToDevice
                          ? stream->Copy(here, there)
                          : stream->Copy(there, here));
  TIM_ASSIGN_OR_RETURN(const auto event, stream->Record());
  return event->Wait();
}

double MillisecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - begin)
      .count();
}

}  // namespace

Status StatusOf(tim_graph_status_t code) {
  if (code == tim_graph_success) return OkStatus();
  const std::string text =
      StrCat(tim_graph_status2str(code), ": ", tim_graph_last_message());
  constexpr tim_graph_status_t kMistakes[] = {
      tim_graph_invalid_arguments, tim_graph_invalid_graph,
      tim_graph_invalid_graph_op, tim_graph_invalid_shape,
      tim_graph_invalid_data_type};
  if (std::find(std::begin(kMistakes), std::end(kMistakes), code) !=
      std::end(kMistakes)) {
    return InvalidArgument(text);
  }
  if (code == tim_graph_unimplemented) return Unimplemented(text);
  if (code == tim_graph_out_of_memory) return OutOfMemory(text);
  return FailedPrecondition(text);
}

LogicalTensor Strided(LogicalTensor tensor) {
  const bool known = tensor.layout_type == tim_graph_layout_type_strided &&
                     graph::HasKnownDims(tensor) &&
                     graph::HasKnownStrides(tensor);
  if (known) return tensor;
  tensor.layout_type = tim_graph_layout_type_strided;
  if (graph::HasKnownDims(tensor)) {
    graph::SetDenseStrides(&tensor);
  } else {
    std::fill(std::begin(tensor.layout.strides),
              std::end(tensor.layout.strides), TIM_GRAPH_UNKNOWN_DIM);
  }
  return tensor;
}

/// Tensors of one partition's executes.
struct GraphRunner::Execution {
  tim_graph_engine* engine = nullptr;
  std::vector<TensorHandle> held = {};

  // A handle on the tensor's memory, or on memory of the device.
  Result<TensorHandle> Make(const GraphTensor& tensor) {
    tim_graph_tensor* made = nullptr;
    const LogicalTensor& description = tensor.description;
    const bool on_device = engine->kind() == tim_graph_gpu;
    const tim_graph_status_t code =
        IsHostScalar(description)
            ? tim_graph_tensor_create_scalar(&made, &description,
                                             tensor.memory.get())
            : tim_graph_tensor_create(
                  &made, &description, engine,
                  on_device ? TIM_GRAPH_MEMORY_ALLOCATE : tensor.memory.get());
    TIM_RETURN_IF_ERROR(StatusOf(code));
    held.emplace_back(made, tim_graph_tensor_destroy);
    if (on_device && !IsHostScalar(description)) {
      TIM_RETURN_IF_ERROR(CopyBetween(tensor, *made, Direction::kToDevice));
    }
    return held.back();
  }
};

Result<GraphRunner> GraphRunner::Create(tim_graph_engine_kind_t kind,
                                        const std::string& device) {
  GraphRunner runner;
  if (!device.empty()) {
    if (kind != tim_graph_cpu) {
      return InvalidArgument(
          "--device names the device of a cpu engine; leave it out for gpu");
    }
    TIM_ASSIGN_OR_RETURN(runner.engine_, EngineOn(device));
  } else {
    tim_graph_engine* made = nullptr;
    TIM_RETURN_IF_ERROR(StatusOf(tim_graph_engine_create(&made, kind, 0)));
    runner.engine_.reset(made, tim_graph_engine_destroy);
  }
  tim_graph_stream* stream = nullptr;
  TIM_RETURN_IF_ERROR(StatusOf(tim_graph_stream_create(
      &stream, runner.engine_.get(), tim_graph_stream_default_flags)));
  runner.stream_.reset(stream, tim_graph_stream_destroy);
  return runner;
}

std::string GraphRunner::DeviceName() const {
  const ir::DeviceInfo& info = engine_->device()->info();
  return info.kind == "host" ? "host" : info.name;
}

Result<PartitionRun> GraphRunner::Run(
    const std::shared_ptr<const Partition>& partition,
    const GraphTensors& tensors, int runs, const std::string& dump) const {
  std::vector<LogicalTensor> inputs, outputs;
  for (const LogicalTensor& port : partition->ports().inputs) {
    inputs.push_back(tensors.at(port.id).description);
  }
  for (const LogicalTensor& port : partition->ports().outputs) {
    outputs.push_back(Strided(port));
  }
  if (!dump.empty()) {
    TIM_RETURN_IF_ERROR(
        graph::DumpCompiled(dump, partition->source(), inputs, outputs));
  }
  tim_graph_partition holder = {.partition = partition};
  tim_graph_compiled_partition compiled;
  auto ins = PointersTo(inputs), outs = PointersTo(outputs);
  TIM_RETURN_IF_ERROR(StatusOf(
      tim_graph_partition_compile(&holder, &compiled, ins.size(), ins.data(),
                                  outs.size(), outs.data(), engine_.get())));

  PartitionRun run;
  Execution execution{.engine = engine_.get()};
  std::vector<const_tim_graph_tensor_t> read, written;
  for (const LogicalTensor& port : compiled.compiled->inputs()) {
    TIM_ASSIGN_OR_RETURN(const TensorHandle handle,
                         execution.Make(tensors.at(port.id)));
    read.push_back(handle.get());
  }
  for (const LogicalTensor& port : compiled.compiled->outputs()) {
    TIM_ASSIGN_OR_RETURN(run.outputs.emplace_back(), AllocateTensor(port));
    TIM_ASSIGN_OR_RETURN(const TensorHandle handle,
                         execution.Make(run.outputs.back()));
    written.push_back(handle.get());
  }
  for (int i = 0; i <= runs; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    TIM_RETURN_IF_ERROR(StatusOf(tim_graph_compiled_partition_execute(
        &compiled, stream_.get(), read.size(), read.data(), written.size(),
        written.data())));
    TIM_RETURN_IF_ERROR(StatusOf(tim_graph_stream_wait(stream_.get())));
    const double ms = MillisecondsSince(begin);
    if (i == 0) run.first_ms = ms;
    run.ms = i <= 1 ? ms : std::min(run.ms, ms);
  }
  if (engine_->kind() == tim_graph_gpu) {
    for (size_t i = 0; i < written.size(); ++i) {
      TIM_RETURN_IF_ERROR(
          CopyBetween(run.outputs[i], *written[i], Direction::kToHost));
    }
  }
  const auto plan = compiled.compiled->plan();
  if (plan.ok() && *plan != nullptr) {
    run.kernels = graph::verbose::KernelsText((*plan)->plan());
  }
  return run;
}

Result<GraphTensors> Evaluate(const Partition& partition,
                              const GraphTensors& tensors) {
  TIM_ASSIGN_OR_RETURN(const GraphRunner host,
                       GraphRunner::Create(tim_graph_cpu, "host"));
  GraphTensors known;
  for (const LogicalTensor& port : partition.ports().inputs) {
    known[port.id] = tensors.at(port.id);
  }
  GraphTensors made;
  for (const graph::Op& op : partition.ops()) {
    TIM_ASSIGN_OR_RETURN(
        PartitionRun run,
        host.Run(graph::PartitionOfOp(op, tim_graph_cpu), known, 0, ""));
    for (GraphTensor& output : run.outputs) {
      known[output.description.id] = output;
      made[output.description.id] = std::move(output);
    }
  }
  return made;
}

}  // namespace tim::tool
