// Which steps must wait for steps of other devices.
#ifndef TIM_COMPILER_HAZARDS_H_
#define TIM_COMPILER_HAZARDS_H_

#include <map>
#include <utility>
#include <vector>

#include "ir/plan.h"

namespace tim::compiler {

/// Follows the memory that steps touch, in the order of the plan.  Steps of
/// one device run in order and never wait for each other.
class Hazards {
 public:
  explicit Hazards(const ir::Plan& plan) : plan_(plan) {}

  /// Per other device, the last step that touches memory which `step` writes,
  /// or writes memory which it reads.
  std::vector<int> WaitsOf(const ir::Step& step) const;
  /// Notes what plan.steps[index] touches.
  void Add(int index);

 private:
  struct Access {
    int step = 0;
    int device = 0;
    int64_t offset = 0;
    int64_t bytes = 0;
    bool write = false;
  };
  using Memory = std::pair<ir::SlotKind, int>;

  void Collect(const ir::Step& step, const ir::Slot& slot, bool write,
               std::map<int, int>* last) const;

  const ir::Plan& plan_;
  std::map<Memory, std::vector<Access>> accesses_;
};

}  // namespace tim::compiler

#endif  // TIM_COMPILER_HAZARDS_H_
