// The ops of a partition become one inner graph, for dims that are known.
#ifndef TIM_GRAPH_API_LOWER_OPS_H_
#define TIM_GRAPH_API_LOWER_OPS_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph_api/lowering.h"
#include "graph_api/op.h"
#include "ir/constant.h"
#include "ir/graph.h"
#include "ir/tensor_desc.h"

namespace tim::graph {

/// Extents of a logical tensor of known rank.
Dims DimsOf(const LogicalTensor& tensor);
/// Whether rank and all extents are known.
bool HasKnownDims(const LogicalTensor& tensor);
/// Whether an extent is 0.
bool IsEmpty(const Dims& dims);

/// The tensor as a dense port of the inner graph, dims known.  Rows of 4-bit
/// elements are whole bytes there and follow one another here, so several rows
/// of an odd extent are one row of all elements.
ir::TensorDesc InnerDesc(const LogicalTensor& tensor);

/// Content of inputs that the graph has as constants, by tensor id.
using KnownInputs = std::map<size_t, std::shared_ptr<const ir::ConstantData>>;

struct LoweredOps {
  ir::Graph graph;  ///< Neither inputs nor outputs are declared.
  /// Every tensor of the ops by id; those without elements have no value.
  std::map<size_t, Tensor> tensors;
  /// Values that stand for the memory of inputs, by id.
  std::map<size_t, ir::ValueId> inputs;
  /// Whether operators compute in another order of axes than the ops' tensors
  /// have, as those of channels-last ops do.
  bool changes_axes = false;
};

/// \param ops in topological order, each with its `def`.
/// \param inputs what the ops read and do not make: type and all dims known.
/// \param declared further knowledge of the dims of tensors that ops make.
/// kInvalidArgument where dims contradict a rule of an op, or what is declared;
/// kUnimplemented where these shapes are not taken.
Result<LoweredOps> LowerOps(const std::string& name, const std::vector<Op>& ops,
                            const std::vector<LogicalTensor>& inputs,
                            const std::vector<LogicalTensor>& declared = {},
                            const KnownInputs& known = {});

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_LOWER_OPS_H_
