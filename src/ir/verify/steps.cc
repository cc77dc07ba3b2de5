#include <optional>
#include <tuple>
#include <variant>

#include "base/checked_math.h"
#include "ir/verify/checks.h"

namespace tim::ir {
namespace {

constexpr int64_t kFloatBytes = sizeof(float);

bool IsReadOnly(SlotKind kind) {
  return kind == SlotKind::kConstant || kind == SlotKind::kInput ||
         kind == SlotKind::kStateRead;
}

Status CheckOperands(const Plan& plan, const Step& step) {
  if (step.operands.size() != step.written.size()) {
    return InvalidArgument("has ", step.operands.size(),
                           " operands, and says of ", step.written.size(),
                           " whether they are written");
  }
  for (size_t i = 0; i < step.operands.size(); ++i) {
    const int slot = step.operands[i];
    if (slot < 0 || slot >= static_cast<int>(plan.slots.size())) {
      return InvalidArgument("operand ", i, " is slot ", slot, " of ",
                             plan.slots.size());
    }
    if (step.written[i] && IsReadOnly(plan.slots[slot].kind)) {
      return InvalidArgument("operand ", i, " writes slot ", slot,
                             ", which is only read");
    }
  }
  return OkStatus();
}

// Copies may also reach the host's memory, and that of another device: whether
// the two share a domain is seen where devices are.
Status CheckReach(const Plan& plan, const Step& step) {
  const bool copies = std::holds_alternative<Copy>(step.action);
  for (size_t i = 0; i < step.operands.size(); ++i) {
    const int device = plan.slots[step.operands[i]].device;
    if (device == step.device || (copies && device == 0)) continue;
    // The host itself reaches no memory of devices.
    if (copies && step.device != 0) continue;
    return InvalidArgument("on device ", step.device, " has operand ", i,
                           " on device ", device);
  }
  return OkStatus();
}

// Behind the last element of the last matrix; nothing where it overflows.
std::optional<int64_t> EndOf(int64_t rows, int64_t columns, int64_t leading,
                             int64_t batches, int64_t batch) {
  const auto row = CheckedMul(rows - 1, leading);
  const auto matrix = CheckedMul(batches - 1, batch);
  if (!row || !matrix) return std::nullopt;
  const auto first = CheckedAdd(*row, *matrix);
  return first ? CheckedAdd(*first, columns) : std::nullopt;
}

struct ActionCheck {
  const Plan& plan;
  const Step& step;

  const Slot& slot(int operand) const {
    return plan.slots[step.operands[operand]];
  }

  // The operands of an action that writes the last of so many.
  Status CheckShape(size_t operands) const {
    if (step.operands.size() != operands) {
      return InvalidArgument("has ", step.operands.size(),
                             " operands, expected ", operands);
    }
    for (size_t i = 0; i < operands; ++i) {
      if (step.written[i] == (i + 1 == operands)) continue;
      return InvalidArgument("operand ", i, " is ",
                             step.written[i] ? "" : "not ", "written");
    }
    return OkStatus();
  }

  Status operator()(const KernelLaunch& launch) const {
    return CheckLaunch(plan, step, launch);
  }

  Status operator()(const UserLaunch& launch) const {
    return CheckUserLaunch(plan, step, launch);
  }

  Status operator()(const HostCall& call) const {
    return CheckHostCall(plan, step, call);
  }

  Status operator()(const DeviceCall& call) const {
    return CheckDeviceCall(call);
  }

  Status operator()(const GraphCall& call) const {
    return CheckGraphCall(plan, step, call);
  }

  Status operator()(const ControlCall& call) const {
    return CheckControlCall(plan, step, call);
  }

  Status operator()(const Copy& copy) const {
    TIM_RETURN_IF_ERROR(CheckShape(2));
    if (slot(0).device != step.device && slot(1).device != step.device) {
      return InvalidArgument("on device ", step.device, " copies from device ",
                             slot(0).device, " to device ", slot(1).device);
    }
    for (const int operand : {0, 1}) {
      if (copy.bytes >= 0 && copy.bytes <= slot(operand).bytes) continue;
      return InvalidArgument("copies ", copy.bytes, " bytes, operand ", operand,
                             " has ", slot(operand).bytes);
    }
    return OkStatus();
  }

  Status operator()(const Gemm& gemm) const {
    TIM_RETURN_IF_ERROR(CheckShape(3));
    if (gemm.m < 1 || gemm.n < 1 || gemm.k < 1 || gemm.batches < 1) {
      return InvalidArgument("multiplies ", gemm.m, " x ", gemm.k, " by ",
                             gemm.k, " x ", gemm.n, ", ", gemm.batches,
                             " times");
    }
    const auto [m, n, k] = std::tuple(gemm.m, gemm.n, gemm.k);
    TIM_RETURN_IF_ERROR(
        gemm.transpose_a ? CheckMatrix(gemm, 0, k, m, gemm.lda, gemm.a_step)
                         : CheckMatrix(gemm, 0, m, k, gemm.lda, gemm.a_step));
    TIM_RETURN_IF_ERROR(
        gemm.transpose_b ? CheckMatrix(gemm, 1, n, k, gemm.ldb, gemm.b_step)
                         : CheckMatrix(gemm, 1, k, n, gemm.ldb, gemm.b_step));
    return CheckMatrix(gemm, 2, gemm.m, gemm.n, gemm.ldc, gemm.c_step);
  }

  Status CheckMatrix(const Gemm& gemm, int operand, int64_t rows,
                     int64_t columns, int64_t leading, int64_t batch) const {
    const int64_t floats = slot(operand).bytes / kFloatBytes;
    const auto end = EndOf(rows, columns, leading, gemm.batches, batch);
    if (leading >= columns && batch >= 0 && end && *end <= floats &&
        slot(operand).offset % kFloatBytes == 0) {
      return OkStatus();
    }
    return InvalidArgument("operand ", operand, ": ", gemm.batches,
                           " matrices of ", rows, " x ", columns, ", rows ",
                           leading, " and matrices ", batch, " apart, in ",
                           floats, " floats at byte ", slot(operand).offset);
  }
};

}  // namespace

Status CheckStep(const Plan& plan, size_t index) {
  const Step& step = plan.steps[index];
  if (step.device < 0 || step.device >= static_cast<int>(plan.devices.size())) {
    return InvalidArgument("is on device ", step.device, " of ",
                           plan.devices.size());
  }
  if (step.stream < 0 || step.stream >= kMostStreams) {
    return InvalidArgument("is in stream ", step.stream, " of ", kMostStreams);
  }
  TIM_RETURN_IF_ERROR(CheckOperands(plan, step));
  TIM_RETURN_IF_ERROR(CheckReach(plan, step));
  for (const int wait : step.waits) {
    if (wait >= 0 && wait < static_cast<int>(index)) continue;
    return InvalidArgument("waits for step ", wait);
  }
  return OkStatus();
}

Status CheckAction(const Plan& plan, const Step& step) {
  if (step.action.valueless_by_exception()) {
    return InvalidArgument("has no action");
  }
  return std::visit(ActionCheck{plan, step}, step.action);
}

}  // namespace tim::ir
