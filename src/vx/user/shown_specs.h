// Specs of operands that functions of a custom operation see while they run.
#ifndef TIM_VX_USER_SHOWN_SPECS_H_
#define TIM_VX_USER_SHOWN_SPECS_H_

#include "vx/operation/op_impl.h"
#include "vx/operation/operand_specs.h"

namespace tim::vx {

/// The operation's functions see `specs`, in this hook, as long as this lives;
/// then those of a function that runs still, if any.  Any thread: runs in
/// flight call HostEval() at the same time.
class ShownSpecs {
 public:
  ShownSpecs(OpImpl& impl, OperandSpecs& specs, Hook hook);
  ~ShownSpecs();
  ShownSpecs(const ShownSpecs&) = delete;
  ShownSpecs& operator=(const ShownSpecs&) = delete;

 private:
  void Show(OperandSpecs* specs);

  OpImpl& impl_;
  OperandSpecs& specs_;
};

}  // namespace tim::vx

#endif  // TIM_VX_USER_SHOWN_SPECS_H_
