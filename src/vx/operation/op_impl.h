// What is inside an Operation.
#ifndef TIM_VX_OPERATION_OP_IMPL_H_
#define TIM_VX_OPERATION_OP_IMPL_H_

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/attribute.h"
#include "ir/op_schema.h"
#include "tim/vx/composed_op.h"
#include "tim/vx/operation.h"
#include "vx/binary/binary_operator.h"
#include "vx/core/graph_core.h"
#include "vx/operation/custom_means.h"
#include "vx/operation/operand_specs.h"

namespace tim::vx {

/// What makes an operation a composed one.
struct Composition {
  ComposedOp* self = nullptr;
  uint32_t inputs = 0;
  uint32_t optional_inputs = 0;
  uint32_t outputs = 0;
  bool wired = false;
};

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

  std::shared_ptr<GraphCore> core;  ///< Null until it is of a graph.
  std::string name;                 ///< "Conv2d", "user.Mine" or "".
  std::string given_name;           ///< By the user, or empty.
  std::optional<uint32_t> kind;     ///< Names the operator where `name` is "".
  ir::AttributeMap attributes;
  std::vector<std::shared_ptr<Tensor>> inputs;
  std::vector<std::shared_ptr<Tensor>> outputs;
  uint32_t uid = 0;
  uint32_t owner = 0;  ///< The composed operation that made it; 0: none.
  std::unique_ptr<Composition> composition;  ///< Of a composed operation.
  std::unique_ptr<CustomMeans> means;        ///< Of a custom operation.
  std::unique_ptr<BinaryOperator> binary;    ///< Of an NBG.
  /// Set while a function of a custom operator runs.
  OperandSpecs* specs = nullptr;
  std::string replaced;  ///< The instance that it replaces, or empty.
  /// Changes with everything that Compile() takes from the operation.
  uint64_t revision = 0;
  Status problem;
};

}  // namespace tim::vx

#endif  // TIM_VX_OPERATION_OP_IMPL_H_
