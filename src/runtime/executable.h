// A compiled graph on its devices: programs built, constants uploaded.
#ifndef TIM_RUNTIME_EXECUTABLE_H_
#define TIM_RUNTIME_EXECUTABLE_H_

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "ir/op_registry.h"
#include "ir/plan.h"
#include "runtime/cache/stored_programs.h"
#include "runtime/run_text.h"
#include "runtime/step_failures.h"
#include "runtime/step_groups.h"
#include "runtime/step_order.h"

namespace tim::runtime {

class ControlRun;

/// Steps made ready to be enqueued as one.
struct PreparedGroup {
  StepGroup group;
  /// Null for a copy and a control call.
  std::unique_ptr<device::PreparedStep> step;
  /// Run of a control call, once PrepareControls() was called.
  std::shared_ptr<ControlRun> control = nullptr;
};

/// Immutable after Create, but for what the first context takes; used by any
/// number of ExecutionContexts from any thread.  Keeps its devices alive.
class Executable {
 public:
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;
  ~Executable();
  /// Verifies the plan, builds every program (in `store` or from source), and
  /// imports or uploads the constants.
  /// \param devices of the plan's kinds; devices[i] is plan.devices[i].
  /// \param operators that host steps name or have bodies of; null: the
  /// built-in ones.
  /// \param refused where it fails for want of other kernels alone: those that
  /// the devices cannot run; may be null.
  /// kInvalidArgument where the plan, which may come from a file, is wrong.
  static Result<std::shared_ptr<const Executable>> Create(
      ir::Plan plan, std::vector<std::shared_ptr<device::Device>> devices,
      std::shared_ptr<device::BinaryStore> store,
      std::shared_ptr<const ir::OpRegistry> operators = nullptr,
      std::vector<compiler::RefusedKernel>* refused = nullptr);

  /// Without the content of constants that were uploaded.
  const ir::Plan& plan() const { return plan_; }
  device::Device& device(int index) const { return *devices_[index]; }
  const std::shared_ptr<device::Device>& shared_device(int index) const {
    return devices_[index];
  }
  device::BinaryStore& store() const { return *store_; }
  const std::shared_ptr<device::BinaryStore>& shared_store() const {
    return store_;
  }
  /// The buffer of the block plan().constants[index].
  device::Buffer& constant(int index) const { return *constants_[index]; }

  /// Executables of the plans that a step runs, in order; none of other steps.
  std::span<const std::shared_ptr<const Executable>> control(size_t step) const;
  /// Per step, what it waits for.
  std::span<const StepOrder> order() const { return order_; }
  /// All steps in order, for one context.  The first call gives those that
  /// Create prepared; others prepare anew what a context owns, of programs that
  /// were built then.  The steps of a chain that its device cannot make are
  /// groups of their own.
  Result<std::vector<PreparedGroup>> PrepareGroups() const;
  /// The same with chains opened: a group per step, prepared anew.
  Result<std::vector<PreparedGroup>> PrepareSteps() const;
  /// The programs that the steps use, by key.
  const UsedPrograms::Binaries& programs() const { return programs_; }
  /// Names of its runs in a trace, made by the first call.
  const RunText& trace_text() const;

 private:
  Executable() = default;
  Status CreateControls(std::vector<compiler::RefusedKernel>* refused);
  Result<std::vector<PreparedGroup>> Prepare(device::BinaryStore& store,
                                             StepFailures* failures) const;
  Status PrepareChains(device::BinaryStore& store,
                       std::vector<PreparedGroup>* prepared) const;
  Status PrepareSingles(int device, device::BinaryStore& store,
                        std::vector<PreparedGroup>* prepared,
                        StepFailures* failures) const;
  Status PrepareAllSingles(device::BinaryStore& store,
                           std::vector<PreparedGroup>* prepared,
                           StepFailures* failures) const;

  // In this order: buffers on the plan's memory are destroyed before it.
  ir::Plan plan_;
  std::vector<StepOrder> order_;
  std::vector<StepGroup> groups_;  // without chains that could not be made
  std::vector<std::shared_ptr<device::Device>> devices_;
  std::shared_ptr<device::BinaryStore> store_;
  std::shared_ptr<const ir::OpRegistry> operators_;  // null: the built-in ones
  std::vector<std::unique_ptr<device::Buffer>> constants_;
  std::map<size_t, std::vector<std::shared_ptr<const Executable>>> controls_;
  UsedPrograms::Binaries programs_;
  /// What Create prepared, until a context takes it; read under ForkMutex().
  mutable std::optional<std::vector<PreparedGroup>> first_;
  mutable std::atomic<const RunText*> trace_text_ = nullptr;  ///< Owned.
};

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_EXECUTABLE_H_
