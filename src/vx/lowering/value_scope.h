// The values that tensors become, in a graph or in the body of a composite.
#ifndef TIM_VX_LOWERING_VALUE_SCOPE_H_
#define TIM_VX_LOWERING_VALUE_SCOPE_H_

#include <map>
#include <memory>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "vx/core/graph_core.h"
#include "vx/lowering/composition_tree.h"
#include "vx/lowering/lowering.h"
#include "vx/operation/op_impl.h"
#include "vx/tensor/tensor_impl.h"

namespace tim::vx {

/// Which operation writes a tensor; null: what is none.
using Writers = std::map<const Tensor*, const OpImpl*>;

struct TensorValues {
  ir::ValueId value = ir::kNone;    ///< That readers see.
  ir::ValueId written = ir::kNone;  ///< That an operation writes.
};

/// Keeps references to what it is made of.  Functions fail on a tensor of
/// another graph, and on one that could not be made.
class ValueScope {
 public:
  using Tensors = std::vector<std::shared_ptr<Tensor>>;

  /// Values of `lowered->graph`; tensors and states get into their lists.
  ValueScope(const GraphCore& core, const Writers& writers,
             LoweredGraph* lowered)
      : core_(core),
        writers_(writers),
        graph_(lowered->graph),
        lowered_(lowered) {}
  /// Values of a body.
  ValueScope(const GraphCore& core, const Writers& writers, ir::Graph* body)
      : core_(core), writers_(writers), graph_(*body) {}

  ir::Graph& graph() { return graph_; }
  bool is_body() const { return lowered_ == nullptr; }

  /// Null where the tensor was not asked for yet.
  const TensorValues* Known(const Tensor* tensor) const;
  /// The tensor's values, made at its first use.
  Result<TensorValues> Find(const std::shared_ptr<Tensor>& tensor);
  /// The operands of `node`, for every tensor bound.
  Status Connect(const Tensors& inputs, const Tensors& outputs, ir::Node* node);
  /// A body's operands are its values by position; a tensor that is both an
  /// input and an output (a VARIABLE) has one for each.
  Status AddOperands(const Boundary& boundary);

 private:
  Result<std::shared_ptr<TensorImpl>> Usable(
      const std::shared_ptr<Tensor>& tensor) const;
  Result<TensorValues> Declare(TensorImpl& tensor);
  Result<ir::ValueId> AddConstant(const TensorImpl& tensor,
                                  const ir::TensorDesc& desc);

  const GraphCore& core_;
  const Writers& writers_;
  ir::Graph& graph_;
  LoweredGraph* const lowered_ = nullptr;  // null in a body
  std::map<const Tensor*, TensorValues> values_;
};

}  // namespace tim::vx

#endif  // TIM_VX_LOWERING_VALUE_SCOPE_H_
