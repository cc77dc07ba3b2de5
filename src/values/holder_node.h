// Schemas of operations that applications hold.
#ifndef TIM_VALUES_HOLDER_NODE_H_
#define TIM_VALUES_HOLDER_NODE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/op_registry.h"
#include "ir/op_schema.h"
#include "tim/values/holder.h"
#include "values/node_state.h"

namespace tim::values::internal {

struct HolderParts {
  std::string name;
  size_t inputs = 0;
  std::vector<TensorSpec> outputs;
  HolderFunction function;
  Effects effects;
};

/// Calls the function, and checks what it gives.
Result<std::vector<Plain>> CallHolder(const HolderParts& parts,
                                      const std::vector<Plain>& inputs);

/// A version that no other schema of a graph's own has.
int NextVersion();

/// A node with a schema of its own.
std::shared_ptr<const NodeState> MakeHolderNode(
    std::shared_ptr<const HolderParts> parts);

/// The parts of a holder whose schema this is; null: it is of something else.
const HolderParts* HolderOf(const ir::OpSchema& schema);
/// Whether the node is a holder, or has one in its graphs.
bool HasHolder(const NodeState& node);
/// NodeState::ordered of a node of a graph.
bool IsOrdered(const ir::Node& node);
/// The first node of the graph, or of graphs in its nodes, that `matches`; null
/// where there is none.
const ir::Node* FindNode(const ir::Graph& graph,
                         const std::function<bool(const ir::Node&)>& matches);

/// Calls a holder on this thread, which must hold no lock that the function may
/// need, or records the call.  `inputs` are those of the function alone.
Outputs Hold(const std::shared_ptr<const NodeState>& node,
             const std::vector<Value>& inputs, const std::vector<Token>& after);

/// All operators that are known, and `own`; null where there are none of one's
/// own.
std::shared_ptr<const ir::OpRegistry> RegistryWith(const OwnSchemas& own);

}  // namespace tim::values::internal

#endif  // TIM_VALUES_HOLDER_NODE_H_
