// Tensors as the inputs and outputs of one run.
#ifndef TIM_VX_GRAPH_RUN_BUFFERS_H_
#define TIM_VX_GRAPH_RUN_BUFFERS_H_

#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "runtime/port_binding.h"
#include "vx/tensor/tensor_impl.h"

namespace tim::vx {

/// The tensors' memory.  DMA buffers belong to the host from Prepare() to
/// Finish().
class RunBuffers {
 public:
  RunBuffers() = default;
  RunBuffers(std::vector<std::shared_ptr<TensorImpl>> inputs,
             std::vector<std::shared_ptr<TensorImpl>> outputs)
      : inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  /// Before a run: gathers addresses.
  Status Prepare();
  /// Whether Prepare() only gathers addresses: no tensor is on a DMA buffer.
  bool in_plain_memory() const;
  /// After it, or after a Prepare() that failed: where it went well, outputs
  /// have content.
  /// `run`, which tells how it went, or what fails.
  Status Finish(Status run);

  std::span<const runtime::PortMemory> inputs() const { return input_ports_; }
  std::span<const runtime::PortMemory> outputs() const { return output_ports_; }

  /// The tensors, in the order of the plan.
  const std::vector<std::shared_ptr<TensorImpl>>& input_tensors() const {
    return inputs_;
  }
  const std::vector<std::shared_ptr<TensorImpl>>& output_tensors() const {
    return outputs_;
  }

 private:
  /// Of all tensors on DMA buffers; the first failure.
  Status Synchronize(Status (DmaMapping::*step)(DmaMapping::Access));

  std::vector<std::shared_ptr<TensorImpl>> inputs_;
  std::vector<std::shared_ptr<TensorImpl>> outputs_;
  std::vector<runtime::PortMemory> input_ports_;
  std::vector<runtime::PortMemory> output_ports_;
};

}  // namespace tim::vx

#endif  // TIM_VX_GRAPH_RUN_BUFFERS_H_
