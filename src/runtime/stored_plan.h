// What a binary graph has for the devices that it was compiled on.
#ifndef TIM_RUNTIME_STORED_PLAN_H_
#define TIM_RUNTIME_STORED_PLAN_H_

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/status.h"
#include "binary/blob.h"
#include "binary/program_file.h"
#include "device/device.h"
#include "ir/plan.h"
#include "runtime/executable.h"

namespace tim::runtime {

/// Of the kernels of this library, which plans name.
const std::string& KernelsIdentity();

/// Whether a host step calls a user's function.
bool CallsUsers(const ir::Plan& plan);

/// The plan, where another process can run it: not where the content of its
/// constants was uploaded and forgotten, and not where a host step calls a
/// user's function.
std::optional<binary::Encoding> EncodeStored(const ir::Plan& plan);

/// The programs that `executable` runs, where their drivers give them; nothing
/// is prepared for it.
binary::Programs ProgramsOf(const Executable& executable);

/// The plan of `blob` where it is what this process would make of it: of the
/// same kernels, for these devices and options.  A failure says why it is not;
/// kNotFound: there is none.
Result<ir::Plan> StoredPlan(
    const binary::Blob& blob,
    std::span<const std::shared_ptr<device::Device>> devices,
    const ir::PlanOptions& options);
/// The same; nothing, and at level info why, where it is not.
std::optional<ir::Plan> UsablePlan(
    const binary::Blob& blob,
    std::span<const std::shared_ptr<device::Device>> devices,
    const ir::PlanOptions& options);

/// The programs of `blob`, and behind them `programs`.
std::shared_ptr<device::BinaryStore> WithPrograms(
    const binary::Blob& blob, std::shared_ptr<device::BinaryStore> programs);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_STORED_PLAN_H_
