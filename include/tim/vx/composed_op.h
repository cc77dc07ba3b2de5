// Operators composed of other operators.
#ifndef TIM_VX_COMPOSED_OP_H_
#define TIM_VX_COMPOSED_OP_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "tim/vx/attribute.h"
#include "tim/vx/export.h"
#include "tim/vx/operation.h"

namespace tim {
namespace vx {

/// Base of operators that are subgraphs.  A subclass says in Wire() which
/// operations it consists of:
///
///   class ScaledTanh : public ComposedOp {
///    public:
///     ScaledTanh(Graph* graph) : ComposedOp(graph, "user.ScaledTanh", 2, 1) {}
///     void Wire(Graph* graph,
///               const std::vector<std::shared_ptr<Tensor>>& inputs,
///               const std::vector<std::shared_ptr<Tensor>>& outputs) override;
///     std::shared_ptr<Operation> Clone(
///         std::shared_ptr<Graph>& graph) const override {
///       return graph->CreateOperation<ScaledTanh>();
///     }
///   };
///
/// The operation stays one node, which a kernel may claim by its name, and
/// expands into what Wire() made where none does.  What the constructor and
/// Wire() create belongs to it, composed operations too.  Inner operations are
/// in OpVector() like all others.
///
/// Errors: Compile() fails where Wire() threw, where an output that is bound
/// is written by no inner operation, and where the count of operands is wrong.
class TIM_VX_API ComposedOp : public Operation {
 public:
  /// \param domain_and_name "user.<Class>": what a kernel claims it by.
  /// \param inputs how many must be bound.
  /// \param outputs how many must be bound.
  /// \param optional_inputs how many more inputs, the last ones, may be.
  /// \param attributes what GetAttribute() and such a kernel find.
  ComposedOp(Graph* graph, const char* domain_and_name, uint32_t inputs,
             uint32_t outputs, uint32_t optional_inputs = 0,
             std::initializer_list<NamedAttribute> attributes = {});
  ~ComposedOp() override;

  /// Creates and binds the inner operations; called once, when all slots are
  /// bound, in whatever order, or by Compile() where optional inputs are not.
  /// Tensors between them are `graph->CreateTensor()` of a TRANSIENT spec,
  /// whose shape may be left empty: the shapes of `inputs` may be unknown yet.
  /// `inputs` and `outputs` have an entry for every slot; an absent one is a
  /// placeholder (Tensor::IsPlaceHolder()).
  virtual void Wire(Graph* graph,
                    const std::vector<std::shared_ptr<Tensor>>& inputs,
                    const std::vector<std::shared_ptr<Tensor>>& outputs) = 0;
};

}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_COMPOSED_OP_H_
