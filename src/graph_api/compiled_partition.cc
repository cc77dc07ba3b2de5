// Executes: matches tensors to ports, chooses a plan, and hands it to a stream.
#include "graph_api/compiled_partition.h"

#include <algorithm>
#include <optional>
#include <string>

#include "graph_api/gpu_ports.h"
#include "graph_api/output_allocation.h"
#include "graph_api/port_layouts.h"
#include "graph_api/port_staging.h"
#include "graph_api/residency.h"
#include "graph_api/verbose_lines.h"

namespace tim::graph {
namespace {

using runtime::PortMemory;

LogicalTensor NoTensor() {
  LogicalTensor tensor = {};
  tensor.id = SIZE_MAX;
  tensor.ndims = TIM_GRAPH_UNKNOWN_NDIMS;
  tensor.layout_type = tim_graph_layout_type_any;
  return tensor;
}

// The tensor of a port, most quickly at the port's place.
const_tim_graph_tensor_t Find(ClientTensors tensors, size_t place, size_t id) {
  const auto is_it = [&](size_t i) {
    return tensors[i] != nullptr && tensors[i]->description().id == id;
  };
  if (place < tensors.size() && is_it(place)) return tensors[place];
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (is_it(i)) return tensors[i];
  }
  return nullptr;
}

std::string TextOf(const LogicalTensor& tensor) {
  if (tensor.ndims < 0) return "unknown dims";
  const Dims dims = DimsOf(tensor);
  std::string text = StrCat(tim_graph_dt2str(tensor.data_type), " {",
                            StrJoin(dims, ", "), "}");
  if (tensor.layout_type == tim_graph_layout_type_strided) {
    const Dims strides(tensor.layout.strides,
                       tensor.layout.strides + dims.size());
    return StrCat(text, " strides {", StrJoin(strides, ", "), "}");
  }
  if (tensor.layout_type == tim_graph_layout_type_opaque) {
    return StrCat(text, " layout id ", tensor.layout.layout_id);
  }
  return StrCat(text, " without a layout");
}

/// Ports of one side.
struct Ports {
  const char* what = "";
  const std::vector<LogicalTensor>& tensors;
  const std::vector<int64_t>& bytes;
  const std::vector<PortPlace>& places;
  bool may_be_null = false;  ///< Memory comes later.
};

Status MatchPorts(const PlanSource& source, const Ports& side,
                  ClientTensors tensors,
                  std::vector<const_tim_graph_tensor_t>* matched) {
  const std::string& name = source.name;
  const char* const what = side.what;
  const std::vector<LogicalTensor>& ports = side.tensors;
  matched->reserve(ports.size());
  for (size_t i = 0; i < ports.size(); ++i) {
    const auto* const tensor = Find(tensors, i, ports[i].id);
    if (tensor == nullptr) {
      return InvalidArgument(name, ": no tensor was given for ", what, " ",
                             ports[i].id);
    }
    if (!IsSamePort(ports[i], tensor->description())) {
      return InvalidArgument(name, ": ", what, " ", ports[i].id,
                             " was compiled as ", TextOf(ports[i]),
                             ", its tensor is ", TextOf(tensor->description()));
    }
    const Status placed =
        CheckPlace(*tensor, side.places[i].residency, *source.engine);
    if (!placed.ok()) {
      return Status(placed.code(), StrCat(name, ": ", what, " ", ports[i].id,
                                          " ", placed.message()));
    }
    if (side.bytes[i] > 0 && tensor->host_memory() == nullptr &&
        !side.may_be_null) {
      return InvalidArgument(name, ": the handle of ", what, " ", ports[i].id,
                             " is null");
    }
    matched->push_back(tensor);
  }
  return OkStatus();
}

// Keeps what a run uses until it has ended.
struct Keepers {
  explicit Keepers(std::shared_ptr<runtime::CompiledGraph> used)
      : graph(std::move(used)) {}

  void Add(const_tim_graph_tensor_t tensor) {
    if (tensor->memory() != nullptr) memory.push_back(tensor->memory());
    if (tensor->is_scalar()) scalars.push_back(tensor->shared_from_this());
  }

  std::shared_ptr<runtime::CompiledGraph> graph;
  std::vector<std::shared_ptr<const AllocatedMemory>> memory;
  std::vector<std::shared_ptr<const tim_graph_tensor>> scalars;
};

}  // namespace

/// Tensors by port.
struct CompiledPartition::Call {
  std::vector<const_tim_graph_tensor_t> inputs;
  std::vector<const_tim_graph_tensor_t> outputs;
  const_tim_graph_tensor_t scratchpad = nullptr;
};

CompiledPartition::CompiledPartition(Parts parts)
    : parts_(std::move(parts)),
      runs_on_device_(HasDevicePorts(parts_.source)),
      plans_(&parts_.source, parts_.constants, parts_.plan),
      scratchpads_(&parts_.source, parts_.constants, parts_.plan) {}

LogicalTensor CompiledPartition::Query(size_t id) const {
  for (const auto* ports : {&inputs(), &outputs()}) {
    for (const LogicalTensor& port : *ports) {
      if (port.id == id) return port;
    }
  }
  return NoTensor();
}

tim_graph_residency_t CompiledPartition::ResidencyOf(size_t id) const {
  for (const auto* places :
       {&parts_.source.input_places, &parts_.source.output_places}) {
    for (const PortPlace& place : *places) {
      if (place.id == id) return place.residency;
    }
  }
  return tim_graph_residency_automatic;
}

LogicalTensor CompiledPartition::Scratchpad() const {
  LogicalTensor tensor = NoTensor();
  tensor.ndims = 1;
  tensor.dims[0] = scratchpads_.bytes();
  tensor.data_type = tim_graph_u8;
  tensor.property = tim_graph_tensor_property_variable;
  tensor.layout_type = tim_graph_layout_type_strided;
  tensor.layout.strides[0] = 1;
  return tensor;
}

Result<std::shared_ptr<Runnable>> CompiledPartition::plan() const {
  if (!parts_.has_work) return std::shared_ptr<Runnable>();
  return plans_.General();
}

Result<CompiledPartition::Call> CompiledPartition::Match(
    const Stream& stream, ClientTensors inputs, ClientTensors outputs,
    const_tim_graph_tensor_t scratchpad,
    const tim_graph_execute_options_t* options) const {
  const PlanSource& source = parts_.source;
  if (stream.engine() != source.engine) {
    return InvalidArgument(source.name,
                           ": the stream is of another engine than the one "
                           "that it was compiled for");
  }
  Call call;
  TIM_RETURN_IF_ERROR(MatchPorts(source,
                                 {.what = "input",
                                  .tensors = source.inputs,
                                  .bytes = parts_.input_bytes,
                                  .places = source.input_places},
                                 inputs, &call.inputs));
  TIM_RETURN_IF_ERROR(MatchPorts(source,
                                 {.what = "output",
                                  .tensors = source.outputs,
                                  .bytes = parts_.output_bytes,
                                  .places = source.output_places,
                                  .may_be_null = AllocatesOutputs(options)},
                                 outputs, &call.outputs));
  TIM_RETURN_IF_ERROR(scratchpads_.Check(scratchpad));
  call.scratchpad = scratchpad;
  return call;
}

Status CompiledPartition::Execute(
    Stream& stream, ClientTensors inputs, ClientTensors outputs,
    const_tim_graph_tensor_t scratchpad, bool check,
    const tim_graph_execute_options_t* options) const {
  if (RunsOnDevice()) {
    TIM_RETURN_IF_ERROR(
        ExecuteOnGpu(stream, inputs, outputs, scratchpad, {}, check, options)
            .status());
    const bool complete =
        engine()->kind() == tim_graph_cpu && !stream.asynchronous();
    return complete ? stream.Wait() : OkStatus();
  }
  TIM_ASSIGN_OR_RETURN(const Call call,
                       Match(stream, inputs, outputs, scratchpad, options));
  if (check) TIM_RETURN_IF_ERROR(CheckApart(call));
  const verbose::ExecuteLine line(stream);
  if (!parts_.has_work) {
    line.End(*this, nullptr);
    return OkStatus();
  }
  std::vector<const void*> constants;
  for (const size_t input : plans_.constants()) {
    constants.push_back(call.inputs[input]->host_memory());
  }
  TIM_ASSIGN_OR_RETURN(const std::shared_ptr<Runnable> plan,
                       plans_.For(constants, check));
  if (AllocatesOutputs(options)) {
    TIM_RETURN_IF_ERROR(Allocate(call, *options));
    if (check) TIM_RETURN_IF_ERROR(CheckApart(call));
  }
  // Runs on the device are in another order.
  if (stream.gpu() != nullptr) stream.Settle();
  TIM_RETURN_IF_ERROR(stream.asynchronous() ? Enqueue(*plan, call, stream)
                                            : RunNow(*plan, call, stream));
  line.End(*this, plan.get());
  return OkStatus();
}

Status CompiledPartition::Allocate(
    const Call& call, const tim_graph_execute_options_t& options) const {
  return AllocateOutputs(options, parts_.source.name, outputs(),
                         parts_.output_bytes, call.outputs);
}

Status CompiledPartition::CheckApart(const Call& call) const {
  const auto is_pair = [&](size_t input, size_t output) {
    return std::any_of(in_place().begin(), in_place().end(),
                       [&](const tim_graph_inplace_pair_t& pair) {
                         return pair.input_id == inputs()[input].id &&
                                pair.output_id == outputs()[output].id;
                       });
  };
  for (size_t o = 0; o < call.outputs.size(); ++o) {
    const ClientTensor& output = *call.outputs[o];
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      const ClientTensor& input = *call.inputs[i];
      if (!Overlap(output, parts_.output_bytes[o], input,
                   parts_.input_bytes[i])) {
        continue;
      }
      const bool same = output.handle() == input.handle() &&
                        output.offset() == input.offset();
      if (same && is_pair(i, o)) continue;
      return InvalidArgument(
          parts_.source.name, ": output ", outputs()[o].id, " lies on input ",
          inputs()[i].id,
          ", and get_inplace_ports() has no such pair; give it other memory");
    }
  }
  return OkStatus();
}

Status CompiledPartition::RunNow(Runnable& plan, const Call& call,
                                 Stream& stream) const {
  std::optional<ClientThreads::Scope> threads;
  if (stream.threads() != nullptr) threads.emplace(stream.threads());
  TIM_ASSIGN_OR_RETURN(std::unique_ptr<Runner> runner, plan.Take());
  for (size_t i = 0; i < plan.inputs().size(); ++i) {
    const size_t port = plan.inputs()[i];
    runner->inputs[i] =
        PortMemory(call.inputs[port]->host_memory(), parts_.input_bytes[port]);
  }
  for (size_t i = 0; i < plan.outputs().size(); ++i) {
    const size_t port = plan.outputs()[i];
    runner->outputs[i] = PortMemory(call.outputs[port]->host_memory(),
                                    parts_.output_bytes[port]);
  }
  runner->arenas = scratchpads_.HostArenas(plan.plan(), call.scratchpad);
  const auto staging = PortStaging::Create(*engine(), plan.plan(),
                                           &runner->inputs, &runner->outputs);
  Status status = staging.status();
  if (status.ok()) status = plan.Run(*runner);
  if (status.ok() && *staging != nullptr) (*staging)->CopyOutputs();
  plan.Give(std::move(runner));
  return status;
}

Status CompiledPartition::Enqueue(Runnable& plan, const Call& call,
                                  Stream& stream) const {
  std::vector<PortMemory> inputs;
  std::vector<PortMemory> outputs;
  const auto keepers = std::make_shared<Keepers>(plan.graph());
  for (const size_t port : plan.inputs()) {
    inputs.emplace_back(call.inputs[port]->host_memory(),
                        parts_.input_bytes[port]);
    keepers->Add(call.inputs[port]);
  }
  for (const size_t port : plan.outputs()) {
    outputs.emplace_back(call.outputs[port]->host_memory(),
                         parts_.output_bytes[port]);
    keepers->Add(call.outputs[port]);
  }
  TIM_ASSIGN_OR_RETURN(
      const std::shared_ptr<PortStaging> staging,
      PortStaging::Create(*engine(), plan.plan(), &inputs, &outputs, [&] {
        // Runs in flight may write an input.
        stream.Settle();
      }));
  std::function<Status(Status)> end;
  if (staging != nullptr) {
    end = [staging](Status status) {
      if (status.ok()) staging->CopyOutputs();
      return status;
    };
  }
  std::vector<std::shared_ptr<runtime::RunEvent>> waits;
  if (stream.last() != nullptr) waits.push_back(stream.last());
  if (call.scratchpad != nullptr) keepers->Add(call.scratchpad);
  TIM_ASSIGN_OR_RETURN(
      std::shared_ptr<runtime::RunEvent> run,
      plan.graph()->Enqueue(
          inputs, outputs, std::move(waits), std::move(end),
          scratchpads_.HostArenas(plan.plan(), call.scratchpad)));
  stream.Add(std::move(run), keepers);
  return OkStatus();
}

// Constants are read behind all that the client has handed over.
Result<std::shared_ptr<Runnable>> CompiledPartition::PlanOnDevice(
    const Call& call, GpuStream& runs,
    std::span<const std::unique_ptr<device::Event>> waits, bool check) const {
  std::vector<const void*> keys;
  for (const size_t input : plans_.constants()) {
    keys.push_back(call.inputs[input]->host_memory());
    keys.push_back(reinterpret_cast<const void*>(call.inputs[input]->offset()));
  }
  std::vector<std::vector<std::byte>> copies;
  const auto content = [&]() -> Result<std::vector<const void*>> {
    for (const auto& wait : waits) TIM_RETURN_IF_ERROR(wait->Wait());
    TIM_RETURN_IF_ERROR(runs.Wait());
    std::vector<const void*> memory;
    for (const size_t input : plans_.constants()) {
      const ClientTensor& tensor = *call.inputs[input];
      memory.push_back(tensor.host_memory());
      if (!IsOnDevice(parts_.source.input_places[input].residency, *engine())) {
        continue;
      }
      const int64_t bytes = parts_.input_bytes[input];
      copies.emplace_back(static_cast<size_t>(bytes));
      TIM_RETURN_IF_ERROR(ReadFromDevice(tensor, bytes, *engine()->device(),
                                         copies.back().data()));
      memory.back() = copies.back().data();
    }
    return memory;
  };
  return plans_.ForKeys(std::move(keys), content, check);
}

bool CompiledPartition::IsRead(const Call& call, const Runnable& plan,
                               size_t port) const {
  return std::any_of(
      plan.inputs().begin(), plan.inputs().end(), [&](size_t input) {
        return Overlap(*call.outputs[port], parts_.output_bytes[port],
                       *call.inputs[input], parts_.input_bytes[input]);
      });
}

Result<device::Event*> CompiledPartition::ExecuteOnGpu(
    Stream& stream, ClientTensors inputs, ClientTensors outputs,
    const_tim_graph_tensor_t scratchpad,
    std::span<const std::unique_ptr<device::Event>> waits, bool check,
    const tim_graph_execute_options_t* options) const {
  TIM_ASSIGN_OR_RETURN(const Call call,
                       Match(stream, inputs, outputs, scratchpad, options));
  // Runs of host memory alone are in another order.
  if (stream.last() != nullptr) stream.Settle();
  GpuStream& runs = GpuRunsOf(stream);
  const verbose::ExecuteLine line(stream);
  if (!parts_.has_work) {
    auto end = runs.Execute(nullptr, {}, {}, waits);
    if (end.ok()) line.End(*this, nullptr);
    return end;
  }
  TIM_ASSIGN_OR_RETURN(const std::shared_ptr<Runnable> plan,
                       PlanOnDevice(call, runs, waits, check));
  if (AllocatesOutputs(options)) TIM_RETURN_IF_ERROR(Allocate(call, *options));
  if (check) TIM_RETURN_IF_ERROR(CheckApart(call));
  const auto port_of = [&](const PortPlace& place, const ClientTensor& tensor,
                           int64_t bytes) -> Result<GpuPort> {
    return IsOnDevice(place.residency, *engine())
               ? DevicePortOf(tensor, bytes, *engine()->device())
               : HostPortOf(tensor, bytes);
  };
  std::vector<GpuPort> in;
  std::vector<GpuPort> out;
  for (const size_t port : plan->inputs()) {
    TIM_ASSIGN_OR_RETURN(in.emplace_back(),
                         port_of(parts_.source.input_places[port],
                                 *call.inputs[port], parts_.input_bytes[port]));
  }
  for (const size_t port : plan->outputs()) {
    TIM_ASSIGN_OR_RETURN(
        out.emplace_back(),
        port_of(parts_.source.output_places[port], *call.outputs[port],
                parts_.output_bytes[port]));
    out.back().use.is_read = IsRead(call, *plan, port);
  }
  TIM_ASSIGN_OR_RETURN(
      const std::vector<GpuPort> arenas,
      scratchpads_.DeviceArenas(plan->plan(), call.scratchpad));
  auto end = runs.Execute(plan->graph(), in, out, waits, arenas);
  if (end.ok()) line.End(*this, plan.get());
  return end;
}

}  // namespace tim::graph
