// Host memory of one run's inputs and outputs.
#ifndef TIM_VX_GRAPH_RUN_BUFFERS_H_
#define TIM_VX_GRAPH_RUN_BUFFERS_H_

#include <memory>
#include <span>
#include <vector>

#include "base/aligned_memory.h"
#include "base/status.h"
#include "vx/tensor/tensor_impl.h"

namespace tim::vx {

/// Uses the tensors' memory where it can: a copy is needed where memory of the
/// client is not aligned, or where an output lies on an input.  DMA buffers
/// belong to the host from Prepare() to Finish().
class RunBuffers {
 public:
  RunBuffers() = default;
  RunBuffers(std::vector<std::shared_ptr<TensorImpl>> inputs,
             std::vector<std::shared_ptr<TensorImpl>> outputs)
      : inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  /// Before a run: gathers addresses, and copies inputs where needed.
  Status Prepare();
  /// After it, or after a Prepare() that failed: copies outputs where needed,
  /// which have content then.
  /// `run`, which tells how it went, or what fails.
  Status Finish(Status run);

  std::span<const void* const> inputs() const { return input_memory_; }
  std::span<void* const> outputs() const { return output_memory_; }

 private:
  struct Copy {
    AlignedMemory memory;
    int64_t bytes = 0;
  };

  Result<void*> CopyFor(Copy* copy, int64_t bytes);
  bool LiesOnInput(const TensorImpl& output,
                   const HandleStorage& storage) const;
  /// Of all tensors on DMA buffers; the first failure.
  Status Synchronize(Status (DmaMapping::*step)(DmaMapping::Access));

  std::vector<std::shared_ptr<TensorImpl>> inputs_;
  std::vector<std::shared_ptr<TensorImpl>> outputs_;
  std::vector<const void*> input_memory_;
  std::vector<void*> output_memory_;
  std::vector<Copy> input_copies_;
  std::vector<Copy> output_copies_;
};

}  // namespace tim::vx

#endif  // TIM_VX_GRAPH_RUN_BUFFERS_H_
