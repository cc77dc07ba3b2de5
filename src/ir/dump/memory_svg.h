// A plan's memory as a picture.
#ifndef TIM_IR_DUMP_MEMORY_SVG_H_
#define TIM_IR_DUMP_MEMORY_SVG_H_

#include <string>

#include "ir/plan.h"

namespace tim::ir {

/// SVG: a diagram per arena that has bytes, with the steps from left to right
/// and offsets from the top down. A rectangle per slot, from the first step
/// that has it as an operand to the last, has the tensor's name, where the
/// plan's notes tell it, and its bytes; its tooltip says the rest.
std::string MemorySvg(const Plan& plan);

}  // namespace tim::ir

#endif  // TIM_IR_DUMP_MEMORY_SVG_H_
