#include "tim/vx/ops/custom_base.h"

#include "vx/operation/op_impl.h"

namespace tim::vx::ops {

CustomOpBase::CustomOpBase(Graph* graph, uint32_t input_num,
                           uint32_t output_num, int32_t,
                           const char* kernel_name)
    : input_num_(input_num), output_num_(output_num) {
  const bool named = kernel_name != nullptr && kernel_name[0] != '\0';
  impl_->name = StrCat("user.", named ? kernel_name : "custom");
  impl_->Join(CoreOf(graph));
}

CustomOpBase::~CustomOpBase() = default;

}  // namespace tim::vx::ops
