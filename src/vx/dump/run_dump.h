// The tensors of one run as files.
#ifndef TIM_VX_DUMP_RUN_DUMP_H_
#define TIM_VX_DUMP_RUN_DUMP_H_

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/dump/file_names.h"
#include "ir/plan.h"
#include "runtime/observed_run.h"
#include "runtime/port_binding.h"
#include "vx/dump/name_filter.h"

namespace tim::vx {

/// Writes tensors when they are complete: inputs, what each step makes, what
/// no step makes and one reads (states, views), outputs; index.csv tells of
/// all of them, in this order.  Constants are in no file.  A failure to write
/// ends the dump, not the run.
class RunDump final : public runtime::RunObserver {
 public:
  /// \param folder is there.  `plan`, with notes, and `filter` outlive it.
  RunDump(std::string folder, const ir::Plan& plan, const NameFilter& filter);

  /// Before the run, and after it where it went well: memory as the run has it.
  void AddInputs(std::span<const runtime::PortMemory> memory);
  void AddOutputs(std::span<const runtime::PortMemory> memory);
  Status BeforeStep(const runtime::ObservedStep& step) override;
  Status AfterStep(const runtime::ObservedStep& step) override;

  /// Writes index.csv and warns of the first NaN.  The first failure to write.
  Status Finish();

 private:
  /// A tensor at one moment.
  struct Moment {
    std::string when;       ///< "input", "output", or the number of a step.
    std::string operation;  ///< Step::label of what made it; else empty.
  };

  void AddPorts(const std::vector<ir::PlanTensor>& ports, const char* when,
                std::span<const runtime::PortMemory> memory);
  int ValueOf(const runtime::ObservedStep& step, int operand) const;
  Status AddOperand(const runtime::ObservedStep& step, int operand);
  Status Collect(const runtime::ObservedStep& step, int operand, int value);
  bool Wants(const std::string& tensor, const Moment& moment) const;
  void Add(const std::string& tensor, const ir::TensorDesc& desc,
           const Moment& moment, std::span<const std::byte> bytes);
  void Keep(const Status& status);

  const std::string folder_;
  const ir::Plan& plan_;
  const NameFilter& filter_;
  std::vector<int> last_writers_;  // per value of the notes, -1: no step
  std::vector<bool> in_parts_;     // per value: a step writes a part of it
  std::map<int, std::vector<std::byte>> parts_;  // of values, until complete
  std::set<std::string> done_;                   // tensors
  ir::FileNames files_;
  std::string index_;
  std::string first_nan_;
  Status status_;
};

}  // namespace tim::vx

#endif  // TIM_VX_DUMP_RUN_DUMP_H_
