// Convolutions and their adjoints on tensors [N, C, X...] with weights
// [O, I, X...], which gradients of operations with windows are made of.
#ifndef TIM_GRAPH_API_OPS_WINDOW_GRADIENTS_H_
#define TIM_GRAPH_API_OPS_WINDOW_GRADIENTS_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "graph_api/formula.h"
#include "graph_api/op.h"
#include "graph_api/op_def.h"
#include "graph_api/ops/windows.h"

namespace tim::graph {

/// Dims of output 0 as the client declares them, else those of the attribute.
/// kUnimplemented where neither tells them.
Result<Dims> GivenShape(const Op& op, tim_graph_op_attr_t attribute);

/// The convolution.  Negative pads take cells away.
Tensor Convolve(Formula& f, const Tensor& src, const Tensor& weights,
                std::vector<Window> windows, int64_t groups);

/// Its adjoint: what each cell of `diff_dst` adds to the cells of src that its
/// window reads.
/// \param extents spatial axes of src.
Tensor Spread(Formula& f, const Tensor& diff_dst, const Tensor& weights,
              const std::vector<Window>& windows, int64_t groups,
              const Dims& extents);

/// Gradient of its weights, [O, I / groups, X...].
Tensor WeightsGradient(Formula& f, const Tensor& src, const Tensor& diff_dst,
                       const std::vector<Window>& windows, int64_t groups);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_OPS_WINDOW_GRADIENTS_H_
