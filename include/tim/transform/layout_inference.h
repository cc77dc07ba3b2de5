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

/// A new graph in `ctx`, not compiled, that computes what `src_graph` means,
/// and the tensors of it that stand for those of `src_graph` that the host
/// reads and writes: all INPUT and OUTPUT tensors, in the same order, and the
/// VARIABLE tensors that operations use.
///
/// What `src_graph` means: an operator with a layout argument (CWHN, CWHDN;
/// IcWHOc, OcIcWH, IcOcWH, OcIcWHD of weights) has its operands in that layout,
/// which Compile() by itself does not look at.  The new graph has operators in
/// native layouts alone, and Transposes where few bytes pass: all that let a
/// permutation of axes through are asked whether to compute in the other order,
/// and constants are permuted at once.
///
/// INPUT, OUTPUT and VARIABLE tensors have the spec and content of their
/// originals, those made by CreateIOTensor() the very memory of the caller,
/// which both graphs then use.  Options and overrides are inherited.  Composed
/// operations give place to what they consist of, unless they are overridden.
/// A custom operator is cloned, as it is or as its PermuteAxes() says; an
/// operator that is overridden keeps the axes it was made for.  SetupTypes()
/// and SetupShapeInfor() of the originals are called.
///
/// Nothing else of `src_graph` changes, but for composed operations that were
/// not wired before.
///
/// Errors set tim::vx::LastError(), and give a graph whose Compile() and Run()
/// fail for that reason, with all tensors that it would have: a graph or a
/// context that is null, a null entry, a permutation of another rank or that is
/// none, a tensor of another graph, one that is no INPUT or OUTPUT, whatever
/// Compile() would refuse, and layouts that do not fit their operands.
///
/// \param tensor_pv_map INPUT tensors that arrive with their axes permuted
///        against what their operators were made for: axis i of the tensor is
///        axis pv[i] of what the operators read.  Entries of OUTPUT tensors
///        have no effect: outputs are in the order that operators give them.
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
