// One case on one device: the operator's results against the reference's.
#ifndef TIM_VX_CHECK_TRIAL_H_
#define TIM_VX_CHECK_TRIAL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "tim/vx/context.h"
#include "tim/vx/custom_op_check.h"
#include "vx/check/check_case.h"
#include "vx/operation/custom_means.h"

namespace tim::vx::check {

using Bytes = std::vector<std::byte>;

/// A device that is checked.
struct Target {
  uint32_t number = 0;
  std::string name;
  bool is_host = false;
  size_t most_items = 1;             ///< Limit of a work-group.
  std::shared_ptr<Context> context;  ///< Guarded.
};

/// Launches of an operation, as a class without its own sources can.
struct Launches {
  std::string name;  ///< "Twice"
  std::string text;
  std::string options;
  std::vector<CustomKernel> kernels;  ///< Empty where it was not compiled.
  std::vector<ops::Param> scalars;
  std::vector<bool> optional;  ///< By input; may be shorter.
  std::vector<CustomScratch> scratch;
  std::vector<CustomTable> tables;
  std::vector<int64_t> locals;
  std::vector<bool> zeroed;  ///< By output; may be shorter.
};

/// Outcome of a case.
struct Outcome {
  std::optional<FaultKind> fault;  ///< None: it agrees.
  std::string reason;              ///< Text of a fault.
  std::string operand;
  int64_t element = -1;
  std::string actual;
  std::string expected;

  Launches launches;
  /// A kernel's local sizes are left to the runtime by the operator.
  bool open = false;
};

/// The same fault, perhaps of another case.
bool IsSameFault(const Outcome& a, const Outcome& b);

/// A case with all that it is compared with.
struct Prepared {
  Case tried;
  Operands operands;          ///< With the shapes and types of outputs.
  std::vector<Bytes> values;  ///< By input.
  std::vector<Bytes> states;  ///< By output, before a run; of no VARIABLE: {}.
  std::vector<Bytes> expected;  ///< By output.
  Outcome problem;  ///< A fault where there is nothing to compare with.
};

class Trials {
 public:
  /// \param host a context on the host alone.
  Trials(const CheckedOperator& checked, const CheckOptions& options,
         std::shared_ptr<Context> host)
      : checked_(checked), options_(options), host_(std::move(host)) {}

  const CheckedOperator& checked() const { return checked_; }
  const CheckOptions& options() const { return options_; }

  /// Whether the operation that create() makes for case 0 has a HostEval().
  Result<bool> HasHostEval() const;
  Prepared Prepare(const Case& tried) const;
  /// Outcome of a case without a problem, `tried.group` applied.
  Outcome Try(const Prepared& prepared, const Target& target) const;

 private:
  struct Built;

  enum class Use : uint8_t { kInfer, kRun };

  const std::vector<OutputRange>& outputs() const { return checked_.outputs; }
  Result<Built> Build(Context& context, const Operands& operands,
                      Use use) const;
  Result<Operands> InferOutputs(const Operands& operands) const;
  Status Write(const Built& built, const Prepared& prepared) const;
  /// Content of outputs before a run: a VARIABLE its state, others rubbish.
  Status WriteOutputs(const Built& built, const Prepared& prepared,
                      std::byte poison) const;
  Result<std::vector<Bytes>> HostResults(const Prepared& prepared) const;
  Result<std::vector<Bytes>> Reference(const Prepared& prepared,
                                       std::byte poison) const;
  Status SetExpected(Prepared* prepared) const;
  void Watch(const Built& built, size_t group, Outcome* outcome) const;
  Status Run(const Built& built, const Prepared& prepared,
             Outcome* outcome) const;

  const CheckedOperator& checked_;
  const CheckOptions& options_;
  const std::shared_ptr<Context> host_;
};

}  // namespace tim::vx::check

#endif  // TIM_VX_CHECK_TRIAL_H_
