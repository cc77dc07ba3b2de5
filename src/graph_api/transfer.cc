// Compiles a transfer as one or two partitions, and runs them on a client's
// stream or on streams of their own.
#include "graph_api/transfer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/aligned_memory.h"
#include "graph_api/compile.h"
#include "graph_api/lower_ops.h"
#include "graph_api/op_def.h"
#include "graph_api/port_layouts.h"
#include "graph_api/residency.h"

namespace tim::graph {
namespace {

constexpr size_t kFrom = 0;
constexpr size_t kTo = 1;
constexpr int64_t kAlignment = 64;

Status CheckSide(const char* what, const LogicalTensor& tensor) {
  if (tensor.property == tim_graph_tensor_property_host_scalar) {
    return InvalidArgument("tensor ", tensor.id, ", which a transfer is ", what,
                           ", is a host scalar");
  }
  if (!HasKnownDims(tensor)) {
    return InvalidArgument("tensor ", tensor.id, ", which a transfer is ", what,
                           ", has unknown dims");
  }
  const bool strided = tensor.layout_type == tim_graph_layout_type_strided;
  if (strided ? !HasKnownStrides(tensor)
              : tensor.layout_type != tim_graph_layout_type_opaque) {
    return InvalidArgument("tensor ", tensor.id, ", which a transfer is ", what,
                           ", needs strides or an opaque layout");
  }
  return OkStatus();
}

Status CheckDims(const LogicalTensor& from, const LogicalTensor& to) {
  const Dims from_dims = DimsOf(from);
  const Dims to_dims = DimsOf(to);
  if (from_dims == to_dims) return OkStatus();
  return InvalidArgument("a transfer of dims {", StrJoin(from_dims, ", "),
                         "} to dims {", StrJoin(to_dims, ", "),
                         "}; dims must be equal");
}

// The tensor as a port of a step.
LogicalTensor PortOf(const LogicalTensor& tensor, size_t id) {
  LogicalTensor port = tensor;
  port.id = id;
  port.property = tim_graph_tensor_property_variable;
  return port;
}

Op Conversion(const LogicalTensor& from, const LogicalTensor& to) {
  Op op;
  op.kind = from.data_type == to.data_type ? tim_graph_op_reorder
                                           : tim_graph_op_type_cast;
  op.name = "conversion";
  op.inputs = {from};
  op.outputs = {to};
  op.def = BuiltinOps().Find(op.kind);
  return op;
}

Status CheckTensor(const LogicalTensor& expected, const ClientTensor& tensor) {
  if (IsSamePort(expected, tensor.description())) return OkStatus();
  return InvalidArgument("a transfer was made for tensor ", expected.id,
                         ", and was given tensor ", tensor.description().id,
                         ", or one of other dims, type or layout");
}

// The same memory under the id of a step's port.
std::shared_ptr<const tim_graph_tensor> As(const ClientTensor& tensor,
                                           size_t id) {
  LogicalTensor description = tensor.description();
  description.id = id;
  if (tensor.memory() != nullptr) {
    return std::make_shared<tim_graph_tensor>(
        description, tensor.engine(), tensor.memory(), tensor.handle_kind());
  }
  auto made = std::make_shared<tim_graph_tensor>(
      description, tensor.engine(), tensor.handle(), tensor.handle_kind());
  made->SetMemory(tensor.handle(), tensor.handle_kind(), tensor.offset());
  return made;
}

bool IsGpu(const Engine& engine) { return engine.kind() == tim_graph_gpu; }

}  // namespace

Status Transfer::AddStep(const LogicalTensor& from, bool from_device,
                         const LogicalTensor& to, bool to_device,
                         EngineHandle on) {
  const std::vector<LogicalTensor> inputs = {PortOf(from, kFrom)};
  const std::vector<LogicalTensor> outputs = {PortOf(to, kTo)};
  const std::vector<Op> ops = {Conversion(inputs[0], outputs[0])};
  const auto residency = [](bool device) {
    return device ? tim_graph_residency_device : tim_graph_residency_host;
  };
  CompileSource source;
  source.name = StrCat("transfer of tensor ", from_.id, " to tensor ", to_.id);
  source.kind = on->kind();
  source.ops = &ops;
  source.inputs = &inputs;
  source.outputs = &outputs;
  CompileResult made =
      Compile(source, inputs, outputs, std::move(on),
              {{kFrom, residency(from_device)}, {kTo, residency(to_device)}});
  TIM_RETURN_IF_ERROR(made.status);
  steps_.push_back(std::move(made.compiled));
  return OkStatus();
}

Result<std::unique_ptr<Transfer>> Transfer::Create(const LogicalTensor& from,
                                                   EngineHandle from_engine,
                                                   const LogicalTensor& to,
                                                   EngineHandle to_engine) {
  TIM_RETURN_IF_ERROR(CheckSide("from", from));
  TIM_RETURN_IF_ERROR(CheckSide("to", to));
  TIM_RETURN_IF_ERROR(CheckDims(from, to));
  std::unique_ptr<Transfer> made(new Transfer());
  made->from_ = from;
  made->to_ = to;
  made->from_engine_ = from_engine;
  made->to_engine_ = to_engine;
  const bool from_device = IsGpu(*from_engine);
  const bool to_device = IsGpu(*to_engine);
  if (from_device && to_device &&
      from_engine->device()->domain() != to_engine->device()->domain()) {
    made->between_ = to;
    SetDenseStrides(&made->between_);
    TIM_RETURN_IF_ERROR(made->AddStep(from, true, made->between_, false,
                                      std::move(from_engine)));
    TIM_RETURN_IF_ERROR(
        made->AddStep(made->between_, false, to, true, std::move(to_engine)));
    return made;
  }
  EngineHandle on =
      from_device && !to_device ? std::move(from_engine) : std::move(to_engine);
  TIM_RETURN_IF_ERROR(
      made->AddStep(from, from_device, to, to_device, std::move(on)));
  return made;
}

Status Transfer::RunStep(const CompiledPartition& step, Stream& stream,
                         const_tim_graph_tensor_t from,
                         const_tim_graph_tensor_t to) {
  const ClientTensors inputs(&from, 1);
  const ClientTensors outputs(&to, 1);
  if (stream.engine() == step.engine()) {
    return step.Execute(stream, inputs, outputs);
  }
  stream.Settle();
  Stream own(step.engine(), tim_graph_stream_default_flags);
  TIM_RETURN_IF_ERROR(step.Execute(own, inputs, outputs));
  return own.Wait();
}

Status Transfer::Execute(Stream& stream, const ClientTensor& from,
                         const ClientTensor& to) const {
  if (stream.engine() != from_engine_ && stream.engine() != to_engine_) {
    return InvalidArgument(
        "a transfer was given a stream of an engine that is neither of its "
        "two");
  }
  TIM_RETURN_IF_ERROR(CheckTensor(from_, from));
  TIM_RETURN_IF_ERROR(CheckTensor(to_, to));
  const auto first = As(from, kFrom);
  const auto last = As(to, kTo);
  if (steps_.size() == 1) {
    TIM_RETURN_IF_ERROR(RunStep(*steps_[0], stream, first.get(), last.get()));
    const bool on_host = !IsGpu(*from_engine_) || !IsGpu(*to_engine_);
    return on_host && !stream.asynchronous() ? stream.Wait() : OkStatus();
  }
  size_t bytes = 0;
  static_cast<void>(tim_graph_logical_tensor_get_mem_size(&between_, &bytes));
  const AlignedMemory memory = AllocateAligned(
      static_cast<int64_t>(std::max<size_t>(bytes, 1)), kAlignment);
  if (memory == nullptr) {
    return OutOfMemory("no host memory for a transfer of ", bytes, " bytes");
  }
  const ClientTensor between(between_, from_engine_, memory.get());
  const auto middle_to = As(between, kTo);
  const auto middle_from = As(between, kFrom);
  TIM_RETURN_IF_ERROR(
      RunStep(*steps_[0], stream, first.get(), middle_to.get()));
  TIM_RETURN_IF_ERROR(stream.Wait());
  TIM_RETURN_IF_ERROR(
      RunStep(*steps_[1], stream, middle_from.get(), last.get()));
  return stream.Wait();
}

}  // namespace tim::graph
