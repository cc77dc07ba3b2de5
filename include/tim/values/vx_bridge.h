// Graphs of tim::vx from and to those of tim::values.  Not in
// tim/values/values.h: a program that uses it has both fronts.
#ifndef TIM_VALUES_VX_BRIDGE_H_
#define TIM_VALUES_VX_BRIDGE_H_

#include <memory>

#include "tim/export.h"
#include "tim/values/graph.h"

namespace tim {
namespace vx {

class Context;
class Graph;

}  // namespace vx

namespace values {

/// The function that the graph computes, as it is now: INPUT tensors become the
/// inputs and OUTPUT tensors the outputs, in the order of their creation, also
/// those that nothing reads; an INPUT that an operation writes is an output.
/// Operations that are overridden are those that stand in for them.  Names of
/// tensors and operations, quantization, declared shapes, composed operations
/// and the graphs of ops::If and ops::While stay, and constants are shared. The
/// graph is neither compiled nor changed, but that composed operations are
/// wired.
///
/// \return one that failed, with LastError(), where tim::vx would refuse the
///     graph, and for what values do not have: VARIABLE tensors (make an INPUT
///     and an OUTPUT of one), custom operators and binary graphs, whose code is
///     the graph's own (registered operators are known to both), operations
///     that SetAffinity() binds to a device, and OUTPUT tensors that nothing
///     writes.
TIM_API Graph FromVxGraph(const std::shared_ptr<vx::Graph>& graph);

/// The same graph in `context`, to be compiled there: inputs and outputs are
/// INPUT and OUTPUT tensors, in their order, with the names that values and
/// nodes have.  Constants are shared; values of outside that the graph was
/// captured with become constants.  Graphs that were called as one node are
/// taken apart.
///
/// \return null, with LastError(), where the graph failed or is not of level 2
///     (Graph::Specialize() closes inputs), and for what tim::vx does not have:
///     variables, holders, and elements of uint64, bfloat16 and float64.
TIM_API std::shared_ptr<vx::Graph> ToVxGraph(
    const Graph& graph, const std::shared_ptr<vx::Context>& context);

}  // namespace values
}  // namespace tim

#endif  // TIM_VALUES_VX_BRIDGE_H_
