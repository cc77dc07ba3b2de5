// Slices scattered to coordinates: ScatterND and ScatterND_ONNX_V16.
#ifndef TIM_OPS_INDEXING_SCATTER_H_
#define TIM_OPS_INDEXING_SCATTER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/kernel_def.h"
#include "ir/op_schema.h"
#include "ops/indexing/indices.h"

namespace tim::ops {

/// What an update does to a slice.
enum class Reduction : int64_t { kNone, kAdd, kMul, kMax, kMin };

inline constexpr char kScatterReduction[] = "reduction";

/// Operands and rules of an operator.
struct ScatterOp {
  const char* name = nullptr;
  int data = -1;  ///< Input that the output begins as; -1: real zeros.
  int indices = 0;
  int updates = 1;
  Negative negative = Negative::kOutside;

  Reduction ReductionOf(const ir::AttributeMap& attributes) const {
    if (data < 0) return Reduction::kAdd;
    return static_cast<Reduction>(attributes.Int(kScatterReduction));
  }
  IndexRule rule() const { return {negative, Outside::kIgnored}; }
};

/// The output as slices of `run` elements, to which coordinates lead.
struct ScatterShape {
  int64_t run = 1;
  int64_t slices = 1;
  int64_t updates = 1;  ///< How many coordinates.
  std::vector<Coordinate> coordinate;
};
ScatterShape ScatterShapeOf(const ir::Shape& output, const ir::Shape& indices);

/// The values are combined as plain integers.
bool IsPlainScatter(const ScatterOp& op, std::span<const ir::TensorDesc> inputs,
                    const ir::TensorDesc& output);

Status EvalScatter(const ScatterOp& op, const ir::EvalContext& context);
/// Scratch bytes of EvalScatter.
int64_t ScatterBytes(const ScatterOp& op, const ir::NodeView& view);

ir::KernelDef ScatterKernel(const ScatterOp& op, std::string name);

}  // namespace tim::ops

#endif  // TIM_OPS_INDEXING_SCATTER_H_
