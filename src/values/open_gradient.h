// Gradients of graphs whose inputs are open.
#ifndef TIM_VALUES_OPEN_GRADIENT_H_
#define TIM_VALUES_OPEN_GRADIENT_H_

#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "values/node_state.h"

namespace tim::values::internal {

enum class GradientKind {
  kGradient,  ///< Outputs, then gradients of the first: Differentiate().
  kVjp,       ///< Cotangents as further inputs, and gradients alone: Vjp().
};

/// The gradient by these inputs of a graph whose inputs have types and extents.
Result<ir::Graph> GradientOf(ir::Graph graph, const std::vector<int>& wrt,
                             GradientKind kind);

struct OpenGradient {
  ir::Graph graph;
  OwnSchemas own;  ///< That of its node, and those of what it is made of.
};

/// A graph like GradientOf(), of a single node, which decomposes into that
/// where its operands are known: where the graph is specialised, called or
/// compiled for inputs.
/// \param source some of whose inputs are not known.
/// \param own schemas in `source` that no registry of the process has.
Result<OpenGradient> OpenGradientOf(const ir::Graph& source,
                                    const OwnSchemas& own,
                                    const std::vector<int>& wrt,
                                    GradientKind kind);

}  // namespace tim::values::internal

#endif  // TIM_VALUES_OPEN_GRADIENT_H_
