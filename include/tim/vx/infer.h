// Shapes of one operation's results, before the graph is compiled.
#ifndef TIM_VX_INFER_H_
#define TIM_VX_INFER_H_

#include <memory>

#include "tim/vx/export.h"

namespace tim {
namespace vx {

class Operation;

/// Puts types and shapes that Compile() would infer into the specs of the
/// TRANSIENT tensors that `operation` writes; an addition to TIM-VX, for
/// importers and others who build graphs by the shapes of earlier results.
/// Its inputs and outputs are bound, and the shapes of all inputs are known.
/// The time it takes does not grow with the graph.
/// \return false, with LastError(), where the operation cannot be: with the
///     reason that Compile() would give.
TIM_VX_API bool InferOutputs(const std::shared_ptr<Operation>& operation);

}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_INFER_H_
