// Memory that host references allocate for themselves while they run.
#ifndef TIM_COMPILER_MEMORY_EVAL_SCRATCH_H_
#define TIM_COMPILER_MEMORY_EVAL_SCRATCH_H_

#include <cstdint>

#include "base/status.h"
#include "compiler/module.h"
#include "ir/graph.h"

namespace tim::compiler {

/// Bytes that ir::Evaluate() holds beside the operands while it evaluates a
/// node of the graph: what the operator's memory_estimate says; for a composite
/// the most at a time of a node of its body and of the values made by then.
/// Shapes are static.
Result<int64_t> EvalScratchOf(const ir::Graph& graph, const ir::Node& node);

/// Most bytes that the eval steps of the module hold beside their operands at a
/// time.  A device runs one step after the other, several devices
/// side by side.  After choose; shapes are static.
Result<int64_t> EvalScratchBytes(const Module& module);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_MEMORY_EVAL_SCRATCH_H_
