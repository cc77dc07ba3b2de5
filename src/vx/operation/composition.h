// How composed operations come to their inner ones.
#ifndef TIM_VX_OPERATION_COMPOSITION_H_
#define TIM_VX_OPERATION_COMPOSITION_H_

#include "base/status.h"
#include "vx/operation/op_impl.h"

namespace tim::vx {

/// The constructor of a composed operation is over: what is created from now
/// on is not its own.  Nothing for other operations.
void EndScope(const OpImpl& operation);

/// Calls Wire() of a composed operation when its last slot has been bound;
/// a failure is recorded.  Nothing for other operations.
void WireIfComplete(OpImpl& operation);

/// At Compile(): calls Wire() where only optional inputs are unbound.  Fails
/// where other slots are, or where Wire() failed.  Nothing for other
/// operations.
Status WireAtLast(OpImpl& operation);

}  // namespace tim::vx

#endif  // TIM_VX_OPERATION_COMPOSITION_H_
