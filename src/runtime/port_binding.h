// Host memory of one run's inputs and outputs, as devices can take it.
#ifndef TIM_RUNTIME_PORT_BINDING_H_
#define TIM_RUNTIME_PORT_BINDING_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/aligned_memory.h"
#include "base/status.h"

namespace tim::runtime {

/// What a caller has for an input or output of a graph: dense memory.  Null
/// where the run needs none.
struct HostPort {
  void* memory = nullptr;
  int64_t bytes = 0;
  /// Names a buffer that is mapped, perhaps more than once: ports of one
  /// overlap whatever their addresses are.  Zeros: `memory` alone tells.
  std::pair<uint64_t, uint64_t> buffer = {};
};

/// Uses the callers' memory where it can: a copy is needed where memory is not
/// aligned to 64 bytes, or where an output lies on an input.  One run at a
/// time; copies are kept for the next.
class PortBinding {
 public:
  /// Before a run: addresses for it, with copies of inputs where needed.
  Status Bind(std::span<const HostPort> inputs,
              std::span<const HostPort> outputs);
  /// After a run that succeeded: copies outputs back where needed.
  void CopyOutputs() const;

  std::span<const void* const> inputs() const { return input_memory_; }
  std::span<void* const> outputs() const { return output_memory_; }

 private:
  struct Copy {
    AlignedMemory memory;
    int64_t bytes = 0;
  };

  static Result<void*> CopyFor(Copy* copy, int64_t bytes);
  bool LiesOnInput(const HostPort& output) const;

  std::vector<HostPort> inputs_;
  std::vector<HostPort> outputs_;
  std::vector<const void*> input_memory_;
  std::vector<void*> output_memory_;
  std::vector<Copy> input_copies_;
  std::vector<Copy> output_copies_;
};

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_PORT_BINDING_H_
