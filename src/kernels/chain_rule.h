// Which launches can be parts of a chain: facts of a launch, known before any
// device is.
#ifndef TIM_KERNELS_CHAIN_RULE_H_
#define TIM_KERNELS_CHAIN_RULE_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/step.h"

namespace tim::kernels {

/// Ok where the launch can be part of a chain, or why not: kernels of very many
/// work-groups, those with barriers or local memory, the policies TIM_WRAP and
/// TIM_TO_ZERO, options other than -D; of those that are not embedded also
/// those of some thousand work-groups, and those that leave their sizes to the
/// driver.  Users' launches are in no chain.  Any thread.
Status CheckChainable(const ir::KernelLaunch& launch);

/// Work-groups along each dimension; where the local size is left open, an item
/// is one.
std::array<int64_t, 3> ChainGroups(const ir::NdRange& range);

/// The options "-DA=1 -DB" as names and values ("1" for B); fails on any other
/// option.
Result<std::vector<std::pair<std::string, std::string>>> MacrosOf(
    std::string_view options);

}  // namespace tim::kernels

#endif  // TIM_KERNELS_CHAIN_RULE_H_
