// The kinds of operations, each with what it alone has.
#ifndef TIM_VX_OPERATION_OP_KIND_H_
#define TIM_VX_OPERATION_OP_KIND_H_

#include <cstdint>
#include <optional>
#include <variant>

#include "tim/vx/composed_op.h"
#include "vx/operation/custom_means.h"
#include "vx/operation/nbg_content.h"

namespace tim::vx {

/// One that names an operator of its graph's context.
struct Builtin {
  /// The operator's place in the list, of an operation without a name.
  std::optional<uint32_t> number;
};

/// One that is made of others.
struct Composition {
  ComposedOp* self = nullptr;
  uint32_t inputs = 0;
  uint32_t optional_inputs = 0;
  uint32_t outputs = 0;
  bool wired = false;
};

/// CustomMeans: a CustomOpBase.  NbgContent: an NBG.
using OpKind = std::variant<Builtin, Composition, CustomMeans, NbgContent>;

/// What a copy of the operation is.  Parts belong to the original: a copy of a
/// composed one is none until its class makes it so.
OpKind CopyOf(const OpKind& kind);

}  // namespace tim::vx

#endif  // TIM_VX_OPERATION_OP_KIND_H_
