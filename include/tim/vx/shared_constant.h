// Constants that stay where the client has them.
#ifndef TIM_VX_SHARED_CONSTANT_H_
#define TIM_VX_SHARED_CONSTANT_H_

#include <memory>

#include "tim/vx/export.h"
#include "tim/vx/tensor.h"

namespace tim {
namespace vx {

class Graph;

/// As Graph::CreateTensor() of a CONSTANT with data, but without a copy; an
/// addition to TIM-VX, for weights in mapped files.
/// \param spec CONSTANT, with its whole shape.
/// \param data spec.GetByteSize() bytes, aligned for the element type, not
///     null, which must not change while the graph or a graph made of it
///     lives; they keep what it owns as long as they read it, which ends where
///     Compile() makes what kernels read in its place.
/// \return a tensor that may be written by Tensor::CopyDataToTensor(): it then
///     has memory of its own.  One with id 0xFFFFFFFF, with LastError(), where
///     an argument is not as it should be.
TIM_VX_API std::shared_ptr<Tensor> CreateSharedConstant(
    const std::shared_ptr<Graph>& graph, const TensorSpec& spec,
    std::shared_ptr<const void> data);

}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_SHARED_CONSTANT_H_
