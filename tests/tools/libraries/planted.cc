// Operators with a fault, and lists of operators that cannot be used: the
// variable TIM_PLANTED says which.
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/vx/planted_ops.h"
#include "tim/vx/checked_library.h"

namespace {

using tim::vx::check::NamedOperator;

NamedOperator Named(const std::string& name) {
  for (const planted::Fault& fault : planted::Faults()) {
    if (name != fault.name) continue;
    NamedOperator named;
    named.name = name;
    named.checked = planted::Checked(fault);
    named.options = planted::Options();
    named.options.shrink_steps = 8;
    return named;
  }
  throw std::logic_error("no fault " + name);
}

// y = 2 x, without a mistake.
NamedOperator Right() {
  static const planted::Fault none = {"Right",
                                      tim::vx::check::FaultKind::kFails,
                                      R"(
__kernel void f(__global const float* x, __global float* y) {
  const size_t i = get_global_id(0);
  y[i] = 2 * x[i];
})",
                                      planted::Each,
                                      0,
                                      planted::Fault::Rule::kDouble,
                                      planted::Fault::Scalars::kNone};
  NamedOperator named;
  named.name = none.name;
  named.checked = planted::Checked(none);
  named.options.local_sizes = tim::vx::check::LocalSizes::kOwn;
  return named;
}

// Ends the process in case 2.
NamedOperator Crashing() {
  NamedOperator named = Right();
  named.name = "Crashing";
  named.checked.fit = [](tim::vx::check::Operands*) {
    static int cases = 0;
    if (++cases == 3) std::abort();
    return true;
  };
  return named;
}

std::vector<NamedOperator> Operators() {
  const char* const variable = std::getenv("TIM_PLANTED");
  const std::string planted = variable == nullptr ? "" : variable;
  if (planted == "throws") throw std::runtime_error("the weights are lost");
  if (planted == "none") return {};
  if (planted == "ends") std::_Exit(3);
  NamedOperator wrong = Named("WrongScalar");
  if (planted == "twice") return {wrong, wrong};
  if (planted == "nameless") wrong.name.clear();
  if (planted == "incomplete") wrong.checked.create = nullptr;
  if (planted == "crashes") return {Right(), Crashing(), wrong};
  return {wrong, Named("UnwrittenTail")};
}

}  // namespace

TIM_VX_CHECKED_OPERATORS(Operators)
