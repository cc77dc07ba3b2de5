// Opens and closes the ports of outputs whose layout is the library's choice.
#include "graph_api/open_outputs.h"

#include <algorithm>

#include "graph_api/port_layouts.h"

namespace tim::graph {
namespace {

bool IsOpen(const compiler::Port& port) {
  return port.free || port.layout.kind == ir::LayoutKind::kAny;
}

}  // namespace

std::optional<compiler::Port> OpenPort(const Engine& engine, bool on_device) {
  if (on_device) return compiler::Port{.free = true};
  const bool shared =
      engine.devices().size() > 1 && engine.device()->info().unified_memory;
  if (!shared) return std::nullopt;
  return compiler::Port{.layout = ir::Layout::Any()};
}

bool HasOpenOutputs(const PlanSource& source) {
  return std::any_of(source.output_places.begin(), source.output_places.end(),
                     [](const PortPlace& place) { return IsOpen(place.port); });
}

Result<bool> CloseOutputs(std::span<const ir::PlanTensor> made,
                          std::span<const size_t> ports, PlanSource* source) {
  bool same = true;
  for (size_t i = 0; i < made.size(); ++i) {
    compiler::Port& port = source->output_places[ports[i]].port;
    LogicalTensor& output = source->outputs[ports[i]];
    if (!IsOpen(port)) continue;
    if (port.free && made[i].device == 0) {
      port = {.device = 1, .layout = {}};
      SetDenseStrides(&output);
      same = false;
      continue;
    }
    port = {.device = made[i].device, .layout = made[i].desc.layout};
    TIM_RETURN_IF_ERROR(SetLayout(made[i].desc, *source->engine, &output));
  }
  return same;
}

void CloseOutputs(PlanSource* source) {
  for (size_t i = 0; i < source->outputs.size(); ++i) {
    compiler::Port& port = source->output_places[i].port;
    if (!IsOpen(port)) continue;
    port = {.device = port.free ? 1 : 0, .layout = {}};
    SetDenseStrides(&source->outputs[i]);
  }
}

}  // namespace tim::graph
