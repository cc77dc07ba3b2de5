// Sequences [width, batch, steps], or [width, steps, batch] where the attribute
// `time_major` is false.
#ifndef TIM_OPS_ELEMENTS_SEQUENCE_AXES_H_
#define TIM_OPS_ELEMENTS_SEQUENCE_AXES_H_

#include <vector>

#include "ir/permuted_node.h"

namespace tim::ops {

/// permute_rule of operators that read the sequences `inputs`, of rank 3, and
/// whose outputs `outputs` are sequences where `return_sequences` is true:
/// batch and steps of all change places, with `time_major`.  Another
/// permutation, and one of another input, is refused.
ir::PermuteRule SwapBatchAndSteps(std::vector<int> inputs,
                                  std::vector<int> outputs);

}  // namespace tim::ops

#endif  // TIM_OPS_ELEMENTS_SEQUENCE_AXES_H_
