// Profiles: where the time of a graph's runs goes, operation by operation.
#ifndef TIM_RUNTIME_PROFILE_H_
#define TIM_RUNTIME_PROFILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/plan.h"
#include "runtime/calibration.h"
#include "runtime/executable.h"
#include "runtime/observed_run.h"

namespace tim::runtime {

/// The steps of a compiled graph that have one label.
struct OperationProfile {
  std::string name;    ///< Step::label.
  std::string op;      ///< "Conv2d"; "Copy"; empty where a plan does not say.
  int device = 0;      ///< Index in Plan::devices, of the first step.
  std::string kernel;  ///< "conv2d_f32"; "eval" on the host; "copy".
  std::string chosen;  ///< Decision::chosen, empty where nothing was chosen.
  std::vector<std::string> refused;
  int64_t steps = 0;        ///< Steps of one run.
  int64_t nanoseconds = 0;  ///< Sum over all runs.
  /// The device's where it gave the times of all steps.
  StepTime::Clock clock = StepTime::Clock::kDevice;
  double operations = 0;  ///< Estimate for one run; 0: not known.
  double bytes = 0;       ///< Likewise, of its operands, each once.
};

struct RunProfile {
  std::string graph;
  int64_t runs = 0;         ///< Runs that went well.
  int64_t nanoseconds = 0;  ///< Sum over all runs, by the host's clock.
  std::vector<std::string> devices;  ///< Names, as in Plan::devices.
  /// Nothing where it was not measured.
  std::vector<std::optional<Calibration>> reached;
  /// The order is that of the plan.
  std::vector<OperationProfile> operations;
};

/// Sums up the runs that it observes; those that fail count for nothing.  Any
/// thread, one run at a time.
class Profiler final : public RunObserver {
 public:
  /// Calibrates the devices of the executable.  One that cannot be measured
  /// costs a warning.
  explicit Profiler(std::shared_ptr<const Executable> executable);

  Status AfterStep(const ObservedStep& step) override;
  void AfterRun(const Status& how_it_went, int64_t nanoseconds) override;

  RunProfile profile() const;

 private:
  void Calibrate();
  void AddOperations();

  const std::shared_ptr<const Executable> executable_;
  std::vector<size_t> operation_of_;  // per step
  std::vector<StepTime> run_;         // per step, of the run in progress
  mutable std::mutex mutex_;          // of profile_
  RunProfile profile_;
};

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_PROFILE_H_
