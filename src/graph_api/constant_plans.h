// Plans of a compiled partition whose constants arrive at execute.
//
// Weights are packed, and what depends on constants alone is computed, where
// the compiler knows their bytes.  So an execute's constants become constants
// of a plan, and that plan is used for as long as they stay the same.
//
// With a cache of constants (ConstantCache) clients promise that what is at an
// address does not change: plans are found by addresses.  Without one, which is
// the default, a changed constant is honoured: a hash of the bytes is compared
// at every execute, and a new content gets a new plan.  Once that has happened
// kMostChanges times, the constants are taken for ordinary inputs.
#ifndef TIM_GRAPH_API_CONSTANT_PLANS_H_
#define TIM_GRAPH_API_CONSTANT_PLANS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/status.h"
#include "graph_api/lower_ops.h"
#include "graph_api/runnable.h"

namespace tim::graph {

/// Source of the plans of a partition.
struct PlanSource {
  std::string name;
  std::vector<Op> ops = {};
  std::vector<LogicalTensor> inputs = {};   ///< With all dims.
  std::vector<LogicalTensor> outputs = {};  ///< With all dims.
  std::vector<PortPlace> input_places = {};
  std::vector<PortPlace> output_places = {};
  std::shared_ptr<tim_graph_engine> engine = nullptr;
};

/// True where a port is on the device, as all of a gpu engine may be.
bool HasDevicePorts(const PlanSource& source);

Result<std::shared_ptr<Runnable>> MakePlan(const PlanSource& source,
                                           const KnownInputs& known);

/// Memory of the host with the constants, in the order of
/// ConstantPlans::constants(), each in the layout of its port.
using ConstantContent = std::function<Result<std::vector<const void*>>()>;

/// Executes ask for plans with constants in them, as things are.
bool UsesConstants(const PlanSource& source);

/// Any thread.
class ConstantPlans {
 public:
  static constexpr int kMostChanges = 3;

  /// \param constants numbers of the inputs that are.
  /// \param general of all inputs; null: it is made when it is needed.
  ConstantPlans(const PlanSource* source, std::vector<size_t> constants,
                std::shared_ptr<Runnable> general);
  ~ConstantPlans();
  ConstantPlans(const ConstantPlans&) = delete;
  ConstantPlans& operator=(const ConstantPlans&) = delete;

  const std::vector<size_t>& constants() const { return constants_; }
  /// The plan for an execute with these constants, in the order of
  /// constants(), each in the layout of its port.  kInvalidArgument where a
  /// cached one has changed and `check` asks for it.
  Result<std::shared_ptr<Runnable>> For(std::span<const void* const> memory,
                                        bool check);
  /// The same for constants of which not all are memory of the host: with a
  /// cache, the plan that is found by what tells their memory apart; `content`
  /// is asked for when one is made.  Without a cache, General().
  Result<std::shared_ptr<Runnable>> ForKeys(std::vector<const void*> keys,
                                            const ConstantContent& content,
                                            bool check);
  /// The plan in which constants are inputs.
  Result<std::shared_ptr<Runnable>> General();
  /// Plans with constants in them that were made so far.
  int made() const;

 private:
  using Plan = std::shared_ptr<Runnable>;

  Result<Plan> ForCached(std::vector<const void*> keys,
                         const ConstantContent& content, bool check);
  Result<Plan> ForContent(std::span<const void* const> memory);
  /// Of each constant, without gaps.
  Result<std::vector<Hash128>> HashesOf(
      std::span<const void* const> memory) const;
  Status CheckUnchanged(const std::vector<Hash128>& before,
                        std::span<const void* const> memory) const;
  // The caller holds the mutex.
  Result<Plan> Make(std::span<const void* const> memory);
  Result<Plan> GeneralLocked();

  const PlanSource& source_;
  const std::vector<size_t> constants_;
  const uint64_t number_;
  int64_t bytes_ = 0;  ///< Of all constants.
  mutable std::mutex mutex_;
  Plan general_;
  std::vector<std::pair<std::vector<Hash128>, Plan>> by_content_;
  bool changes_often_ = false;
  int made_ = 0;
};

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_CONSTANT_PLANS_H_
