// A binary graph as one operation.
#ifndef TIM_VX_OPS_NBG_H_
#define TIM_VX_OPS_NBG_H_

#include <cstddef>
#include <memory>

#include "tim/vx/builtin_op.h"
#include "tim/vx/export.h"

namespace tim {
namespace vx {

class LocalNbg;

namespace ops {

/// What Graph::CompileToBinary() wrote, as one operation of a graph, beside
/// others or alone, once or several times.
///
/// Inputs and outputs: those of the graph that was compiled, in the order of
/// its InputsTensor() and OutputsTensor(), with the same types, shapes and
/// quantizations.  Where it did not use one, a placeholder may be bound.
/// VARIABLE tensors of that graph are a part of the operation: their content
/// begins as it was written.
/// - binary: the binary graph, which is copied once.  Its header tells its
///        length.
/// - input_count, output_count: how many it has.
/// Errors: what is no binary graph of this library, has another version or is
/// damaged is refused here; Compile() fails then, and where operands differ
/// from the binary graph's, or where it has a custom operation that no device
/// of the context can run.  LayoutInference() leaves it as it is.
/// A binary graph with custom operations contains programs: load only what you
/// trust.
class TIM_VX_API NBG : public BuiltinOpOf<NBG> {
 public:
  static const char* OpName() { return "NBG"; }
  NBG(Graph* graph, const char* binary, size_t input_count,
      size_t output_count);

 private:
  friend class ::tim::vx::LocalNbg;  // of binary graphs that are not bytes
  NBG();
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_NBG_H_
