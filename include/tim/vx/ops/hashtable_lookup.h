// HashtableLookup: slices found by key.
#ifndef TIM_VX_OPS_HASHTABLE_LOOKUP_H_
#define TIM_VX_OPS_HASHTABLE_LOOKUP_H_

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Slices of a table whose keys are equal to what is looked up.
///
/// Input 0, the lookups [L]; input 1, the keys [K], in any order: plain
///        integers.
/// Input 2, the values [..., K]: any type without per-channel quantization.
/// Output 0 [..., L]: slice k where lookups(l) = keys(k), the least k of them;
///        real zeros where there is none.  Values of another type or
///        quantization are converted to the output's.
/// Output 1, the hits [L]: 1 where a key was found, else 0; int32 unless the
///        tensor says otherwise.
/// Errors: Compile() fails where there are not as many keys as slices.
/// Source: TFLite HASHTABLE_LOOKUP (which wants ascending keys).
class HashtableLookup : public BuiltinOpOf<HashtableLookup> {
 public:
  static const char* OpName() { return "HashtableLookup"; }
  explicit HashtableLookup(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_HASHTABLE_LOOKUP_H_
