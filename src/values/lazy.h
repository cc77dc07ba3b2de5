// Calls that were recorded, to run when somebody asks for what they compute.
#ifndef TIM_VALUES_LAZY_H_
#define TIM_VALUES_LAZY_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "tim/values/node.h"
#include "values/device_state.h"
#include "values/node_state.h"
#include "values/value_state.h"

namespace tim::values::internal {

/// Nodes and bytes that a thread has recorded and that have not run.
struct PendingCount {
  std::atomic<int64_t> nodes = 0;
  std::atomic<int64_t> bytes = 0;
};

/// A recorded call.  Flushes, one at a time, resolve its outputs; all else is
/// constant.
class LazyNode {
 public:
  LazyNode(std::shared_ptr<const NodeState> node,
           std::vector<std::shared_ptr<ValueState>> inputs,
           std::shared_ptr<DeviceState> device,
           std::shared_ptr<PendingCount> count, int64_t bytes);
  ~LazyNode();
  LazyNode(const LazyNode&) = delete;
  LazyNode& operator=(const LazyNode&) = delete;

  /// Rises from each node to those that read it.
  uint64_t number() const { return number_; }
  const std::shared_ptr<const NodeState>& node() const { return node_; }
  /// Null where an operand is absent; empty once it has run.
  const std::vector<std::shared_ptr<ValueState>>& inputs() const {
    return inputs_;
  }
  /// The device of the scope in which the call was recorded; null: none.
  const std::shared_ptr<DeviceState>& device() const { return device_; }
  bool done() const { return done_; }

  void AddHandle(size_t index, const std::shared_ptr<ValueState>& handle);
  /// Handles of output `index` that are still held.
  std::vector<std::shared_ptr<ValueState>> Handles(size_t index) const;
  /// Marks the call as run or failed, and releases its operands.
  void Finish();

 private:
  struct Handle {
    size_t index = 0;
    std::weak_ptr<ValueState> state;
  };

  const uint64_t number_;
  const std::shared_ptr<const NodeState> node_;
  std::vector<std::shared_ptr<ValueState>> inputs_;
  const std::shared_ptr<DeviceState> device_;
  const std::shared_ptr<PendingCount> count_;
  const int64_t bytes_;
  std::atomic<bool> done_ = false;
  mutable std::mutex mutex_;
  std::vector<Handle> handles_;
};

/// Another handle of output `index`.
void AddHandle(LazyNode& node, size_t index,
               const std::shared_ptr<ValueState>& handle);

/// Records the call, or runs it where extents of its results depend on data, or
/// where its effects are ordered: nobody may ask for its results.
Outputs RecordLazy(const std::shared_ptr<const NodeState>& node,
                   const std::vector<std::shared_ptr<ValueState>>& inputs,
                   const std::vector<Token>& after);

/// Runs the calls that a pending value is computed from; their first failure.
Status FlushFor(const ValueState& value, const std::string& cause);
/// The same of several nodes, with those of outputs that others need.
void FlushNodes(const std::vector<std::shared_ptr<LazyNode>>& targets,
                const std::string& cause);

}  // namespace tim::values::internal

#endif  // TIM_VALUES_LAZY_H_
