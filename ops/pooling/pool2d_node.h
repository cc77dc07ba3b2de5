// What the kernels of Pool2d share, and operators that are made of it.
#ifndef TIM_OPS_POOLING_POOL2D_NODE_H_
#define TIM_OPS_POOLING_POOL2D_NODE_H_

#include <vector>

#include "ir/kernel_def.h"
#include "ops/launch/launch.h"
#include "ops/pooling/pooling.h"

namespace tim::ops {

ir::OpSchema Pool2dSchema();

PoolType PoolTypeOf(const ir::AttributeMap& attributes);

/// Static shapes; the output's extents rule.
Result<PoolShape> PoolShapeOf(const ir::AttributeMap& attributes,
                              const ir::Shape& input, const ir::Shape& output);

/// A node as kernels read it.
struct PoolProblem {
  PoolType type = PoolType::kMax;
  PoolScale scale;
  PoolShape shape;
};
Result<PoolProblem> PoolProblemOf(const ir::KernelNode& node);

/// Every number that a kernel computes fits 32 bits, or the reason.
Status CheckPool2dSizes(const PoolShape& shape);
/// Ok, or that a kernel takes no L2 pooling.
Status CheckNoL2(const PoolProblem& problem);

/// Ok, or why a kernel of 8-bit codes does not take `desc`: another type, a
/// zero point that is no code.
Status CheckPoolCodes(const ir::TensorDesc& desc);
/// Ok, or why sums of the codes of a window may not fit 32 bits.
Status CheckCodeSums(const PoolShape& shape);

/// Layouts in blocks of channels.  Whole blocks of single pixels lie as in a
/// dense tensor, which the output may be then.
std::vector<ir::LayoutTuple> BlockedPoolLayouts(const PoolProblem& problem,
                                                const ir::KernelNode& node,
                                                const ir::DeviceInfo& device);
/// The blocks of channels of all images.
int64_t BlockPlanes(const PoolProblem& problem, const ir::KernelNode& node);
/// -DKERNEL_W and -DSTRIDE_W, where registers hold the columns that the windows
/// of `tile` neighbours read.
void AddColumnOptions(const PoolShape& shape, int64_t tile, Launch* launch);

/// -DPOOL; of codes -DSAME where MAX moves them, and -DBOUNDED where results in
/// units of the output's codes stay below 2^22.
void AddPoolOptions(const ir::KernelNode& node, const PoolProblem& problem,
                    Launch* launch);

/// The struct of ops/pooling/pool_sizes.clh.
Launch::Fields PoolSizes(const PoolShape& shape);

/// `float window, inverse_window, int in_zero, float multiplier, int zero` of a
/// kernel.
void AddPoolResult(const ir::KernelNode& node, const PoolProblem& problem,
                   Launch* launch);

ir::ComputeEstimate Pool2dEstimate(const ir::NodeView& view);

}  // namespace tim::ops

#endif  // TIM_OPS_POOLING_POOL2D_NODE_H_
