// Rules of shapes and axes, and estimates, that several operators share.
#ifndef TIM_OPS_ELEMENTS_SHAPES_H_
#define TIM_OPS_ELEMENTS_SHAPES_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ir/kernel_def.h"
#include "ir/op_schema.h"

namespace tim::ops {

/// Output 0 has the shape and scalar flag of input 0; where its type is
/// unknown it gets input 0's type and quantization.
Status InferSameAsInput(ir::InferContext& context);

/// Gives output `index` the type and quantization of input 0 where unknown.
void InferTypeFromInput(ir::InferContext& context, int index = 0);

/// Broadcast of two shapes, aligned at dimension 0: each extent equal or 1.
/// Unknown extents stay unknown unless the other decides.
Result<ir::Shape> BroadcastShapes(const ir::Shape& a, const ir::Shape& b);

/// `axis` in [-rank, rank) as [0, rank).
Result<int> WrapAxis(int64_t axis, int rank);

/// `flops_per_element` for each element of output 0; all operands read and
/// written once.
ir::ComputeEstimate ElementwiseEstimate(const ir::NodeView& view,
                                        double flops_per_element);
/// No scratch: the memory_estimate of most operators.
int64_t NoScratch(const ir::NodeView& view);

/// permute_rule of operators that treat all axes alike, broadcasting included:
/// attributes stay, and every operand moves as the output does.
Result<ir::PermutedNode> KeepAttributes(const ir::NodeView& view, int operand,
                                        std::span<const int> perm);
/// The same of operators for which the attribute `name` is an axis, which moves
/// along (and is not negative in the answer).
ir::PermuteRule MoveAxis(std::string name);
/// The same where the attributes `names` have a value for each axis.
ir::PermuteRule MoveValues(std::vector<std::string> names);

/// OpSchema::sliced_inputs of operators whose elements are made of those at the
/// same place, broadcasting included.
std::vector<bool> SliceAlike(const ir::NodeView& view, int axis);
/// The same of operators that treat all axes alike but the one that the
/// attribute `name` is.
std::function<std::vector<bool>(const ir::NodeView&, int)> SliceBesideAxis(
    std::string name);
/// The same of operators that do each index of axis `first`, and of those
/// behind it, by itself, for input 0; the other inputs are read as a whole.
std::function<std::vector<bool>(const ir::NodeView&, int)> SliceInputFrom(
    int first);

/// Sum of the byte sizes of all present inputs (outputs).
double InputBytes(const ir::NodeView& view);
double OutputBytes(const ir::NodeView& view);

/// The NodeView of a KernelNode's anchor, for cost functions.
class AnchorView {
 public:
  explicit AnchorView(const ir::KernelNode& node);
  ir::NodeView view() const { return {*node_.anchor, inputs_, outputs_}; }

 private:
  const ir::KernelNode& node_;
  std::vector<const ir::TensorDesc*> inputs_;
  std::vector<const ir::TensorDesc*> outputs_;
};

}  // namespace tim::ops

#endif  // TIM_OPS_ELEMENTS_SHAPES_H_
