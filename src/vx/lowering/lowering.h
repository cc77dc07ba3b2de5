// A client's graph as an ir::Graph.
#ifndef TIM_VX_LOWERING_LOWERING_H_
#define TIM_VX_LOWERING_LOWERING_H_

#include <memory>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/op_registry.h"
#include "tim/vx/operation.h"
#include "vx/core/graph_core.h"
#include "vx/tensor/tensor_impl.h"
#include "vx/user/custom_operator.h"

namespace tim::vx {

struct LoweredTensor {
  std::shared_ptr<TensorImpl> tensor;
  /// The value that readers see.
  ir::ValueId value = ir::kNone;
};

struct LoweredGraph {
  ir::Graph graph;
  /// Every tensor that is bound.
  std::vector<LoweredTensor> tensors;
  /// Those of graphs inside of operations.
  std::vector<std::shared_ptr<TensorImpl>> inner_tensors;
  /// The tensors of graph.inputs(), graph.outputs() and, in the order of their
  /// ids, the states: those of a plan's ports by number.
  std::vector<std::shared_ptr<TensorImpl>> inputs;
  std::vector<std::shared_ptr<TensorImpl>> outputs;
  std::vector<std::shared_ptr<TensorImpl>> states;
  /// By node.
  std::vector<const Operation*> operations;
  /// The context's operators and the custom ones of this graph, whose schemas
  /// its nodes point to.
  std::shared_ptr<const ir::OpRegistry> registry;
  std::vector<std::shared_ptr<CustomOperator>> custom_operators;
};

/// Tensors become values "t3", operations nodes "Conv2d#5".  A tensor that is
/// INPUT or OUTPUT is a graph input where no operation writes it, else a graph
/// output; a VARIABLE is a state, which a write updates after the run. Composed
/// operations become composite nodes, their parts the bodies.
/// `io` are the INPUT and OUTPUT tensors in order of creation, which a graph
/// without operations copies, see CopiesOf().
Result<LoweredGraph> Lower(
    const GraphCore& core,
    const std::vector<std::shared_ptr<Operation>>& operations,
    const std::vector<std::shared_ptr<Tensor>>& io);

}  // namespace tim::vx

#endif  // TIM_VX_LOWERING_LOWERING_H_
