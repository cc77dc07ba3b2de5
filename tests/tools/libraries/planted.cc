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

std::vector<NamedOperator> Operators() {
  const char* const variable = std::getenv("TIM_PLANTED");
  const std::string planted = variable == nullptr ? "" : variable;
  if (planted == "throws") throw std::runtime_error("the weights are lost");
  if (planted == "none") return {};
  NamedOperator wrong = Named("WrongScalar");
  if (planted == "twice") return {wrong, wrong};
  if (planted == "nameless") wrong.name.clear();
  if (planted == "incomplete") wrong.checked.create = nullptr;
  return {wrong, Named("UnwrittenTail")};
}

}  // namespace

TIM_VX_CHECKED_OPERATORS(Operators)
