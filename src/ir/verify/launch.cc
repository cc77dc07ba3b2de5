// Arguments and work sizes of launches.
#include <variant>
#include <vector>

#include "base/ascii.h"
#include "ir/verify/checks.h"
#include "ir/verify/desc_check.h"

namespace tim::ir {
namespace {

// An argument against the operand that it names.
struct ArgumentCheck {
  const Plan& plan;
  const Step& step;

  bool IsOperand(int operand) const {
    return operand >= 0 && operand < static_cast<int>(step.operands.size());
  }

  Status NoOperand(int operand) const {
    return InvalidArgument("names operand ", operand, " of ",
                           step.operands.size());
  }

  Status operator()(const TensorArg& arg) const {
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

  Status operator()(const LocalArg& arg) const {
    if (arg.bytes >= 0) return OkStatus();
    return InvalidArgument("is local memory of ", arg.bytes, " bytes");
  }

  // The type stands in texts of chains.
  Status operator()(const StructArg& arg) const {
    if (!IsIdentifier(arg.type)) {
      return InvalidArgument("is of type '", arg.type, "'");
    }
    if (arg.fields.empty() || arg.fields.size() > kMostStructFields) {
      return InvalidArgument("has ", arg.fields.size(),
                             " fields, expected 1 to ", kMostStructFields);
    }
    for (const StructArg::Field& field : arg.fields) {
      if (!IsIdentifier(field.name) || field.value.valueless_by_exception()) {
        return InvalidArgument("has a field '", field.name, "'");
      }
    }
    return OkStatus();
  }

  template <typename Scalar>
  Status operator()(const Scalar&) const {
    return OkStatus();
  }
};

// Work sizes are the device's to check, but for how many there are.
Status CheckRange(const NdRange& range) {
  if (range.dimensions >= 1 && range.dimensions <= 3) return OkStatus();
  return InvalidArgument("expected 1 to 3 dimensions, found ",
                         range.dimensions);
}

template <typename Arg>
Status CheckArguments(const Plan& plan, const Step& step,
                      const std::vector<Arg>& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Status status =
        arguments[i].valueless_by_exception()
            ? InvalidArgument("has no value")
            : std::visit(ArgumentCheck{plan, step}, arguments[i]);
    if (status.ok()) continue;
    return InvalidArgument("argument ", i, " ", status.message());
  }
  return OkStatus();
}

}  // namespace

Status CheckLaunch(const Plan& plan, const Step& step,
                   const KernelLaunch& launch) {
  TIM_RETURN_IF_ERROR(CheckRange(launch.range));
  if (!launch.names.empty() && launch.names.size() != launch.arguments.size()) {
    return InvalidArgument(launch.arguments.size(), " arguments have ",
                           launch.names.size(), " names");
  }
  return CheckArguments(plan, step, launch.arguments);
}

Status CheckUserLaunch(const Plan& plan, const Step& step,
                       const UserLaunch& launch) {
  TIM_RETURN_IF_ERROR(CheckRange(launch.range));
  if (launch.part < 0) return InvalidArgument("is part ", launch.part);
  return CheckArguments(plan, step, launch.arguments);
}

}  // namespace tim::ir
