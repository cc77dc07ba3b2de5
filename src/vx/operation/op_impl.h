// What is inside an Operation.
#ifndef TIM_VX_OPERATION_OP_IMPL_H_
#define TIM_VX_OPERATION_OP_IMPL_H_

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"
#include "ir/attribute.h"
#include "ir/op_schema.h"
#include "tim/vx/operation.h"
#include "vx/core/graph_core.h"
#include "vx/operation/op_kind.h"
#include "vx/operation/operand_specs.h"

namespace tim::vx {

class OpImpl {
 public:
  /// The operator of its graph's context that the operation names; null where
  /// there is none, or no graph.
  const ir::OpSchema* Schema() const;
  /// "Conv2d#3", or "Conv2d#3 'stem'" of one that has a name.
  std::string InstanceName() const;
  /// Gives the operation a graph and a number, once.
  void Join(std::shared_ptr<GraphCore> graph);
  void SetAttributes(std::initializer_list<NamedAttribute> given);
  /// Records the first mistake in the bindings.
  void Refuse(const Status& problem);

  /// What the operation has as one of that kind; null where it is of another.
  template <typename Kind>
  Kind* As() {
    return std::get_if<Kind>(&kind);
  }
  template <typename Kind>
  const Kind* As() const {
    return std::get_if<Kind>(&kind);
  }
  /// Number of a built-in one that has no name.
  std::optional<uint32_t> Number() const;

  std::shared_ptr<GraphCore> core;  ///< Null until it is of a graph.
  std::string name;                 ///< "Conv2d", "user.Mine" or "".
  std::string given_name;           ///< By the user, or empty.
  std::string affinity;  ///< Name of the device that must run it, or empty.
  ir::AttributeMap attributes;
  /// Attributes that are graphs, which become part of `attributes` where the
  /// operation becomes a node.
  std::vector<std::pair<std::string, std::shared_ptr<Graph>>> graphs;
  std::vector<std::shared_ptr<Tensor>> inputs;
  std::vector<std::shared_ptr<Tensor>> outputs;
  uint32_t uid = 0;
  uint32_t owner = 0;  ///< The composed operation that made it; 0: none.
  OpKind kind;
  /// Set while a function of a custom operator runs.
  OperandSpecs* specs = nullptr;
  std::string replaced;  ///< The instance that it replaces, or empty.
  /// Changes with everything that Compile() takes from the operation.
  uint64_t revision = 0;
  Status problem;
};

}  // namespace tim::vx

#endif  // TIM_VX_OPERATION_OP_IMPL_H_
