// Runs graphs that a run of another graph chooses, or repeats.
#ifndef TIM_RUNTIME_CONTROL_RUN_H_
#define TIM_RUNTIME_CONTROL_RUN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned_memory.h"
#include "base/status.h"
#include "device/device.h"
#include "ir/step.h"
#include "runtime/executable.h"
#include "runtime/execution_context.h"
#include "runtime/port_binding.h"

namespace tim::runtime {

/// Whether kernels have been used by another context of their executable.
enum class Kernels : uint8_t { kNew, kUsed };

/// An ir::ControlCall made ready, with memory of its own: one run at a time.
class ControlRun {
 public:
  /// \param step which of the executable's steps it is; it must outlive the
  /// run.
  /// \param refused as ExecutionContext::Create's.
  static Result<std::unique_ptr<ControlRun>> Create(
      const Executable& executable, size_t step, Kernels kernels,
      std::vector<compiler::RefusedKernel>* refused);

  /// Run: when what `stream` was given before is done, it chooses, or repeats.
  /// What the outputs are is enqueued at the stream when it returns; it has
  /// waited for the runs of graphs that other streams have a part in.
  Status Run(device::Stream& stream,
             std::span<const device::BufferRange> operands);

 private:
  using Ranges = std::span<const device::BufferRange>;

  // A plan, its context, and how memory is given to it.
  struct Inner {
    std::shared_ptr<const Executable> executable;
    std::unique_ptr<ExecutionContext> context;
    PortBinding binding = {};
    bool follows = false;  // in the stream of what is around it
  };

  ControlRun(const ir::ControlCall& call, int device)
      : call_(call), device_(device) {}
  Status Allocate(device::Device& device);
  // The graph's last output, the condition.
  Result<bool> RunInner(size_t plan, Ranges inputs, Ranges outputs);
  Status RunBoth(size_t plan, std::span<const PortMemory> inputs,
                 std::span<const PortMemory> outputs);
  PortMemory PortOf(const device::BufferRange& range) const;
  std::vector<PortMemory> PortsOf(Ranges ranges) const;
  Result<bool> Condition(device::Stream& stream, Ranges operand);
  Status RunIf(device::Stream& stream, Ranges operands);
  Status RunWhile(device::Stream& stream, Ranges operands);
  Status CopySlices(device::Stream& stream, Ranges scans, int64_t trip) const;
  Status ClearSlices(device::Stream& stream, Ranges scans, int64_t trips);

  const ir::ControlCall& call_;
  const int device_;
  std::vector<Inner> inner_;
  AlignedMemory condition_;  // a byte of the host
  // Memory of kWhile: what odd and even trips make of the state, and slices.
  std::vector<std::array<std::unique_ptr<device::Buffer>, 2>> states_;
  std::vector<std::unique_ptr<device::Buffer>> slices_;
};

/// Gives the groups that are control calls their ControlRun.
Status PrepareControls(const Executable& executable,
                       std::span<PreparedGroup> prepared, Kernels kernels,
                       std::vector<compiler::RefusedKernel>* refused);

/// Hands a group to the stream of its device.
Status EnqueuePrepared(const PreparedGroup& ready, device::Stream& stream,
                       std::span<const device::BufferRange> operands);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_CONTROL_RUN_H_
