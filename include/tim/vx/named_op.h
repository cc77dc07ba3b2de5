// Operators that are found by name.
#ifndef TIM_VX_NAMED_OP_H_
#define TIM_VX_NAMED_OP_H_

#include <initializer_list>
#include <string>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// The operator of a name: one that was registered (tim/graph/extension.hpp),
/// "demo.FancyNorm" in its newest version or "demo.FancyNorm@1", or one of the
/// library, "Softmax".
///
/// Inputs, outputs and attributes are those of the operator.  A registered one
/// sees its tensors' extents in the other order: a tensor of shape [W, H, C, N]
/// has the dims {N, C, H, W}.  It takes FLOAT32, FLOAT16, INT32, INT64, INT8,
/// UINT8 and BOOL8 without quantization.
///
///   graph->CreateOperation<ops::Named>(
///       "demo.FancyNorm",
///       std::initializer_list<NamedAttribute>{{"epsilon", 1e-5f}});
///
/// Errors: Compile() fails where there is no such operator, and where an
/// attribute is missing, unknown or of another type.
class Named : public BuiltinOp {
 public:
  Named(Graph* graph, const std::string& name,
        std::initializer_list<NamedAttribute> attributes = {})
      : BuiltinOp(graph, name.c_str(), attributes) {}

  std::shared_ptr<Operation> Clone(
      std::shared_ptr<Graph>& graph) const override {
    return AddClone(graph, std::make_shared<Named>(*this));
  }
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_NAMED_OP_H_
