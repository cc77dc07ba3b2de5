// Layout inference: a graph in default layouts, with few Transposes.
#ifndef TIM_COMPILER_TRANSPOSES_INFER_LAYOUTS_H_
#define TIM_COMPILER_TRANSPOSES_INFER_LAYOUTS_H_

#include <functional>
#include <map>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/op_registry.h"
#include "ir/permutation.h"

namespace tim::compiler {

struct LayoutOptions {
  /// Graph inputs that arrive with their axes permuted against what the
  /// operators that read them were made for.
  std::map<ir::ValueId, ir::Permutation> arrival = {};
  /// Nodes that nothing but layout arguments may change; null: none.
  std::function<bool(const ir::Node&)> stays = nullptr;
  /// Graph inputs and outputs are memory whose axes can be seen in any order:
  /// Transposes right there cost nothing, as long as all readers of an input
  /// want one order, and nobody but the graph's user reads an output.
  bool free_ports = false;
  /// As CompileOptions::lenient, of declared shapes that Reshapes make; other
  /// doubts are said when the answer is compiled.
  bool lenient = true;
};

/// The graph that computes the same with every operator in its default layouts:
/// layout arguments name these, weights and other constants are permuted, and
/// Transposes stand where few bytes pass.  Nodes, graph inputs, outputs, states
/// and what was a value before keep their ids, but for Transposes, which are
/// taken out where they are not needed.  Types and shapes are inferred.
///
/// Errors are those of Compile(), and layouts that do not fit their operands.
Status InferLayouts(ir::Graph* graph, const ir::OpRegistry& registry,
                    const LayoutOptions& options);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_TRANSPOSES_INFER_LAYOUTS_H_
