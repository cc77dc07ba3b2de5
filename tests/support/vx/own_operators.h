// Operators that no library has, for contexts with a registry of their own.
#ifndef TIM_TESTS_SUPPORT_VX_OWN_OPERATORS_H_
#define TIM_TESTS_SUPPORT_VX_OWN_OPERATORS_H_

#include <memory>
#include <string>

#include "ir/op_registry.h"
#include "tim/vx/builtin_op.h"
#include "tim/vx/context.h"

namespace tim::testing {

/// y = a + 10 b + 100 c, all float32 of one shape; b and c may be absent.
class Pick : public vx::BuiltinOpOf<Pick> {
 public:
  static const char* OpName() { return "own.Pick"; }
  explicit Pick(vx::Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// Made of Picks: output 0 = Pick(a, c, e), output 1 = Pick(a, absent, f) and
/// output 2 = a.  Inputs a to f, of which only a is required; the body reads
/// neither b nor d.
class Mix : public vx::BuiltinOpOf<Mix> {
 public:
  static const char* OpName() { return "own.Mix"; }
  explicit Mix(vx::Graph* graph) : BuiltinOpOf(graph, {}) {}
};

/// The schema of Pick, with which more can be made.
ir::OpSchema PickSchema();
/// The built-in operators, Pick and Mix.
const ir::OpRegistry& OwnOperators();
/// A context with them on "host" or "opencl"; null where that is not there.
std::shared_ptr<vx::Context> OwnContextOn(
    const std::string& device,
    const ir::OpRegistry& operators = OwnOperators());

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_VX_OWN_OPERATORS_H_
