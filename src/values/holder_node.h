// Schemas of operations that applications hold.
#ifndef TIM_VALUES_HOLDER_NODE_H_
#define TIM_VALUES_HOLDER_NODE_H_

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
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

/// A node with a schema of its own.  Where its effects are ordered it has an
/// input and an output more, both a bool8 [1]: the order.
std::shared_ptr<const NodeState> MakeHolderNode(
    std::shared_ptr<const HolderParts> parts);

/// The parts of a holder whose schema this is; null: it is of something else.
const HolderParts* HolderOf(const ir::OpSchema& schema);
/// Whether the node is a holder, or a graph with one in it.
bool HasHolder(const NodeState& node);

/// Calls a holder on this thread, which must hold no lock that the function may
/// need, or records the call.  `inputs` are those of the function alone.
Outputs Hold(const std::shared_ptr<const NodeState>& node,
             const std::vector<Value>& inputs, const std::vector<Token>& after);

/// All operators that are known, and `own`; null where there are none of one's
/// own.
std::shared_ptr<const ir::OpRegistry> RegistryWith(const OwnSchemas& own);

}  // namespace tim::values::internal

#endif  // TIM_VALUES_HOLDER_NODE_H_
