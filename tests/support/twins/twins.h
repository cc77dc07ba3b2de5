// Twins of two translation units.
#ifndef TIM_TESTS_SUPPORT_TWINS_TWINS_H_
#define TIM_TESTS_SUPPORT_TWINS_TWINS_H_

#include <memory>

#include "tim/vx/graph.h"
#include "tim/vx/operation.h"

namespace tim::testing {

std::shared_ptr<vx::Operation> AddTwinOfTwo(vx::Graph* graph);
std::shared_ptr<vx::Operation> AddTwinOfThree(vx::Graph* graph);

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_TWINS_TWINS_H_
