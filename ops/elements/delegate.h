// Operators that are another operator with other attributes and, where the
// other has an axis H, with an H of 1.
#ifndef TIM_OPS_ELEMENTS_DELEGATE_H_
#define TIM_OPS_ELEMENTS_DELEGATE_H_

#include <functional>

#include "base/status.h"
#include "ir/attribute.h"
#include "ir/op_schema.h"

namespace tim::ops {

struct Delegate {
  /// The operator that computes; it has one output.
  ir::OpSchema target;
  /// The target's attributes for complete ones; those left out have their
  /// defaults, the reserved ones are kept.
  std::function<Result<ir::AttributeMap>(const ir::AttributeMap&)> attributes;
  /// Rules beyond the target's, of nodes whose ranks (where `rows` counts) are
  /// right; may be null.
  std::function<Status(const ir::InferContext&)> check = nullptr;
  /// So many first inputs, and where it is not 0 the output, have the axes
  /// [W, ., .], which the target sees as [W, 1, ., .]; a per-channel axis
  /// moves along.
  int rows = 0;
};

/// `schema`, complete but for functions, with infer_shapes, eval, estimates,
/// the target's doubts behind its own and decompose: a body of the target, with
/// Reshapes, which are views, around it. A declared output of as many axes is
/// one for the target.
ir::OpSchema DelegatingSchema(ir::OpSchema schema, Delegate delegate);

/// A shape or tensor [W, ., .] as [W, 1, ., .]; one of unknown rank stays.
ir::Shape WithHeight(const ir::Shape& shape);
ir::TensorDesc WithHeight(ir::TensorDesc desc);
/// And back.
ir::Shape WithoutHeight(const ir::Shape& shape);
ir::TensorDesc WithoutHeight(ir::TensorDesc desc);

}  // namespace tim::ops

#endif  // TIM_OPS_ELEMENTS_DELEGATE_H_
