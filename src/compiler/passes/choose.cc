// Chooses kernels and layouts, and writes the choice into the graph.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "compiler/apply_choice.h"
#include "compiler/candidates.h"
#include "compiler/describe_partition.h"
#include "compiler/host_steps.h"
#include "compiler/location_search.h"
#include "compiler/passes/passes.h"
#include "compiler/ports.h"

namespace tim::compiler {
Status Choose(Module& module) {
  TIM_RETURN_IF_ERROR(CheckStaticShapes(module.graph));
  TIM_RETURN_IF_ERROR(CheckPorts(module));
  TIM_ASSIGN_OR_RETURN(const std::vector<ir::NodeId> order,
                       module.graph.TopologicalOrder());
  LocationTable locations;
  TIM_ASSIGN_OR_RETURN(LocationChoice choice,
                       SearchLocations(module, locations, order));
  // Decisions of earlier passes stand behind those of nodes.
  std::move(module.decisions.begin(), module.decisions.end(),
            std::back_inserter(choice.decisions));
  module.decisions = std::move(choice.decisions);
  for (size_t i = 0; i < order.size(); ++i) {
    module.decisions[i].node = module.graph.node(order[i]).name;
  }
  if (!module.is_trial) WarnOfHostSteps(module, order, choice.chosen);
  TIM_RETURN_IF_ERROR(DescribePartition(module, order, choice.chosen));
  module.offers.clear();
  return ApplyChoice(module, locations, order, choice.chosen);
}

}  // namespace tim::compiler
