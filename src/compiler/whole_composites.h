// Composites that stay whole for the own compilers of devices.
#ifndef TIM_COMPILER_WHOLE_COMPOSITES_H_
#define TIM_COMPILER_WHOLE_COMPOSITES_H_

#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "compiler/module.h"
#include "ir/graph.h"

namespace tim::compiler {

/// Whether a node may be in a part that a device compiles: it may run there,
/// has known extents and neither effects nor control (compiler/effects.h).
bool MayBeInPart(const ir::Graph& graph, const ir::Node& node, int device);

/// Whether any device's compiler might claim a composite of the graph, or one
/// inside of another.
bool MayStayWhole(const ir::Graph& graph, const ir::OpRegistry& registry,
                  const CompileOptions& options);

/// Composites of the module's graph that are among the claims of a device's
/// compiler.
std::set<ir::NodeId> ClaimedComposites(const Module& module);

/// A compilation as far as to the choice of kernels.
struct WholeTrial {
  WholeComposites whole;  ///< Without those that became part of no claim.
  std::map<std::string, std::string> kept;  ///< Module::kept_whole
  /// Infinity where it failed, and where no compiler claims any composite.
  double predicted_us = std::numeric_limits<double>::infinity();
};
using TryWhole = std::function<WholeTrial(const WholeComposites&)>;

/// The composites with which the graph is predicted to take least.  Tried are
/// all that are claimed, then those inside of them and so on, none, and the
/// best of these with the composites of some operators changed; what fails is
/// no reason to stop.  Nothing is tried twice, and no more than once where
/// nothing stays whole.
/// \param graph_parts kPrefer: all that are claimed, where the graph runs so.
WholeComposites FindWhole(const TryWhole& try_whole, GraphParts graph_parts);

/// The time by which trials are compared, after choose.
double PredictedMicroseconds(const Module& module);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_WHOLE_COMPOSITES_H_
