// Memory of values that may live at once where steps of several streams run
// beside each other.
#ifndef TIM_COMPILER_MEMORY_QUEUE_CONFLICTS_H_
#define TIM_COMPILER_MEMORY_QUEUE_CONFLICTS_H_

#include <vector>

#include "compiler/memory/sharing.h"
#include "compiler/module.h"

namespace tim::compiler {

/// Pairs of allocations that share no byte: of a device with several streams
/// those of which neither has ended, by data or in its queue, before all steps
/// that use the other begin.  What else shares bytes does so without a wait.
class QueueConflicts {
 public:
  /// After AddAllocations().
  QueueConflicts(const Module& module, const Sharing& sharing);

  /// MemoryProblem::conflicts of these allocations of the device; empty where
  /// it has one stream.
  std::vector<bool> Among(int device,
                          const std::vector<int>& allocations) const;

 private:
  bool EndsBefore(int earlier, int later) const;

  const Module& module_;
  // By allocation; empty without several streams, and for too many steps.
  std::vector<std::vector<int>> users_;    // Steps.
  std::vector<std::vector<bool>> behind_;  // By step: begins after all users.
};

}  // namespace tim::compiler

#endif  // TIM_COMPILER_MEMORY_QUEUE_CONFLICTS_H_
