// Gradients of functions of values.
//
// A gradient has the type and the shape of what it is by.  Integers, truth
// values, and what rounds or compares have none (zeros).  What has no rule
// fails with the operator's name.
#ifndef TIM_VALUES_GRADIENT_H_
#define TIM_VALUES_GRADIENT_H_

#include <functional>
#include <memory>
#include <vector>

#include "tim/export.h"
#include "tim/values/graph.h"
#include "tim/values/value.h"

namespace tim {
namespace values {

namespace internal {
class TapeState;
}  // namespace internal

struct Gradients {
  Value value;  ///< Output 0 of the function.
  std::vector<Value> gradients;
};

/// The gradients of output 0 of a function, one float element, by the inputs
/// that `wrt` names by number.  Each call of the result calls the function
/// once, with symbolic values of the arguments' specs, whose extents are known.
TIM_API Function Grad(const Function& function,
                      const std::vector<int>& wrt = {0});
/// The same with the function's value, computed once.
TIM_API std::function<Gradients(const std::vector<Value>&)> ValueAndGrad(
    const Function& function, const std::vector<int>& wrt = {0});

/// The graph with, behind its outputs, the gradients of output 0, one float
/// element, by the inputs that `wrt` names.  All extents of its inputs are
/// known (Graph::Specialize); else it fails.
TIM_API Graph Differentiate(const Graph& graph, const std::vector<int>& wrt);
/// The same of all outputs: each has a further input, its cotangent, which says
/// what its elements count for.  Outputs are the gradients alone.
TIM_API Graph Vjp(const Graph& graph, const std::vector<int>& wrt);

/// The value, as a constant to gradients.
TIM_API Value StopGradient(const Value& value);

/// Records the eager and lazy calls of this thread while it lives, whatever
/// decides on them.  Tapes nest: calls are recorded by all that live.
class TIM_API Tape {
 public:
  Tape();
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// Gradients of `of`, one float element, by values that it was computed
  /// from; zeros for those that it was not.  May be asked for several times.
  /// Failed values where an operator on the way has no rule.
  std::vector<Value> Gradient(const Value& of,
                              const std::vector<Value>& wrt) const;

 private:
  std::shared_ptr<internal::TapeState> state_;
};

}  // namespace values
}  // namespace tim

#endif  // TIM_VALUES_GRADIENT_H_
