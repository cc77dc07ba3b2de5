// Runs of a plan step by step, for somebody who looks at every step: profiles,
// dumps of tensors, comparisons.
#ifndef TIM_RUNTIME_OBSERVED_RUN_H_
#define TIM_RUNTIME_OBSERVED_RUN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "ir/plan.h"
#include "runtime/executable.h"
#include "runtime/port_binding.h"
#include "runtime/state_set.h"

namespace tim::runtime {

/// How long a step took.
struct StepTime {
  enum class Clock : uint8_t {
    kDevice,  ///< The device's own: from its first command to its last.
    kHost,    ///< The host's, from handing the step over to the end of the wait
              ///< for it; the cost of a launch is in it.
  };
  int64_t nanoseconds = 0;
  Clock clock = Clock::kHost;
};

/// A step that was done, while nothing else works: later steps have not begun.
/// Valid during the call that it is given to.
class ObservedStep {
 public:
  virtual ~ObservedStep() = default;

  /// The compiled plan, which outlives the run.
  virtual const ir::Plan& plan() const = 0;
  /// Index in plan().steps.
  virtual int index() const = 0;
  /// Zero before the step.
  virtual StepTime time() const = 0;

  /// The step itself, and the slot of one of its operands.
  const ir::Step& step() const { return plan().steps[index()]; }
  const ir::Slot& slot(int operand) const {
    return plan().slots[step().operands[operand]];
  }
  /// The tensor that the operand is, or is a part of: its name, and how its
  /// bytes are to be read.  Null for scratch and packed weights, and for all
  /// operands of a plan that was read from a file.
  const ir::PlanNotes::Value* value(int operand) const;
  /// The operand's first byte in that tensor; else 0.
  int64_t value_offset(int operand) const;

  /// The operand's bytes as they are now, slot(operand).bytes of them, on the
  /// host, in the layout of the tensor.  What the step has read is still there
  /// unless it wrote its result in its place.  Waits for the device.
  virtual Result<std::vector<std::byte>> Read(int operand) const = 0;
  /// The same at the operand's place in its tensor, whose bytes are `tensor`:
  /// steps may write parts of one.
  Status ReadInto(int operand, std::span<std::byte> tensor) const;
};

/// Called on the thread of the run.  A failure, and an exception as one, ends
/// the run, whose Status it becomes.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  /// Before a step is handed to its device: what it reads is complete.
  virtual Status BeforeStep(const ObservedStep&) { return OkStatus(); }
  /// After it has ended, in the order of the plan.
  virtual Status AfterStep(const ObservedStep& step) = 0;
  /// How the run went, and what it took by the host's clock, in nanoseconds:
  /// from the binding of its memory to its last step, without the time that the
  /// observer spent.
  virtual void AfterRun(const Status&, int64_t) {}
};

/// Memory and prepared steps of such runs.  Chains are opened into their
/// launches, and the host waits for every step, so that what a step wrote is
/// read before its memory is used again.  One run and one thread at a time,
/// beside the contexts of the same executable.
class ObservedRun {
 public:
  /// Prepares every step by itself: programs that only chains had are built
  /// now.  Memory is from the devices' pools.
  static Result<std::unique_ptr<ObservedRun>> Create(
      std::shared_ptr<const Executable> executable);
  ~ObservedRun();

  /// A run as ExecutionContext::Run() makes: blocks until the outputs are
  /// complete, and states advance where it went well.
  Status Run(std::span<const PortMemory> inputs,
             std::span<const PortMemory> outputs, StateSet* states,
             RunObserver& observer);

 private:
  class Impl;
  explicit ObservedRun(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_OBSERVED_RUN_H_
