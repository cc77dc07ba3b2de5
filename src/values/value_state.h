// The state behind a Value: a failure, bytes, or a result that is pending.
#ifndef TIM_VALUES_VALUE_STATE_H_
#define TIM_VALUES_VALUE_STATE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/constant.h"
#include "ir/graph.h"
#include "runtime/node_runner.h"
#include "runtime/work_stream.h"
#include "tim/values/value.h"
#include "values/conversion.h"
#include "values/device_state.h"

namespace tim::values::internal {

class GraphState;
class LazyNode;

/// Bytes of a value on one device, in a layout.
struct Place {
  std::shared_ptr<runtime::SharedMemory> memory;
  ir::Layout layout;
};

/// A failure, bytes on devices, or a result that is pending.  Any thread.
class ValueState {
 public:
  /// A failed value.
  static std::shared_ptr<ValueState> Failed(std::string text);
  /// A value with bytes in `place`.
  static std::shared_ptr<ValueState> Placed(TensorSpec spec, Place place);
  static std::shared_ptr<ValueState> Placed(runtime::NodeResult result);
  /// A constant, whose bytes are on the host, too.
  static std::shared_ptr<ValueState> Constant(
      TensorSpec spec, std::shared_ptr<const ir::ConstantData> data);
  /// A value of a graph that is being made.
  static std::shared_ptr<ValueState> Symbolic(TensorSpec spec,
                                              std::shared_ptr<GraphState> graph,
                                              ir::ValueId id);
  /// Output `index` of a node that was recorded in lazy mode.
  static std::shared_ptr<ValueState> Pending(TensorSpec spec,
                                             std::shared_ptr<LazyNode> node,
                                             size_t index);

  /// The first failure that is known.
  Status status() const;
  TensorSpec spec() const;
  const std::string& name() const { return name_; }
  std::shared_ptr<ValueState> Named(const std::string& name) const;

  const std::shared_ptr<const ir::ConstantData>& constant() const {
    return constant_;
  }
  const std::shared_ptr<GraphState>& graph() const { return graph_; }
  ir::ValueId id() const { return id_; }
  const std::shared_ptr<LazyNode>& lazy() const { return lazy_; }
  size_t lazy_index() const { return lazy_index_; }

  /// A number that the program text has: a constant of graphs, an operand of
  /// calls that run at once, so that another number needs no other steps.
  bool literal() const { return literal_; }
  void set_literal() { literal_ = true; }

  /// Flushes a pending value.  Fails for symbolic ones: they have no bytes.
  Status Force() const;
  /// The memory in which a forced value was made.
  Place home() const;
  /// The same in dense layout; without memory, of a constant.
  Result<Place> DenseHome() const;
  std::shared_ptr<DeviceState> device() const;
  /// Memory of a forced value on `device`, in any layout; copied there first
  /// where it is not.
  Result<Place> On(const DeviceState& device) const;
  /// Its dense home on the host, for a run that takes it from there: where
  /// another run makes it, and `device` has no copy.  Else without memory, as
  /// once that run has failed, and where the value has been taken so before and
  /// that run has ended: a copy serves all who come then.
  Place TakeFromHost(const DeviceState& device) const;
  /// Dense bytes of the host; waits for them.
  Result<std::shared_ptr<const std::byte>> Bytes() const;
  /// The same as a constant below the front.
  Result<std::shared_ptr<const ir::ConstantData>> Content() const;
  runtime::Completion completion() const;
  /// Ends a pending value with its bytes, or the reason why there are none.
  void Resolve(Result<Place> place) const;
  bool resolved() const;
  /// Makes the failure of the work that computes the value, where there is one,
  /// the value's own.
  void KeepFailure() const;

 private:
  Result<Place> DenseOn(const DeviceState& device, const Place& place) const;
  std::vector<Place> Places() const;

  TensorSpec spec_;
  std::string name_;
  std::shared_ptr<const ir::ConstantData> constant_;
  std::shared_ptr<GraphState> graph_;
  ir::ValueId id_ = ir::kNone;
  std::shared_ptr<LazyNode> lazy_;
  size_t lazy_index_ = 0;
  bool literal_ = false;

  /// Facts that are found later; shared by all names of one value.
  struct Found {
    std::mutex mutex;
    Status status;
    bool forced = false;             ///< True once a pending value has run.
    bool taken_from_host = false;    ///< See TakeFromHost().
    std::vector<Place> places = {};  ///< The first is its home.
  };
  std::shared_ptr<Found> found_ = std::make_shared<Found>();
};

/// A failed value; its text becomes LastError().
Value FailedValue(const Status& status);
Value MakeValue(std::shared_ptr<ValueState> state);
/// The state of a value; that of Value() has failed with "no value".
std::shared_ptr<ValueState> StateOf(const Value& value);
/// Value(): an absent operand.
bool IsAbsent(const Value& value);

}  // namespace tim::values::internal

#endif  // TIM_VALUES_VALUE_STATE_H_
