// What eval and the kernels of the seven Reduce operators share.
#ifndef TIM_OPS_REDUCTION_REDUCE_NODE_H_
#define TIM_OPS_REDUCTION_REDUCE_NODE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "ir/kernel_def.h"
#include "kernels/elements.h"
#include "ops/reduction/reduce_axes.h"
#include "ops/reduction/reduce_launch.h"

namespace tim::ops {

enum class ReduceKind : uint8_t { kSum, kMean, kProd, kMin, kMax, kAny, kAll };

/// How the elements of an input of `desc` are joined, and what is stored.
struct ReduceRule {
  enum class Value : uint8_t {
    kReal,      ///< Real values, in float.
    kCentered,  ///< Codes minus `zero`: exact integers.
    kTruth,     ///< 1 or 0: the real value is not 0.
  };
  Value value = Value::kReal;
  int32_t zero = 0;
  ReduceFinish finish;
  bool units = false;  ///< v * multiplier counts in codes of the output.
};
/// Bytes of a value while elements are joined.
inline int64_t ReduceElementBytes(const ReduceRule& rule) {
  return rule.value == ReduceRule::Value::kReal ? sizeof(float)
                                                : sizeof(int64_t);
}
/// `count` elements become one.
ReduceRule ReduceRuleOf(ReduceKind kind, const ir::TensorDesc& input,
                        const ir::TensorDesc& output, int64_t count);

/// Macros and type of sums of reduce.cl.
ReduceArithmetic ReduceArithmeticOf(ReduceKind kind, const ReduceRule& rule,
                                    const ir::TensorDesc& input, int64_t count);

/// Integers of any quantization that is one for all elements.
bool HasOneRule(const ir::TensorDesc& desc);

/// Ok, or that kernels do not sum elements of the input.
Status CheckSumOperand(const ir::TensorDesc& input);

/// Writes what is left.
Status StoreReduced(const ReduceRule& rule, std::span<const float> values,
                    const ir::MutableTensor& output);
Status StoreReduced(const ReduceRule& rule, std::span<const int64_t> values,
                    const ir::MutableTensor& output);

/// In 64 bits, without regard to what does not fit.
int64_t AddWrapped(int64_t a, int64_t b);
int64_t SubtractWrapped(int64_t a, int64_t b);

/// sum / count, rounded half to even.
int64_t RoundedQuotient(int64_t sum, int64_t count);

/// Reduced axes of the attribute `name` of a node with an input of `shape`.
Result<std::vector<bool>> ReducedAxesOf(const ir::AttributeMap& attributes,
                                        const char* name,
                                        const ir::Shape& shape);

/// Infers every output from input 0, the axes of attribute `name` and
/// keep_dims.
Status InferReduced(ir::InferContext& context, const char* name);

/// Product of the counts.
int64_t ReducedCount(std::span<const ReduceGroup> groups);

/// Layouts of the input and of what is left of it: dense, and blocks of
/// channels that stay.
struct ReduceLayout {
  ir::Layout input;
  ir::Layout output;
};
std::vector<ReduceLayout> ReduceLayouts(const ir::TensorDesc& input,
                                        const ir::TensorDesc& output,
                                        const std::vector<bool>& reduced);

/// Groups of the elements as they lie in memory.
std::vector<ReduceGroup> GroupsInMemory(std::vector<bool> reduced,
                                        const ir::TensorDesc& input);

}  // namespace tim::ops

#endif  // TIM_OPS_REDUCTION_REDUCE_NODE_H_
