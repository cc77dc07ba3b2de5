// Divides the graph among devices: the division that is predicted to be best.
#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/divisions.h"
#include "compiler/location_search.h"
#include "compiler/passes/passes.h"
#include "compiler/ports.h"
#include "compiler/schedule_model.h"

namespace tim::compiler {
namespace {

// The choice of a search that adds up the costs of all steps.
Result<DeviceMap> SerialOptimum(const Module& module,
                                const ScheduleModel& model) {
  std::vector<ir::NodeId> order;
  for (size_t n = 0; n < model.size(); ++n) order.push_back(model.id(n));
  LocationTable locations;
  TIM_ASSIGN_OR_RETURN(const LocationChoice choice,
                       SearchLocations(module, locations, order));
  DeviceMap map;
  for (const Candidate& candidate : choice.chosen) {
    map.push_back(candidate.placement.device);
  }
  return map;
}

Result<Division> FindDivision(const Module& module, const ScheduleModel& model,
                              DivisionSearch* search) {
  const int stages = module.options.policy.pipeline;
  if (stages > 0) {
    TIM_ASSIGN_OR_RETURN(DeviceMap map, search->Stages(stages));
    search->Add(StrCat("pipeline of ", stages, " stages"), std::move(map));
    return search->compared().back();
  }
  for (int d = 1; d < model.devices(); ++d) search->AddAllOn(d);
  TIM_ASSIGN_OR_RETURN(DeviceMap serial, SerialOptimum(module, model));
  search->Add("least sum of costs", serial);
  search->AddImproved("least sum of costs, improved", std::move(serial));
  search->AddImproved("list scheduling", model.ListSchedule());
  return search->Best();
}

// States stay where most of their readers and makers are.
void PlaceStates(const ScheduleModel& model, const DeviceMap& map,
                 Module* module) {
  std::vector<int> device_of(static_cast<size_t>(module->graph.node_id_limit()),
                             0);
  for (size_t n = 0; n < model.size(); ++n) {
    device_of[static_cast<size_t>(model.id(n))] = map[n];
  }
  module->homes.assign(static_cast<size_t>(module->graph.value_id_limit()), -1);
  for (const auto& update : module->graph.state_updates()) {
    std::vector<int> users(static_cast<size_t>(model.devices()), 0);
    for (const ir::Use& use : module->graph.value(update.state).uses) {
      ++users[static_cast<size_t>(device_of[static_cast<size_t>(use.node)])];
    }
    const ir::NodeId maker = module->graph.value(update.value).producer;
    if (maker != ir::kNone) {
      ++users[static_cast<size_t>(device_of[static_cast<size_t>(maker)])];
    }
    users[0] = 0;
    const auto most = std::max_element(users.begin() + 1, users.end());
    if (*most == 0) continue;
    module->homes[static_cast<size_t>(update.state)] =
        static_cast<int>(most - users.begin());
  }
}

}  // namespace

Status AssignDevices(Module& module) {
  if (!module.several_devices()) return OkStatus();
  TIM_RETURN_IF_ERROR(CheckStaticShapes(module.graph));
  TIM_RETURN_IF_ERROR(CheckPorts(module));
  TIM_ASSIGN_OR_RETURN(const ScheduleModel model,
                       ScheduleModel::Create(module));
  if (model.size() == 0) return OkStatus();
  DivisionSearch search(module, model);
  TIM_ASSIGN_OR_RETURN(const Division best,
                       FindDivision(module, model, &search));
  for (const Division& division : search.compared()) {
    module.compared.push_back(
        {.plan = division.name,
         .predicted_us = division.predicted.Of(module.options.policy.objective),
         .peak_bytes = search.Bytes(division.map)});
  }
  module.chosen_division = best.name;
  PlaceStates(model, best.map, &module);
  for (size_t n = 0; n < model.size(); ++n) {
    // Views cost nothing anywhere: the search of layouts places them.
    if (!model.IsFree(n)) module.Assign(model.id(n), best.map[n]);
  }
  return OkStatus();
}

}  // namespace tim::compiler
