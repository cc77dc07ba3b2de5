// Shares the items of a batch among devices by their speeds.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "compiler/batch_split.h"
#include "compiler/passes/passes.h"
#include "compiler/schedule_model.h"

namespace tim::compiler {
namespace {

// Microseconds of the whole batch on each device, impossible where one of the
// nodes does not run there.
std::vector<double> TimesOf(const ScheduleModel& model) {
  std::vector<double> times(static_cast<size_t>(model.devices()), 0);
  for (size_t d = 0; d < times.size(); ++d) {
    for (size_t n = 0; n < model.size(); ++n) {
      if (!model.IsFree(n)) times[d] += model.Cost(n, static_cast<int>(d));
    }
  }
  return times;
}

// Whole items by speed; what is left over goes where it ends first.
std::vector<BatchShare> SharesOf(const std::vector<double>& times,
                                 int64_t items) {
  double speed = 0;
  for (size_t d = 1; d < times.size(); ++d) {
    if (times[d] != ScheduleModel::kImpossible) speed += 1 / times[d];
  }
  std::vector<BatchShare> shares;
  int64_t left = items;
  for (size_t d = 1; d < times.size(); ++d) {
    if (times[d] == ScheduleModel::kImpossible) continue;
    const double part = static_cast<double>(items) / times[d] / speed;
    shares.push_back({static_cast<int>(d), static_cast<int64_t>(part)});
    left -= shares.back().items;
  }
  const auto end_with_one_more = [&](const BatchShare& share) {
    return times[static_cast<size_t>(share.device)] *
           static_cast<double>(share.items + 1);
  };
  for (; left > 0 && !shares.empty(); --left) {
    ++std::min_element(shares.begin(), shares.end(),
                       [&](const BatchShare& a, const BatchShare& b) {
                         return end_with_one_more(a) < end_with_one_more(b);
                       })
          ->items;
  }
  std::erase_if(shares,
                [](const BatchShare& share) { return share.items == 0; });
  return shares;
}

// Time of the longest share, with copies of its inputs and outputs.
double PredictedUs(const Module& module, const std::vector<double>& times,
                   const std::vector<BatchShare>& shares, int64_t items) {
  double longest = 0;
  for (const BatchShare& share : shares) {
    const double part =
        static_cast<double>(share.items) / static_cast<double>(items);
    double us = part * times[static_cast<size_t>(share.device)];
    for (const ir::ValueId id : module.graph.inputs()) {
      const auto bytes =
          static_cast<double>(BytesOf(module.graph.value(id).desc));
      us += module.options.links.Between(0, share.device)
                .Microseconds(part * bytes);
    }
    for (const ir::ValueId id : module.graph.outputs()) {
      const auto bytes =
          static_cast<double>(BytesOf(module.graph.value(id).desc));
      us += module.options.links.Between(share.device, 0)
                .Microseconds(part * bytes);
    }
    longest = std::max(longest, us);
  }
  return longest;
}

std::string NameOf(const Module& module,
                   const std::vector<BatchShare>& shares) {
  std::string name = "batch split:";
  for (const BatchShare& share : shares) {
    name +=
        StrCat(" ", share.items, " on ", module.device(share.device).Label());
  }
  return name;
}

}  // namespace

Status SplitBatch(Module& module) {
  const Split split = module.options.policy.split;
  if (split == Split::kOff || !module.several_devices()) return OkStatus();
  const Result<int64_t> items = CheckBatch(module);
  if (!items.ok()) {
    return split == Split::kAuto ? OkStatus() : items.status();
  }
  TIM_ASSIGN_OR_RETURN(const ScheduleModel model,
                       ScheduleModel::Create(module));
  const std::vector<double> times = TimesOf(model);
  const std::vector<BatchShare> shares = SharesOf(times, *items);
  if (shares.size() < 2) return OkStatus();
  const double us = PredictedUs(module, times, shares, *items);
  const auto chosen = std::find_if(
      module.compared.begin(), module.compared.end(),
      [&](const auto& one) { return one.plan == module.chosen_division; });
  if (split == Split::kAuto && chosen != module.compared.end() &&
      chosen->predicted_us <= us) {
    return OkStatus();
  }
  const std::string name = NameOf(module, shares);
  module.compared.push_back({.plan = name, .predicted_us = us});
  module.chosen_division = name;
  return SplitInto(module, shares);
}

}  // namespace tim::compiler
