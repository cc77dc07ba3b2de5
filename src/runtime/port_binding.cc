// Decides which memory of a caller a run can use as it is.
#include "runtime/port_binding.h"

#include <algorithm>
#include <cstring>

#include "device/host/host_buffer.h"
#include "ir/index_limit.h"
#include "ops/movement/strided.h"

namespace tim::runtime {
namespace {

using device::kHostAlignment;

constexpr std::pair<uint64_t, uint64_t> kNoBuffer = {};

// What a message calls a port: "graph 'g': input 0 'x'".
std::string NameOf(const ir::Plan& plan, const char* what, size_t index,
                   const ir::PlanTensor& tensor) {
  return StrCat("graph '", plan.graph, "': ", what, " ", index, " '",
                tensor.name, "'");
}

// Chains have offsets in 32 bits.
Status CheckRange(const device::BufferRange& range, int64_t bytes,
                  int64_t alignment) {
  if (range.buffer == nullptr) {
    return InvalidArgument("is on a device, and was given host memory");
  }
  if (range.bytes < bytes || range.offset < 0 ||
      range.offset > range.buffer->bytes() - bytes) {
    return InvalidArgument("takes ", bytes, " bytes, was given ", range.bytes,
                           " at ", range.offset, " of a buffer of ",
                           range.buffer->bytes());
  }
  if (range.offset % alignment != 0) {
    return InvalidArgument("was given memory at byte ", range.offset,
                           " of a buffer, no multiple of ", alignment);
  }
  if (!ir::IndicesFit(range.offset, bytes)) {
    return Unimplemented("was given memory that ends at byte ",
                         range.offset + bytes,
                         " of a buffer; ranges that begin behind its start "
                         "must end below 2^31");
  }
  return OkStatus();
}

Status CheckPort(const ir::Plan& plan, const ir::PlanTensor& tensor,
                 const PortMemory& port) {
  if (tensor.device == 0) {
    if (port.range.buffer != nullptr) {
      return InvalidArgument("is on the host, and was given a device's memory");
    }
    if (port.host == nullptr) return InvalidArgument("has no memory");
    return OkStatus();
  }
  TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(tensor.desc));
  return CheckRange(port.range, bytes, plan.devices[tensor.device].alignment);
}

Status CheckAll(const ir::Plan& plan, const char* what,
                const std::vector<ir::PlanTensor>& tensors,
                std::span<const PortMemory> ports) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Status status = CheckPort(plan, tensors[i], ports[i]);
    if (status.ok()) continue;
    return Status(status.code(), StrCat(NameOf(plan, what, i, tensors[i]), " ",
                                        status.message()));
  }
  return OkStatus();
}

bool Overlap(const device::BufferRange& a, const device::BufferRange& b) {
  return a.buffer != nullptr && a.buffer == b.buffer &&
         a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

// On devices nothing is copied out of the way.
Status CheckApart(const ir::Plan& plan, std::span<const PortMemory> inputs,
                  std::span<const PortMemory> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto overlaps = [&](const PortMemory& other) {
      return &other != &outputs[i] && Overlap(outputs[i].range, other.range);
    };
    if (std::any_of(inputs.begin(), inputs.end(), overlaps) ||
        std::any_of(outputs.begin(), outputs.end(), overlaps)) {
      return InvalidArgument(NameOf(plan, "output", i, plan.outputs[i]),
                             " overlaps another port in its buffer");
    }
  }
  return OkStatus();
}

// Contexts take the size of host memory for granted.
Status CheckSizes(const ir::Plan& plan, const char* what,
                  const std::vector<ir::PlanTensor>& tensors,
                  std::span<const PortMemory> ports) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].device != 0) continue;
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(tensors[i].desc));
    if (ports[i].bytes >= bytes) continue;
    return InvalidArgument(NameOf(plan, what, i, tensors[i]), " takes ", bytes,
                           " bytes, was given ", ports[i].bytes);
  }
  return OkStatus();
}

// Elements of a strided tensor, which lie alike in both; gaps stay.
void CopyElements(const ir::TensorDesc& desc, const void* from, void* to) {
  const int64_t size = ir::Info(desc.type).bits / 8;
  ops::VisitStrided(ops::MergedDims(desc), [&](int64_t position) {
    std::memcpy(static_cast<std::byte*>(to) + position * size,
                static_cast<const std::byte*>(from) + position * size,
                static_cast<size_t>(size));
  });
}

// Memory of a device, or aligned; strided memory may begin with any element.
bool CanBeUsed(const ir::PlanTensor& tensor, const PortMemory& port) {
  if (tensor.device != 0) return true;
  const int64_t size = ir::Info(tensor.desc.type).bits / 8;
  return IsAligned(port.host,
                   tensor.desc.layout.strided() ? size : kHostAlignment);
}

bool LiesOnInput(const PortMemory& output, std::span<const PortMemory> inputs) {
  const auto first = reinterpret_cast<uintptr_t>(output.host);
  const uintptr_t last = first + static_cast<uintptr_t>(output.bytes);
  return std::any_of(
      inputs.begin(), inputs.end(), [&](const PortMemory& input) {
        if (input.host == nullptr) return false;
        if (output.buffer != kNoBuffer && output.buffer == input.buffer) {
          return true;
        }
        const auto begin = reinterpret_cast<uintptr_t>(input.host);
        return begin < last &&
               first < begin + static_cast<uintptr_t>(input.bytes);
      });
}

bool CanBeWritten(const ir::PlanTensor& tensor, const PortMemory& port,
                  std::span<const PortMemory> inputs) {
  return tensor.device != 0 ||
         (CanBeUsed(tensor, port) && !LiesOnInput(port, inputs));
}

}  // namespace

Status CheckPorts(const ir::Plan& plan, std::span<const PortMemory> inputs,
                  std::span<const PortMemory> outputs) {
  if (inputs.size() != plan.inputs.size() ||
      outputs.size() != plan.outputs.size()) {
    return InvalidArgument("graph '", plan.graph, "' has ", plan.inputs.size(),
                           " inputs and ", plan.outputs.size(),
                           " outputs, a run was given ", inputs.size(), " and ",
                           outputs.size());
  }
  TIM_RETURN_IF_ERROR(CheckAll(plan, "input", plan.inputs, inputs));
  TIM_RETURN_IF_ERROR(CheckAll(plan, "output", plan.outputs, outputs));
  return CheckApart(plan, inputs, outputs);
}

Status CheckBinding(const ir::Plan& plan, std::span<const PortMemory> inputs,
                    std::span<const PortMemory> outputs) {
  TIM_RETURN_IF_ERROR(CheckPorts(plan, inputs, outputs));
  TIM_RETURN_IF_ERROR(CheckSizes(plan, "input", plan.inputs, inputs));
  return CheckSizes(plan, "output", plan.outputs, outputs);
}

bool NeedsCopies(const ir::Plan& plan, std::span<const PortMemory> inputs,
                 std::span<const PortMemory> outputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!CanBeUsed(plan.inputs[i], inputs[i])) return true;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!CanBeWritten(plan.outputs[i], outputs[i], inputs)) return true;
  }
  return false;
}

Result<void*> PortBinding::CopyFor(Copy* copy, int64_t bytes) {
  if (copy->memory == nullptr || copy->bytes < bytes) {
    copy->memory = AllocateAligned(bytes, kHostAlignment);
    copy->bytes = bytes;
  }
  if (copy->memory == nullptr) {
    return OutOfMemory("no host memory for a copy of ", bytes, " bytes");
  }
  return copy->memory.get();
}

Status PortBinding::BindInput(const ir::PlanTensor& tensor, size_t index) {
  const PortMemory& port = inputs_[index];
  if (CanBeUsed(tensor, port)) return OkStatus();
  TIM_ASSIGN_OR_RETURN(bound_inputs_[index].host,
                       CopyFor(&input_copies_[index], port.bytes));
  return OkStatus();
}

Status PortBinding::BindOutput(const ir::PlanTensor& tensor, size_t index) {
  const PortMemory& port = outputs_[index];
  if (CanBeWritten(tensor, port, inputs_)) return OkStatus();
  TIM_ASSIGN_OR_RETURN(bound_outputs_[index].host,
                       CopyFor(&output_copies_[index], port.bytes));
  return OkStatus();
}

Status PortBinding::Bind(const ir::Plan& plan,
                         std::span<const PortMemory> inputs,
                         std::span<const PortMemory> outputs) {
  if (IsBound(plan, inputs, outputs)) return OkStatus();
  plan_ = nullptr;
  TIM_RETURN_IF_ERROR(CheckBinding(plan, inputs, outputs));
  inputs_.assign(inputs.begin(), inputs.end());
  outputs_.assign(outputs.begin(), outputs.end());
  bound_inputs_ = inputs_;
  bound_outputs_ = outputs_;
  input_copies_.resize(inputs_.size());
  output_copies_.resize(outputs_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    TIM_RETURN_IF_ERROR(BindInput(plan.inputs[i], i));
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    TIM_RETURN_IF_ERROR(BindOutput(plan.outputs[i], i));
  }
  plan_ = &plan;
  return OkStatus();
}

bool PortBinding::IsBound(const ir::Plan& plan,
                          std::span<const PortMemory> inputs,
                          std::span<const PortMemory> outputs) const {
  const auto same = [](const PortMemory& a, const PortMemory& b) {
    return a.host == b.host && a.bytes == b.bytes && a.buffer == b.buffer &&
           a.range.buffer == nullptr && b.range.buffer == nullptr;
  };
  return plan_ == &plan && std::ranges::equal(inputs, inputs_, same) &&
         std::ranges::equal(outputs, outputs_, same);
}

void PortBinding::CopyInputs() const {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (bound_inputs_[i].host == inputs_[i].host) continue;
    std::memcpy(bound_inputs_[i].host, inputs_[i].host,
                static_cast<size_t>(inputs_[i].bytes));
  }
}

void PortBinding::CopyOutputs() const {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const PortMemory& port = outputs_[i];
    const void* const made = bound_outputs_[i].host;
    if (made == port.host) continue;
    const ir::TensorDesc& desc = plan_->outputs[i].desc;
    if (desc.layout.strided()) {
      CopyElements(desc, made, port.host);
    } else {
      std::memcpy(port.host, made, static_cast<size_t>(port.bytes));
    }
  }
}

}  // namespace tim::runtime
