#include "tim/lite/execution.h"

#include <utility>

#include "base/guarded.h"
#include "base/options.h"
#include "runtime/device_pool.h"
#include "vx/core/failure.h"
#include "vx/core/user_programs.h"
#include "vx/lite/loaded_graph.h"
#include "vx/lite/port_memory.h"

namespace tim::lite {
namespace {

using Handles = std::vector<std::shared_ptr<Handle>>;

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

  Status Run() {
    TIM_ASSIGN_OR_RETURN(const auto inputs, inputs_.Bound());
    TIM_ASSIGN_OR_RETURN(const auto outputs, outputs_.Bound());
    return graph_->Run(inputs, outputs);
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
  TIM_ASSIGN_OR_RETURN(
      auto devices,
      runtime::SelectDevices(GetOptions().device, GetOptions().on_device));
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
