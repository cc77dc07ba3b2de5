#include "kernels/chain_rule.h"

#include <algorithm>

#include "kernels/chain_text.h"

namespace tim::kernels {
namespace {

// Workers count work-groups in ints, and a launch of that many gains nothing.
constexpr int64_t kMostWorkGroups = int64_t{1} << 24;
// The limit of kernels that make an element per work-item, as texts that come
// at run time do: their work-groups are so short that a driver who runs them in
// a row gains more than two waits cost.
constexpr int64_t kMostWorkGroupsOfText = 4096;

}  // namespace

Result<std::vector<std::pair<std::string, std::string>>> MacrosOf(
    std::string_view options) {
  std::vector<std::pair<std::string, std::string>> macros;
  while (!options.empty()) {
    const size_t end = std::min(options.find(' '), options.size());
    const std::string_view word = options.substr(0, end);
    options.remove_prefix(std::min(end + 1, options.size()));
    if (word.empty()) continue;
    if (!word.starts_with("-D")) {
      return Unimplemented("the option ", word, " in a chain");
    }
    const size_t equal = std::min(word.find('='), word.size());
    macros.emplace_back(word.substr(2, equal - 2),
                        equal < word.size() ? word.substr(equal + 1) : "1");
  }
  return macros;
}

std::array<int64_t, 3> ChainGroups(const ir::NdRange& range) {
  std::array<int64_t, 3> groups = {1, 1, 1};
  for (int d = 0; d < range.dimensions; ++d) {
    groups[d] = range.global[d] / std::max<int64_t>(range.local[d], 1);
  }
  return groups;
}

Status CheckChainable(const ir::KernelLaunch& launch) {
  const bool embedded = launch.text.empty();
  const int64_t most = embedded ? kMostWorkGroups : kMostWorkGroupsOfText;
  int64_t groups = 1;
  for (const int64_t along : ChainGroups(launch.range)) {
    if (along > most / groups) {
      return Unimplemented("more than ", most, " work-groups in a chain");
    }
    groups *= std::max<int64_t>(along, 1);
  }
  for (const ir::KernelArg& argument : launch.arguments) {
    if (std::holds_alternative<ir::LocalArg>(argument)) {
      return Unimplemented("local memory in a chain");
    }
  }
  if (!embedded && launch.text.find(kOwnTextLine) == std::string::npos) {
    return Unimplemented("a text of others in a chain");
  }
  if (!embedded && launch.range.local[0] == 0) {
    return Unimplemented("work-groups of the driver's choice in a chain");
  }
  TIM_RETURN_IF_ERROR(CheckChainText(launch));
  TIM_ASSIGN_OR_RETURN(const auto macros, MacrosOf(launch.options));
  for (const auto& [name, value] : macros) {
    // kernels/requantize.clh would differ from that of the other launches.
    if (name == "TIM_WRAP" || name == "TIM_TO_ZERO") {
      return Unimplemented("the policy ", name, " in a chain");
    }
  }
  return OkStatus();
}

}  // namespace tim::kernels
