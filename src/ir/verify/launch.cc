#include <variant>

#include "ir/verify/checks.h"
#include "ir/verify/desc_check.h"

namespace tim::ir {
namespace {

// An argument against the operand that it names.
struct ArgumentCheck {
  const Plan& plan;
  const Step& step;
  const KernelLaunch& launch;

  bool IsOperand(int operand) const {
    return operand >= 0 && operand < static_cast<int>(step.operands.size());
  }

  Status NoOperand(int operand) const {
    return InvalidArgument("names operand ", operand, " of ",
                           step.operands.size());
  }

  Status OnlyOf(bool user) const {
    if (launch.user_kernel == user) return OkStatus();
    return InvalidArgument("is none of a ", user ? "built-in" : "user's",
                           " kernel");
  }

  Status operator()(const TensorArg& arg) const {
    TIM_RETURN_IF_ERROR(OnlyOf(false));
    if (!IsOperand(arg.operand)) return NoOperand(arg.operand);
    const int64_t offset = plan.slots[step.operands[arg.operand]].offset;
    if (arg.element_bytes >= 1 && offset % arg.element_bytes == 0) {
      return OkStatus();
    }
    return InvalidArgument("counts elements of ", arg.element_bytes,
                           " bytes, operand ", arg.operand, " is at byte ",
                           offset);
  }

  Status operator()(const UserTensorArg& arg) const {
    TIM_RETURN_IF_ERROR(OnlyOf(true));
    if (static_cast<int>(arg.type) >= kDataTypeCount) {
      return InvalidArgument("is of data type ", static_cast<int>(arg.type));
    }
    if (arg.operand == kAbsentOperand) return OkStatus();
    if (!IsOperand(arg.operand)) return NoOperand(arg.operand);
    if (arg.written != step.written[arg.operand]) {
      return InvalidArgument("is ", arg.written ? "" : "not ",
                             "written, unlike operand ", arg.operand);
    }
    TensorDesc desc;
    desc.type = arg.type;
    desc.shape = Shape(arg.dims);
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, CheckDesc(desc));
    const int64_t room = plan.slots[step.operands[arg.operand]].bytes;
    if (bytes <= room) return OkStatus();
    return InvalidArgument("is of ", desc.ToString(), ", ", bytes,
                           " bytes, operand ", arg.operand, " has ", room);
  }

  Status operator()(const UserScalarArg&) const { return OnlyOf(true); }

  Status operator()(const LocalArg& arg) const {
    if (arg.bytes >= 0) return OkStatus();
    return InvalidArgument("is local memory of ", arg.bytes, " bytes");
  }

  template <typename Number>
  Status operator()(Number) const {
    return OnlyOf(false);
  }
};

Status CheckArgument(const Plan& plan, const Step& step,
                     const KernelLaunch& launch, size_t index) {
  const KernelArg& argument = launch.arguments[index];
  if (argument.valueless_by_exception()) return InvalidArgument("has no value");
  return std::visit(ArgumentCheck{plan, step, launch}, argument);
}

}  // namespace

// Work sizes are the device's to check, but for how many there are.
Status CheckLaunch(const Plan& plan, const Step& step,
                   const KernelLaunch& launch) {
  if (launch.dimensions < 1 || launch.dimensions > 3) {
    return InvalidArgument("expected 1 to 3 dimensions, found ",
                           launch.dimensions);
  }
  if (!launch.names.empty() && launch.names.size() != launch.arguments.size()) {
    return InvalidArgument(launch.arguments.size(), " arguments have ",
                           launch.names.size(), " names");
  }
  if (launch.part < 0) return InvalidArgument("is part ", launch.part);
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    const Status status = CheckArgument(plan, step, launch, i);
    if (status.ok()) continue;
    return InvalidArgument("argument ", i, " ", status.message());
  }
  return OkStatus();
}

}  // namespace tim::ir
