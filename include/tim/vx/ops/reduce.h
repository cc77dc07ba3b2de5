// Reductions over several axes.
#ifndef TIM_VX_OPS_REDUCE_H_
#define TIM_VX_OPS_REDUCE_H_

#include <cstdint>
#include <vector>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// The least element along the axes; NaN where one of them is NaN.
///
/// Input 0: any rank >= 1, a float or integer type, quantized or not.
/// Output 0: the input's shape, where `axis` has extents of 1 (keep_dims) or is
/// left out; [1] where nothing is left.  Any of these types.
/// - axis: at least one, in [-rank, rank), 0 = fastest-varying dimension, in
///        any order; an axis named twice counts once.
/// - keep_dims: whether reduced axes stay, with the extent 1.
/// Errors: Compile() fails where `axis` is empty or names an axis outside of
/// the rank, and on other types.
/// Source: ONNX ReduceMin-18, TFLite REDUCE_MIN.
class ReduceMin : public BuiltinOpOf<ReduceMin> {
 public:
  static const char* OpName() { return "ReduceMin"; }
  ReduceMin(Graph* graph, const std::vector<int32_t>& axis, bool keep_dims)
      : BuiltinOpOf(graph, {{"axis", axis}, {"keep_dims", keep_dims}}) {}
};

/// The greatest element along the axes; NaN where one of them is NaN.
/// Operands, parameters and errors as ReduceMin.
/// Source: ONNX ReduceMax-18, TFLite REDUCE_MAX.
class ReduceMax : public BuiltinOpOf<ReduceMax> {
 public:
  static const char* OpName() { return "ReduceMax"; }
  ReduceMax(Graph* graph, const std::vector<int32_t>& axis, bool keep_dims)
      : BuiltinOpOf(graph, {{"axis", axis}, {"keep_dims", keep_dims}}) {}
};

/// 1 where an element along the axes is true (its real value is not 0), else 0.
/// Input and output: BOOL8, or a type that ReduceMin takes.
/// Parameters and errors as ReduceMin.
/// Source: ONNX ReduceMax-20 of booleans, TFLite REDUCE_ANY.
class ReduceAny : public BuiltinOpOf<ReduceAny> {
 public:
  static const char* OpName() { return "ReduceAny"; }
  ReduceAny(Graph* graph, const std::vector<int32_t>& axis, bool keep_dims)
      : BuiltinOpOf(graph, {{"axis", axis}, {"keep_dims", keep_dims}}) {}
};

/// 1 where all elements along the axes are true (their real value is not 0),
/// else 0.
/// Operands, parameters and errors as ReduceAny.
/// Source: ONNX ReduceMin-20 of booleans, TFLite REDUCE_ALL.
class ReduceAll : public BuiltinOpOf<ReduceAll> {
 public:
  static const char* OpName() { return "ReduceAll"; }
  ReduceAll(Graph* graph, const std::vector<int32_t>& axis, bool keep_dims)
      : BuiltinOpOf(graph, {{"axis", axis}, {"keep_dims", keep_dims}}) {}
};

/// The product of the elements along the axes: of real values in float32, then
/// rounded to the output; of integers without quantization to one of them
/// exactly, saturated.
/// Operands, parameters and errors as ReduceMin.
/// Source: ONNX ReduceProd-18, TFLite REDUCE_PROD.
class ReduceProd : public BuiltinOpOf<ReduceProd> {
 public:
  static const char* OpName() { return "ReduceProd"; }
  ReduceProd(Graph* graph, const std::vector<int32_t>& axis, bool keep_dims)
      : BuiltinOpOf(graph, {{"axis", axis}, {"keep_dims", keep_dims}}) {}
};

/// The mean of the elements along the axes.  Sums are exact for integers and
/// float32 for float types; of integers without quantization to one of them the
/// mean is rounded half to even.
/// Operands, parameters and errors as ReduceMin.
/// Source: ONNX ReduceMean-18, TFLite MEAN.
class ReduceMean : public BuiltinOpOf<ReduceMean> {
 public:
  static const char* OpName() { return "ReduceMean"; }
  ReduceMean(Graph* graph, const std::vector<int32_t>& axis, bool keep_dims)
      : BuiltinOpOf(graph, {{"axis", axis}, {"keep_dims", keep_dims}}) {}
};

/// The sum of the elements along the axes: exact for integers, saturated where
/// the output is too small (sums of INT64 wrap); in float32 for float types.
/// Operands, parameters and errors as ReduceMin.
/// Source: ONNX ReduceSum-13, TFLite SUM.
class ReduceSum : public BuiltinOpOf<ReduceSum> {
 public:
  static const char* OpName() { return "ReduceSum"; }
  ReduceSum(Graph* graph, const std::vector<int32_t>& axis, bool keep_dims)
      : BuiltinOpOf(graph, {{"axis", axis}, {"keep_dims", keep_dims}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_REDUCE_H_
