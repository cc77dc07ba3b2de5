// UnidirectionalSequenceRnn and BidirectionalSequenceRnn: their operands.
//   h(t) = f((W x(t) + b) + (R h(t - 1) + rb) [+ A aux(t)])
// Order of operations: ops/recurrent/sequence.h.
#ifndef TIM_OPS_RECURRENT_RNN_H_
#define TIM_OPS_RECURRENT_RNN_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "ir/op_schema.h"
#include "ops/recurrent/sequence.h"

namespace tim::ops {

/// Where the operands of one direction stand; -1: it has none.
struct RnnDirection {
  int weights = 1;
  int recurrent = 2;
  int bias = 3;
  int recurrent_bias = 4;
  int state = 5;
  int aux_weights = -1;
  int last = 0;      ///< Output.
  int sequence = 1;  ///< Output.
  bool reversed = false;
};

/// Input 0 of all directions, and an input that those have which know where
/// its weights are.
inline constexpr int kRnnInput = 0;
inline constexpr int kRnnAux = 11;

/// The schema of UnidirectionalSequenceRnn or BidirectionalSequenceRnn.
ir::OpSchema RnnSchema(std::string name);

/// The directions of a node of either.
std::vector<RnnDirection> RnnDirectionsOf(const ir::OpSchema& schema,
                                          const ir::AttributeMap& attributes);

/// The function that attribute "activation" means: kNone is tanh.
const StepFunction& RnnFunctionOf(const ir::AttributeMap& attributes);

/// Elements of a row of the output `sequence` of a direction, and where in it
/// this direction's are.
struct RnnColumns {
  int64_t width = 0;
  int64_t column = 0;
};

/// `units`: of each direction; unknown ones give unknown columns.
RnnColumns RnnColumnsOf(const std::vector<RnnDirection>& directions,
                        const std::vector<int64_t>& units, size_t direction);

}  // namespace tim::ops

#endif  // TIM_OPS_RECURRENT_RNN_H_
