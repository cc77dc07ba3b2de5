// A plan as bytes: all that stands in it, and the content of its constants.
#ifndef TIM_BINARY_PLAN_PLAN_FILE_H_
#define TIM_BINARY_PLAN_PLAN_FILE_H_

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "binary/encoding.h"
#include "ir/op_registry.h"
#include "ir/plan.h"

namespace tim::binary {

/// Plans of If and While in each other, at most.
inline constexpr int kMaxPlanDepth = 16;

/// The same plan gives the same bytes.  The encoding shares the content of
/// constants with the plan.  Fails where a constant has no content any more, or
/// is in none of the forms that ir::Verify lets pass, or where the body of a
/// composite nests graphs too deeply.  The `edition` of launches is not
/// written: it counts Compiles of one process.
Result<Encoding> EncodePlan(const ir::Plan& plan);
Result<std::vector<std::byte>> WritePlan(const ir::Plan& plan);

/// The plan that WritePlan was given.  Bytes of any content and alignment: what
/// is no such plan, or one that ir::Verify refuses, is kInvalidArgument, in
/// time and memory that grow with their number (kMaxGrowth).  Bodies of
/// composites are read as ReadGraph reads them: operators that are missing are
/// kUnimplemented.
/// \param operators of the bodies, which must outlive the plan.
/// \param keeper keeps the bytes, in which constants are then used; null, and
/// where they are not aligned for their device, they are copied.
Result<ir::Plan> ReadPlan(std::span<const std::byte> bytes,
                          const ir::OpRegistry& operators,
                          const std::shared_ptr<const void>& keeper = nullptr);

}  // namespace tim::binary

#endif  // TIM_BINARY_PLAN_PLAN_FILE_H_
