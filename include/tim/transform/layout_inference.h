// Rewrites a graph built for other dimension orders into the native one.
#ifndef TIM_TRANSFORM_LAYOUT_INFERENCE_H_
#define TIM_TRANSFORM_LAYOUT_INFERENCE_H_

#include <map>
#include <memory>
#include <utility>

#include "tim/vx/context.h"
#include "tim/vx/export.h"
#include "tim/vx/graph.h"
#include "tim/vx/operation.h"
#include "tim/vx/tensor.h"

namespace tim {
namespace transform {

class IPermuteVector;

/// A new graph in `ctx`, not compiled, whose operators all use the native
/// layouts, and the tensors of it that stand for the INPUT and OUTPUT tensors
/// of `src_graph`.
/// Not implemented yet: a null graph and an empty map, with
/// tim::vx::LastError().
TIM_VX_API std::pair<
    std::shared_ptr<vx::Graph>,
    std::map<std::shared_ptr<vx::Tensor>, std::shared_ptr<vx::Tensor>>>
LayoutInference(
    const std::shared_ptr<vx::Graph>& src_graph,
    std::shared_ptr<vx::Context>& ctx,
    std::map<std::shared_ptr<vx::Tensor>, std::shared_ptr<IPermuteVector>>
        tensor_pv_map = std::map<std::shared_ptr<vx::Tensor>,
                                 std::shared_ptr<IPermuteVector>>());

}  // namespace transform
}  // namespace tim

#endif  // TIM_TRANSFORM_LAYOUT_INFERENCE_H_
