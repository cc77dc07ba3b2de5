// Hands the memory of tensors to runs, and DMA buffers to the host.
#include "vx/graph/run_buffers.h"

#include <algorithm>
#include <utility>

namespace tim::vx {
namespace {

// In `ports`, whose memory is used again.
void Gather(const std::vector<std::shared_ptr<TensorImpl>>& tensors,
            std::vector<runtime::PortMemory>* ports) {
  ports->clear();
  for (const auto& tensor : tensors) {
    const HandleStorage& storage = *tensor->handle();
    runtime::PortMemory& port =
        ports->emplace_back(storage.memory, storage.bytes);
    const DmaMapping* dma = tensor->mapping();
    if (dma != nullptr) port.buffer = dma->Identity();
  }
}

}  // namespace

Status RunBuffers::Synchronize(Status (DmaMapping::*step)(DmaMapping::Access)) {
  Status first;
  const auto take = [&](const auto& tensors, DmaMapping::Access access) {
    for (const auto& tensor : tensors) {
      DmaMapping* dma = tensor->mapping();
      if (dma == nullptr) continue;
      const Status status = (dma->*step)(access);
      if (status.ok() || !first.ok()) continue;
      first = status.WithContext(StrCat("tensor ", tensor->Name()));
    }
  };
  take(inputs_, DmaMapping::Access::kRead);
  take(outputs_, DmaMapping::Access::kWrite);
  return first;
}

bool RunBuffers::in_plain_memory() const {
  const auto plain = [](const auto& tensor) {
    return tensor->mapping() == nullptr;
  };
  return std::all_of(inputs_.begin(), inputs_.end(), plain) &&
         std::all_of(outputs_.begin(), outputs_.end(), plain);
}

Status RunBuffers::Prepare() {
  TIM_RETURN_IF_ERROR(Synchronize(&DmaMapping::Begin));
  Gather(inputs_, &input_ports_);
  Gather(outputs_, &output_ports_);
  return OkStatus();
}

Status RunBuffers::Finish(Status run) {
  Status ended = Synchronize(&DmaMapping::End);
  if (!run.ok()) return run;
  for (const auto& output : outputs_) {
    output->SetRun(TensorImpl::RunResult::kWritten);
  }
  return ended;
}

}  // namespace tim::vx
