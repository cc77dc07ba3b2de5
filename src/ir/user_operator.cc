// What all users' operators have in common.
#include "ir/user_operator.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/str_cat.h"
#include "ir/typed_kernel.h"

namespace tim::ir {
namespace {

constexpr char kDomain[] = "user";

Status CheckAllocation(const char* what, size_t index, int64_t bytes,
                       const DeviceInfo& device) {
  if (bytes <= device.max_allocation_bytes) return OkStatus();
  return InvalidArgument(what, " ", index, " takes ", bytes, " bytes, ",
                         device.name, " allocates ",
                         device.max_allocation_bytes, " at most");
}

PackedConstant PackedOf(const std::shared_ptr<const ConstantData>& table) {
  return {.id = StrCat("table of user ", table->hash.ToString(), " ",
                       table->bytes.size()),
          .sources = {},
          .bytes = static_cast<int64_t>(table->bytes.size()),
          .pack = [table](std::span<std::byte> out) {
            std::copy(table->bytes.begin(), table->bytes.end(), out.begin());
            return OkStatus();
          }};
}

Result<Lowering> LoweringOf(UserSteps user, const DeviceInfo& device) {
  Lowering lowering;
  for (size_t i = 0; i < user.scratch.size(); ++i) {
    TIM_RETURN_IF_ERROR(
        CheckAllocation("scratch", i, user.scratch[i].bytes, device));
  }
  for (size_t i = 0; i < user.tables.size(); ++i) {
    lowering.packed.push_back(PackedOf(user.tables[i]));
    TIM_RETURN_IF_ERROR(
        CheckAllocation("table", i, lowering.packed[i].bytes, device));
  }
  lowering.steps = std::move(user.steps);
  lowering.scratch = std::move(user.scratch);
  lowering.in_place = std::move(user.in_place);
  return lowering;
}

}  // namespace

const OpSchema* AddUserOperator(UserOperatorFacts facts, OpRegistry* registry) {
  const std::string key = StrCat(kDomain, ".", facts.name);
  registry->Add(OpSchema{
      .domain = kDomain,
      .name = std::move(facts.name),
      .inputs = facts.inputs,
      .outputs = facts.outputs,
      .attributes = std::move(facts.attributes),
      .user_kernel = true,
      .infer_shapes = std::move(facts.infer_shapes),
      .eval = std::move(facts.eval),
      .memory_estimate = [](const NodeView&) -> int64_t { return 0; },
      .compute_estimate = [](const NodeView&) { return ComputeEstimate(); },
      .permute_rule = std::move(facts.permute_rule)});
  registry->Add(PlainKernel{
      .op = key,
      .name = key,
      .analyze = [](const KernelNode&,
                    const DeviceInfo&) { return OkStatus(); },
      .cost = [](const KernelNode&, const DeviceInfo& device) -> double {
        return device.launch_us;
      },
      .lower = [steps = std::move(facts.steps)](
                   const KernelNode& node,
                   const DeviceInfo& device) -> Result<Lowering> {
        TIM_ASSIGN_OR_RETURN(UserSteps user, steps(node));
        return LoweringOf(std::move(user), device);
      }});
  return registry->Find(key);
}

}  // namespace tim::ir
