// Gradients of graphs, as further nodes of them.
#ifndef TIM_COMPILER_DIFFERENTIATE_H_
#define TIM_COMPILER_DIFFERENTIATE_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/op_registry.h"

namespace tim::compiler {

/// A cotangent: what a value's elements count for.
struct Cotangent {
  ir::ValueId value = ir::kNone;
  ir::ValueId cotangent = ir::kNone;  ///< Of the value's type and shape.
};

/// Adds the nodes that compute the cotangents of `wrt` from those of `seeds`,
/// and returns them: zeros where nothing that has one depends on the value.
/// Composites on the way whose operator has no rule are replaced by their
/// bodies.
/// \param graph inferred (InferGraph).
/// \param wrt of a float type, no two the same.
/// kUnimplemented: an operator on the way has no rule (the message names the
/// node and what to do), or a shape is not known.  The graph then has nodes
/// that nothing needs.
Result<std::vector<ir::ValueId>> AddCotangents(
    ir::Graph* graph, const ir::OpRegistry& registry,
    const std::vector<Cotangent>& seeds, const std::vector<ir::ValueId>& wrt);

/// Whether `wrt` names inputs of the graph that have gradients, each once.
Status CheckWrt(const ir::Graph& graph, const std::vector<int>& wrt);

/// Outputs that a gradient is of.
enum class GradientsOf : uint8_t { kFirstOutput, kAllOutputs };

/// kUnimplemented where operators on the way from `wrt` to output 0, or to any
/// output, have no rule, whatever the extents are that are not known yet: as
/// Differentiate() and Vjp() say it once they are.
Status CheckRules(ir::Graph graph, const ir::OpRegistry& registry,
                  const std::vector<int>& wrt, GradientsOf objective);

/// The graph with its inputs and outputs, behind which are the gradients of
/// output 0, which is one float element, for each graph input that `wrt` names
/// by number.  Equal nodes are one, constants are folded, nothing is dead.
/// Errors name graph and input or node.
Result<ir::Graph> Differentiate(ir::Graph graph, const ir::OpRegistry& registry,
                                const std::vector<int>& wrt);

/// The same of all outputs: each has a further input, its cotangent, in their
/// order (of outputs of no float type too, where it means nothing).  Outputs
/// are the gradients alone.
Result<ir::Graph> Vjp(ir::Graph graph, const ir::OpRegistry& registry,
                      const std::vector<int>& wrt);

/// `number`, which is 0 or 1, for each element of `like`, of its type.
Result<ir::ValueId> AddFilled(ir::Graph* graph, const ir::OpRegistry& registry,
                              float number, ir::ValueId like);

/// Equal nodes become one, constants are folded, what nothing needs is removed.
/// \param graph inferred.
Status Tidy(ir::Graph* graph, const ir::OpRegistry& registry);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_DIFFERENTIATE_H_
