// A rule that can be known without a call of it.
#include "ir/zero_vjp.h"

#include "ir/graph.h"

namespace tim::ir {

Result<std::vector<ValueId>> ZeroVjp(const VjpContext& context) {
  return std::vector<ValueId>(context.node->inputs.size(), kNone);
}

bool HasZeroVjp(const OpSchema& schema) {
  const auto* const rule =
      schema.vjp.target<Result<std::vector<ValueId>> (*)(const VjpContext&)>();
  return rule != nullptr && *rule == ZeroVjp;
}

}  // namespace tim::ir
