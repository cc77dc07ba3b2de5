// Memory of a client for what a run keeps between its steps.
#ifndef TIM_GRAPH_API_SCRATCHPAD_H_
#define TIM_GRAPH_API_SCRATCHPAD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "graph_api/constant_plans.h"
#include "graph_api/gpu_stream.h"
#include "graph_api/tensor.h"
#include "ir/plan.h"
#include "runtime/port_binding.h"

namespace tim::graph {

/// Scratchpads of the executes of one compiled partition.  Any thread.
///
/// A scratchpad holds the arenas of a plan that lie in the engine's kind of
/// memory, one behind the other: on a cpu engine those of the host and of a
/// device that shares its memory, on a gpu engine those of the device.
class Scratchpads {
 public:
  /// \param constants numbers of the inputs that plans have as constants.
  /// Where there are any, the size is that of a plan with other constants,
  /// which is made when the size is first asked for.
  /// \param plan null where there is none yet.
  Scratchpads(const PlanSource* source, std::vector<size_t> constants,
              std::shared_ptr<const Runnable> plan)
      : source_(*source),
        constants_(std::move(constants)),
        plan_(std::move(plan)) {}

  /// Bytes of one, the same at every call; 0 where a plan is not needed or
  /// keeps nothing.
  int64_t bytes() const;

  /// kInvalidArgument for a scratchpad that is of another engine, too small or
  /// misaligned.
  /// \param scratchpad may be null.
  Status Check(const_tim_graph_tensor_t scratchpad) const;

  /// Arenas of a run of `plan` in a scratchpad that was checked; none where it
  /// is null, or too small for what the values of constants have made of the
  /// plan, which then has its own.
  std::vector<runtime::PortMemory> HostArenas(
      const ir::Plan& plan, const_tim_graph_tensor_t scratchpad) const;
  /// The same of a run that is ordered by events of the device.
  Result<std::vector<GpuPort>> DeviceArenas(
      const ir::Plan& plan, const_tim_graph_tensor_t scratchpad) const;

 private:
  bool Holds(const ir::Arena& arena) const;
  int64_t BytesOf(std::span<const ir::Arena> arenas) const;

  const PlanSource& source_;
  const std::vector<size_t> constants_;
  const std::shared_ptr<const Runnable> plan_;
  mutable std::mutex mutex_;
  mutable std::optional<int64_t> bytes_;
};

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_SCRATCHPAD_H_
