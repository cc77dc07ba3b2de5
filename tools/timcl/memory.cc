// `timcl memory`: the memory plan of a binary graph.
#include <string>
#include <vector>

#include "base/options.h"
#include "base/write_file.h"
#include "ir/dump/memory_svg.h"
#include "tools/timcl/commands.h"
#include "tools/timcl/graph_file.h"
#include "tools/timcl/memory_problem.h"
#include "tools/timcl/slot_lives.h"
#include "tools/timcl/terminal.h"

namespace tim::tool {
namespace {

std::string CsvOf(const ir::Plan& plan) {
  const std::vector<SlotLife> lives = LivesOf(plan);
  std::vector<std::vector<std::string>> rows = {
      {"slot", "kind", "device", "index", "offset", "bytes", "allocation",
       "first_step", "last_step", "written_by"}};
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    const ir::Slot& slot = plan.slots[i];
    rows.push_back({StrCat(i), NameOf(slot.kind), StrCat(slot.device),
                    StrCat(slot.index), StrCat(slot.offset), StrCat(slot.bytes),
                    StrCat(slot.allocation), StrCat(lives[i].first),
                    StrCat(lives[i].last), lives[i].writer});
  }
  return Csv(rows);
}

Json JsonOf(const ir::Plan& plan) {
  Json json = {{"graph", plan.graph},
               {"arena_bytes", plan.memory.peak},
               {"bytes_without_reuse", plan.memory.no_reuse_sum},
               {"least_possible_bytes", plan.memory.lower_bound},
               {"host_scratch_bytes", plan.memory.eval_scratch},
               {"devices", Json::array()},
               {"arenas", Json::array()},
               {"constants", Json::array()},
               {"slots", Json::array()}};
  for (const ir::DeviceInfo& device : plan.devices) {
    json["devices"].push_back(device.name);
  }
  for (const ir::Arena& arena : plan.arenas) {
    json["arenas"].push_back({{"device", arena.device},
                              {"memory", ir::ToString(arena.memory)},
                              {"bytes", arena.bytes}});
  }
  for (const ir::ConstantBlock& block : plan.constants) {
    json["constants"].push_back(
        {{"device", block.device}, {"bytes", block.bytes}});
  }
  const std::vector<SlotLife> lives = LivesOf(plan);
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    const ir::Slot& slot = plan.slots[i];
    json["slots"].push_back({{"slot", i},
                             {"kind", NameOf(slot.kind)},
                             {"device", slot.device},
                             {"index", slot.index},
                             {"offset", slot.offset},
                             {"bytes", slot.bytes},
                             {"allocation", slot.allocation},
                             {"first_step", lives[i].first},
                             {"last_step", lives[i].last},
                             {"written_by", lives[i].writer}});
  }
  return json;
}

}  // namespace

Result<ExitCode> ShowMemory(const Arguments& arguments) {
  TIM_ASSIGN_OR_RETURN(const binary::Blob blob,
                       OpenGraphFile(arguments.file, arguments.model));
  TIM_ASSIGN_OR_RETURN(const auto devices,
                       DevicesFor(arguments.device, GetOptions().on_device));
  TIM_ASSIGN_OR_RETURN(const PlannedGraph planned, PlanOf(blob, devices));
  if (!arguments.memory.svg.empty()) {
    const Status status =
        WriteFile(arguments.memory.svg, {ir::MemorySvg(planned.plan)});
    if (!status.ok()) return NotFound(status.message());
  }
  if (!arguments.memory.problem.empty()) {
    const Status status = WriteFile(arguments.memory.problem,
                                    {WriteProblem(ProblemOf(planned.plan))});
    if (!status.ok()) return NotFound(status.message());
  }
  if (arguments.json) {
    PrintJson(JsonOf(planned.plan));
  } else {
    Print(CsvOf(planned.plan));
  }
  return kDone;
}

}  // namespace tim::tool
