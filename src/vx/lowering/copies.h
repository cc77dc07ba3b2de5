// What a graph without operations computes.
#ifndef TIM_VX_LOWERING_COPIES_H_
#define TIM_VX_LOWERING_COPIES_H_

#include <memory>
#include <vector>

#include "base/status.h"
#include "vx/tensor/tensor_impl.h"

namespace tim::vx {

/// An OUTPUT that holds what an INPUT holds.
struct TensorCopy {
  std::shared_ptr<TensorImpl> from;
  std::shared_ptr<TensorImpl> to;
};

/// Of a graph of the tensors `io` that has no operations: the first OUTPUT is
/// the first INPUT and so on.  None where there is no OUTPUT; fails where they
/// are not as many, or two of them differ in type, shape or quantization.
Result<std::vector<TensorCopy>> CopiesOf(
    const std::vector<std::shared_ptr<Tensor>>& io);

}  // namespace tim::vx

#endif  // TIM_VX_LOWERING_COPIES_H_
