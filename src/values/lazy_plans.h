// Structures of recorded calls that were seen, and their plans.
#ifndef TIM_VALUES_LAZY_PLANS_H_
#define TIM_VALUES_LAZY_PLANS_H_

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tim/values/mode.h"
#include "values/node_state.h"

namespace tim::values::internal {

/// A subgraph described part by part, each a label and a text: "node 7: axis "
/// and "0".
struct Structure {
  std::vector<std::pair<std::string, std::string>> parts;
  std::string Key() const;
};

/// Seen structures, those used last kept.  One thread at a time.
class LazyPlans {
 public:
  struct Seen {
    Structure structure;
    int times = 0;
    std::shared_ptr<const NodeState> plan = nullptr;  ///< Null: not compiled.
  };

  /// The structure, which is counted once more.
  Seen& See(Structure structure, int max_plans, bool* known);
  /// Text of the differences from the nearest other structure with as many
  /// parts; empty where there is none.
  std::string DifferenceFrom(const Seen& seen) const;

  CacheStats stats;

 private:
  std::list<Seen> seen_;  // the one used last is the first
  std::unordered_map<std::string, std::list<Seen>::iterator> by_key_;
};

}  // namespace tim::values::internal

#endif  // TIM_VALUES_LAZY_PLANS_H_
