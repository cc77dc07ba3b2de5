// Kernel launches as tables: both sorts have one.
#ifndef TIM_BINARY_LAUNCH_TABLES_H_
#define TIM_BINARY_LAUNCH_TABLES_H_

#include <flatbuffers/flatbuffers.h>

#include <string>
#include <vector>

#include "base/status.h"
#include "binary/launch_generated.h"
#include "binary/read_budget.h"
#include "ir/step.h"

namespace tim::binary {

using TextList = flatbuffers::Vector<flatbuffers::Offset<fbs::Text>>;

flatbuffers::Offset<TextList> WriteTexts(
    flatbuffers::FlatBufferBuilder& builder,
    const std::vector<std::string>& texts);
/// An absent list is empty.
Result<std::vector<std::string>> ReadTexts(const TextList* list,
                                           ReadBudget& budget);

flatbuffers::Offset<fbs::KernelLaunch> WriteLaunch(
    flatbuffers::FlatBufferBuilder& builder, const ir::KernelLaunch& launch);
flatbuffers::Offset<fbs::KernelLaunch> WriteLaunch(
    flatbuffers::FlatBufferBuilder& builder, const ir::UserLaunch& launch);

/// A table without `user_kernel`.  Arguments are of kinds that built-in kernels
/// have, with what their kind needs; what only users' launches have is not
/// looked at.
Result<ir::KernelLaunch> ReadLaunch(const fbs::KernelLaunch& table,
                                    ReadBudget& budget);
/// The same for a user's launch: fails for another.
Result<ir::UserLaunch> ReadUserLaunch(const fbs::KernelLaunch& table,
                                      ReadBudget& budget);

}  // namespace tim::binary

#endif  // TIM_BINARY_LAUNCH_TABLES_H_
