// A few operators and kernels that exist only as plain data, so that the
// compiler is tested without the built-ins and without a device.
#ifndef TIM_TESTS_SUPPORT_TOY_OPS_H_
#define TIM_TESTS_SUPPORT_TOY_OPS_H_

#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "ir/graph.h"
#include "ir/op_registry.h"

namespace tim::testing {

/// Operators of domain "toy", all float32, output shape = input 0's shape:
///   Twice      y = 2 x
///   Heavy      y = x + 1, expensive; kernels heavy_dense, and heavy_blocked
///              (ten times faster, Blocked(2, 16) in and out), which accept
///              one Bump as epilogue
///   Bump       y = x + attribute "by" (default 1); dense and blocked
///   Sum        y = a + b
///   Weighted   y = x * w[0], w constant, packed as {w, w}
///   Keep       y = 2 x at even elements, old at odd ones, which the kernel
///              does not write
///   Slow       y = x, without any kernel; 2 surplus inputs
///   Same       the identity
/// and tim.Reorder, tim.Reshape as the compiler needs them.
const ir::OpRegistry& ToyOperators();

/// Host and a device of kind "opencl" that exists only as data.
compiler::CompileOptions ToyOptions();

/// Builds toy graphs: values by id, nodes by operator name.
class ToyGraph {
 public:
  explicit ToyGraph(const std::string& name = "toy") : graph_(name) {}

  ir::ValueId Input(ir::Shape shape);
  ir::ValueId State(ir::Shape shape);
  ir::ValueId Constant(ir::Shape shape, float value);
  /// Adds toy.<op> and returns its output, of unknown shape.
  ir::ValueId Op(const std::string& op, std::vector<ir::ValueId> inputs,
                 ir::AttributeMap attributes = {});
  void Output(ir::ValueId value) { graph_.AddOutput(value); }

  ir::Graph& graph() { return graph_; }
  Result<ir::Plan> Compile(
      const compiler::CompileOptions& options = ToyOptions()) const;

 private:
  ir::Graph graph_;
};

/// Steps whose kernel function has this name.
int CountKernels(const ir::Plan& plan, const std::string& function);

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_TOY_OPS_H_
