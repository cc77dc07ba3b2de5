// Steps that must wait for steps of other queues.
#ifndef TIM_COMPILER_HAZARDS_H_
#define TIM_COMPILER_HAZARDS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "ir/plan.h"

namespace tim::compiler {

/// Follows the memory that steps touch, in the order of the plan.  Steps of
/// one queue run in order and never wait for each other.
class Hazards {
 public:
  enum class Scope : uint8_t {
    kArenas,  ///< One device beside the host, with one stream.
    kAllMemory,
  };
  Hazards(const ir::Plan& plan, Scope scope) : plan_(plan), scope_(scope) {}

  /// Per other queue, the last step that touches memory which `step` writes,
  /// or writes memory which it reads.
  std::vector<int> WaitsOf(const ir::Step& step) const;
  /// Notes what plan.steps[index] touches.
  void Add(int index);

 private:
  using Queue = std::pair<int, int>;  // device and stream

  struct Access {
    int step = 0;
    Queue queue = {};
    int64_t offset = 0;
    int64_t bytes = 0;
    bool write = false;
  };
  using Memory = std::pair<ir::SlotKind, int>;

  void Collect(const ir::Step& step, const ir::Slot& slot, bool write,
               std::map<Queue, int>* last) const;

  Memory MemoryOf(const ir::Slot& slot) const;

  const ir::Plan& plan_;
  const Scope scope_;
  std::map<Memory, std::vector<Access>> accesses_;
};

}  // namespace tim::compiler

#endif  // TIM_COMPILER_HAZARDS_H_
