// Gives whatever lives an offset in an arena of its device.
#include <algorithm>

#include "base/checked_math.h"
#include "compiler/memory/eval_scratch.h"
#include "compiler/memory/lifetimes.h"
#include "compiler/memory/memory_planner.h"
#include "compiler/memory/queue_conflicts.h"
#include "compiler/memory/sharing.h"
#include "compiler/passes/passes.h"

namespace tim::compiler {
namespace {

using ir::ValueId;

void PlaceOn(Module& module, const QueueConflicts& conflicts, int device) {
  MemoryProblem problem{.alignment = module.device(device).alignment};
  std::vector<int> indices;
  for (int i = 0; i < static_cast<int>(module.allocations.size()); ++i) {
    const Allocation& allocation = module.allocations[i];
    if (allocation.device != device) continue;
    problem.ranges.push_back(
        {allocation.bytes, allocation.first_step, allocation.last_step});
    indices.push_back(i);
  }
  problem.conflicts = conflicts.Among(device, indices);
  const MemoryLayout layout = Solve(problem, module.options.policy.memory);
  for (size_t i = 0; i < indices.size(); ++i) {
    module.allocations[indices[i]].offset = layout.offsets[i];
    module.memory.no_reuse_sum +=
        AlignUp(problem.ranges[i].bytes, problem.alignment);
  }
  module.arena_bytes.push_back(layout.peak);
  module.memory.lower_bound += MemoryLowerBound(problem);
  module.memory.peak += layout.peak;
}

void Place(Module& module, const Sharing& sharing) {
  for (ValueId id = 0; id < module.graph.value_id_limit(); ++id) {
    if (sharing.root[id] == id) continue;
    module.storages[id] = module.storages[sharing.root[id]];
    module.storages[id].offset = sharing.offset[id];
  }
  const QueueConflicts conflicts(module, sharing);
  for (int d = 0; d < static_cast<int>(module.options.devices.size()); ++d) {
    PlaceOn(module, conflicts, d);
  }
}

// A step that copies a value onto itself has nothing to do.
void DropCopiesToThemselves(Module& module) {
  std::erase_if(module.schedule, [&](const ScheduledStep& step) {
    if (step.kind != ScheduledStep::Kind::kNode ||
        module.placements[step.node].kind != RunKind::kKernel) {
      return false;
    }
    const int output = CopiedOutput(module, step.node, step.index);
    if (output < 0) return false;
    const ir::Node& node = module.graph.node(step.node);
    const int input =
        module.lowerings[step.node].steps[step.index].operands[0].index;
    return module.storages[node.inputs[input]] ==
           module.storages[node.outputs[output]];
  });
}

}  // namespace

Status PlanMemory(Module& module) {
  const Sharing sharing = ShareMemory(module);
  TIM_RETURN_IF_ERROR(AddAllocations(module, sharing));
  Place(module, sharing);
  DropCopiesToThemselves(module);
  TIM_ASSIGN_OR_RETURN(module.memory.eval_scratch, EvalScratchBytes(module));
  return OkStatus();
}

}  // namespace tim::compiler
