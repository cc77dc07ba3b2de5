// Layouts of outputs that clients leave to the library.
#ifndef TIM_GRAPH_API_OPEN_OUTPUTS_H_
#define TIM_GRAPH_API_OPEN_OUTPUTS_H_

#include <cstddef>
#include <optional>
#include <span>

#include "base/status.h"
#include "compiler/compiler.h"
#include "graph_api/constant_plans.h"
#include "graph_api/engine.h"
#include "ir/plan.h"

namespace tim::graph {

/// The port of an output that may leave in the layout that it is made in;
/// nothing where that is worth nothing: in memory of the host that no device
/// shares.
std::optional<compiler::Port> OpenPort(const Engine& engine, bool on_device);

bool HasOpenOutputs(const PlanSource& source);

/// Gives open outputs the layouts that a plan has chosen, and closes their
/// ports, so that all plans to come have them.  An output on the device that
/// the host makes becomes dense there.
/// \param made, ports the plan's outputs, and which of the partition's each is.
/// True where the plan's own ports are still those of `source`.
Result<bool> CloseOutputs(std::span<const ir::PlanTensor> made,
                          std::span<const size_t> ports, PlanSource* source);
/// Dense where they still are open.
void CloseOutputs(PlanSource* source);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_OPEN_OUTPUTS_H_
