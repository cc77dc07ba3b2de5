// Runs a compiled graph without the parts that build graphs.
#ifndef TIM_LITE_EXECUTION_H_
#define TIM_LITE_EXECUTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tim/lite/handle.h"
#include "tim/vx/export.h"

namespace tim {
namespace lite {

/// A binary graph and the memory of the caller that it reads and writes.  One
/// thread at a time; several executions run side by side.  Failures are in
/// tim::vx::LastError().
class TIM_VX_API Execution {
 public:
  virtual ~Execution() = default;

  /// Loads what tim::vx::Graph::CompileToBinary() wrote, for the devices that
  /// contexts use (TIMCL_DEVICE).  It is used in place: the memory must outlive
  /// the execution.  VARIABLE tensors begin with the content that was written.
  /// Null where it is no binary graph of this library, of another version,
  /// damaged or cut short, or where no device runs its custom operations.
  static std::shared_ptr<Execution> Create(const void* executable,
                                           size_t executable_size);

  /// Uses `buffer` in place (where it is not aligned to 64 bytes, by a copy in
  /// each run); it must stay until the handle is unbound.  Null where `in_idx`
  /// is out of range, `buffer` null, or `size` not the tensor's.
  virtual std::shared_ptr<Handle> CreateInputHandle(uint32_t in_idx,
                                                    uint8_t* buffer,
                                                    size_t size) = 0;
  virtual std::shared_ptr<Handle> CreateOutputHandle(uint32_t out_idx,
                                                     uint8_t* buffer,
                                                     size_t size) = 0;
  /// Each handle knows its index.  A handle of a place that is bound already is
  /// ignored, but for LastError().
  virtual Execution& BindInputs(
      const std::vector<std::shared_ptr<Handle>>& handles) = 0;
  virtual Execution& BindOutputs(
      const std::vector<std::shared_ptr<Handle>>& handles) = 0;
  /// Forgets the handle, so that it or another one can be bound.
  virtual Execution& UnBindInput(const std::shared_ptr<Handle>& handle) = 0;
  virtual Execution& UnBindOutput(const std::shared_ptr<Handle>& handle) = 0;
  /// Runs and waits for the results; false where an input or output is not
  /// bound.
  virtual bool Trigger() = 0;
};

}  // namespace lite
}  // namespace tim

#endif  // TIM_LITE_EXECUTION_H_
