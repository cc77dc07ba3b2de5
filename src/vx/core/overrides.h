// Which operations are replaced: of a graph, and of all graphs of a context.
#ifndef TIM_VX_CORE_OVERRIDES_H_
#define TIM_VX_CORE_OVERRIDES_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/status.h"
#include "tim/vx/graph.h"

namespace tim::vx {

/// By name of the operator.
using Factories = std::map<std::string, Graph::Replacement>;

/// Any thread.
class Overrides {
 public:
  /// A null factory ends that of the name.
  Status Set(const char* operator_name, Graph::Replacement factory);

  /// Those of `other` as well.
  void Inherit(const Overrides& other);

  Factories factories() const;
  /// Changes with each Set().
  uint64_t revision() const { return revision_; }

 private:
  std::shared_ptr<const Factories> Current() const;
  void Change(const std::function<void(Factories*)>& change);

  std::shared_ptr<const Factories> factories_ =
      std::make_shared<const Factories>();
  std::atomic<uint64_t> revision_ = 0;
};

}  // namespace tim::vx

#endif  // TIM_VX_CORE_OVERRIDES_H_
