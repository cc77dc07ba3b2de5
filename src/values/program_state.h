// Programs: a graph with the plans that its runs have needed.
#ifndef TIM_VALUES_PROGRAM_STATE_H_
#define TIM_VALUES_PROGRAM_STATE_H_

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "runtime/context_pool.h"
#include "runtime/shared_arenas.h"
#include "tim/values/graph.h"
#include "values/device_state.h"
#include "values/graph_state.h"
#include "values/plan_making.h"
#include "values/program_plan.h"

namespace tim::values::internal {

/// A graph with options and the plans made for its inputs.  Any thread.
class ProgramState {
 public:
  static Result<std::shared_ptr<ProgramState>> Create(
      const GraphState& graph, const ProgramOptions& options);
  /// A program of a graph that has neither variables nor values from outside.
  static Result<std::shared_ptr<ProgramState>> Create(
      ir::Graph graph, std::vector<TensorSpec> inputs,
      const ProgramOptions& options);

  /// A program of which every call fails with `status`.
  static std::shared_ptr<ProgramState> Failed(const Status& status);

  const Status& status() const { return status_; }
  Status Prepare(const std::vector<Spec>& inputs);
  Result<std::vector<Value>> Run(const std::vector<Value>& inputs);
  Result<Event> RunInto(const std::vector<Value>& inputs,
                        const std::vector<void*>& outputs);
  /// Measures runs, which leave variables as they are.
  Result<std::vector<NodeReport>> Profile(const std::vector<Value>& inputs,
                                          int runs);
  CacheStats stats() const;
  std::string Explain() const;
  const ProgramOptions& options() const { return options_; }
  size_t output_count() const { return outputs_; }
  /// The graph with values from outside as constants.  kUnimplemented where it
  /// has variables.
  Result<ir::Graph> GraphToSave() const;
  const std::vector<TensorSpec>& inputs() const { return inputs_; }
  /// Arenas of all plans; null where there is one plan only.
  const std::shared_ptr<runtime::SharedArenas>& arenas() const {
    return arenas_;
  }

 private:
  using Plans = std::list<std::pair<std::string, std::shared_ptr<PlanMaking>>>;
  class OneBeside;
  /// Inputs of a run on the program's device.
  struct Operands {
    std::vector<std::shared_ptr<ValueState>> values;
    std::vector<Place> places;
    std::vector<PortSpec> ports;
  };
  struct Started;
  using Reservation = runtime::ContextPool::Reservation;

  Status CheckInputs(const std::vector<TensorSpec>& inputs) const;
  Status CheckAssigned(const ProgramPlan& plan) const;
  Status AllocateRest(
      const runtime::CompiledGraph& compiled,
      std::vector<runtime::PortMemory>* outputs,
      std::vector<std::shared_ptr<runtime::SharedMemory>>* memory) const;
  Result<Operands> OperandsOf(const std::vector<Value>& inputs) const;
  Status Add(const ValueState& value, Operands* operands) const;
  Status ReserveArenas(const std::vector<PortSpec>& inputs,
                       OutputPlace place) const;
  Result<std::shared_ptr<ProgramPlan>> PlanFor(
      const std::vector<PortSpec>& inputs, OutputPlace place);
  Status RefusePlan() const;
  // Under mutex_: plans that serve runs, and the one used longest ago where
  // there are more than are kept.
  int64_t PlanCount() const;
  std::shared_ptr<PlanMaking> TakeSurplus();
  bool writes() const;
  bool HasStatesOf(const Operands& operands) const;
  // A run with its plan and memory, which has not been started.  Functions of
  // applications may be called.
  Result<Started> MakeRun(const std::vector<Value>& inputs, OutputPlace place,
                          const std::vector<void*>& host);
  static std::vector<std::shared_ptr<ValueState>> ResultsOf(const Started& run);
  // Starts it; false where nothing is reserved and no context is free for it.
  // Neither waits for a run nor calls functions of applications.
  Result<bool> TryStart(Started* run, Reservation reserved);
  void Assign(const Started& run) const;
  Result<Started> Start(const std::vector<Value>& inputs, OutputPlace place,
                        const std::vector<void*>& host);
  Result<std::vector<std::shared_ptr<runtime::SharedMemory>>> AllocateOutputs(
      const ir::Plan& plan) const;

  Status status_;
  ProgramOptions options_;
  std::shared_ptr<DeviceState> device_;
  ir::Graph graph_;
  std::vector<TensorSpec> inputs_;  // the caller's
  std::vector<Value> closed_;
  std::vector<GraphState::State> states_;
  OwnSchemas own_;
  std::shared_ptr<const ir::OpRegistry> operators_;  // null: those known
  std::shared_ptr<runtime::SharedArenas> arenas_;    // null: each plan's own
  std::once_flag reserved_;
  bool ordered_ = false;
  size_t outputs_ = 0;  // the caller's
  // Functions of applications are called without one of these.
  mutable std::mutex mutex_;
  Plans plans_;  // the one used last is the first
  CacheStats stats_;
  int beside_ = 0;
  std::mutex order_mutex_;                       // of last_run_
  std::shared_ptr<runtime::RunEvent> last_run_;  // where runs are ordered
};

/// The host's memory by its address, that of devices as a range.
runtime::PortMemory PortOf(const runtime::SharedMemory& memory);

}  // namespace tim::values::internal

#endif  // TIM_VALUES_PROGRAM_STATE_H_
