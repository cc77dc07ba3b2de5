#include "tim/lite/execution.h"

#include <cstring>
#include <utility>

#include "base/guarded.h"
#include "base/options.h"
#include "vx/failure.h"
#include "vx/graph/device_selection.h"
#include "vx/graph/user_programs.h"
#include "vx/lite/loaded_graph.h"
#include "vx/lite/port_memory.h"
#include "vx/tensor/host_memory.h"

namespace tim::lite {
namespace {

using Handles = std::vector<std::shared_ptr<Handle>>;

bool Overlap(const uint8_t* a, int64_t a_bytes, const uint8_t* b,
             int64_t b_bytes) {
  return a != nullptr && b != nullptr && a < b + b_bytes && b < a + a_bytes;
}

class LoadedExecution final : public Execution {
 public:
  explicit LoadedExecution(std::unique_ptr<LoadedGraph> graph)
      : graph_(std::move(graph)),
        inputs_("input", graph_->blob().inputs),
        outputs_("output", graph_->blob().outputs) {}

  std::shared_ptr<Handle> CreateInputHandle(uint32_t in_idx, uint8_t* buffer,
                                            size_t size) override {
    return MakeHandle(inputs_, in_idx, buffer, size);
  }
  std::shared_ptr<Handle> CreateOutputHandle(uint32_t out_idx, uint8_t* buffer,
                                             size_t size) override {
    return MakeHandle(outputs_, out_idx, buffer, size);
  }
  Execution& BindInputs(const Handles& handles) override {
    return Bind(inputs_, handles);
  }
  Execution& BindOutputs(const Handles& handles) override {
    return Bind(outputs_, handles);
  }
  Execution& UnBindInput(const std::shared_ptr<Handle>& handle) override {
    return UnBind(inputs_, handle);
  }
  Execution& UnBindOutput(const std::shared_ptr<Handle>& handle) override {
    return UnBind(outputs_, handle);
  }
  bool Trigger() override {
    const Status status = GuardedCall([this] { return Run(); });
    return status.ok() || vx::Fail(status.WithContext("Trigger()"));
  }

 private:
  static std::shared_ptr<Handle> MakeHandle(const PortMemory& ports,
                                            uint32_t index, uint8_t* memory,
                                            size_t size) {
    auto handle = ports.MakeHandle(index, memory, size);
    if (handle.ok()) return *handle;
    vx::Fail(handle.status());
    return nullptr;
  }
  Execution& Bind(PortMemory& ports, const Handles& handles) {
    for (const auto& handle : handles) {
      const Status status = ports.Bind(handle);
      if (!status.ok()) vx::Fail(status);
    }
    return *this;
  }
  Execution& UnBind(PortMemory& ports, const std::shared_ptr<Handle>& handle) {
    const auto memory = ports.UnBind(handle);
    if (memory.ok()) {
      graph_->Release(*memory);
    } else {
      vx::Fail(memory.status());
    }
    return *this;
  }

  /// Memory that is not aligned works by a copy, and so does an output that
  /// lies on an input.
  bool NeedsCopy(size_t output) const {
    const uint8_t* memory = outputs_.bound(output);
    if (memory == nullptr) return false;
    if (!IsAligned(memory, vx::kHostAlignment)) return true;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (Overlap(memory, outputs_.bytes(output), inputs_.bound(i),
                  inputs_.bytes(i))) {
        return true;
      }
    }
    return false;
  }

  Status Run() {
    TIM_RETURN_IF_ERROR(inputs_.CheckBound());
    TIM_RETURN_IF_ERROR(outputs_.CheckBound());
    std::vector<const void*> inputs(inputs_.size(), nullptr);
    std::vector<void*> outputs(outputs_.size(), nullptr);
    for (size_t i = 0; i < inputs.size(); ++i) {
      inputs[i] = inputs_.bound(i);
      if (IsAligned(inputs[i], vx::kHostAlignment)) continue;
      TIM_ASSIGN_OR_RETURN(std::byte * copy, inputs_.Copy(i));
      std::memcpy(copy, inputs[i], static_cast<size_t>(inputs_.bytes(i)));
      inputs[i] = copy;
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      outputs[i] = outputs_.bound(i);
      if (!NeedsCopy(i)) continue;
      TIM_ASSIGN_OR_RETURN(outputs[i], outputs_.Copy(i));
    }
    TIM_RETURN_IF_ERROR(graph_->Run(inputs, outputs));
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] == outputs_.bound(i)) continue;
      std::memcpy(outputs_.bound(i), outputs[i],
                  static_cast<size_t>(outputs_.bytes(i)));
    }
    return OkStatus();
  }

  const std::unique_ptr<LoadedGraph> graph_;
  PortMemory inputs_;
  PortMemory outputs_;
};

Result<std::shared_ptr<Execution>> Load(const void* executable, size_t size) {
  // The caller's memory stays the caller's: the keeper keeps nothing.
  const std::shared_ptr<const void> keeper(executable, [](const void*) {});
  TIM_ASSIGN_OR_RETURN(
      binary::Blob blob,
      binary::OpenBlob({static_cast<const std::byte*>(executable), size},
                       keeper));
  TIM_ASSIGN_OR_RETURN(auto devices, vx::SelectDevices(GetOptions().device));
  TIM_ASSIGN_OR_RETURN(auto graph,
                       LoadedGraph::Create(std::move(blob), std::move(devices),
                                           vx::UserPrograms()));
  return std::shared_ptr<Execution>(
      std::make_shared<LoadedExecution>(std::move(graph)));
}

}  // namespace

std::shared_ptr<Execution> Execution::Create(const void* executable,
                                             size_t executable_size) {
  std::shared_ptr<Execution> execution;
  const Status status = GuardedCall([&]() -> Status {
    TIM_ASSIGN_OR_RETURN(execution, Load(executable, executable_size));
    return OkStatus();
  });
  if (!status.ok()) vx::Fail(status.WithContext("Execution::Create()"));
  return execution;
}

}  // namespace tim::lite
