// An op of every kind, made from the records.
#ifndef TIM_TESTS_GRAPH_API_EVERY_KIND_H_
#define TIM_TESTS_GRAPH_API_EVERY_KIND_H_

#include <vector>

#include "graph_api/op.h"

namespace tim::graph::testing {

/// One op for each record of BuiltinOps(), with dims and attributes of a small
/// case that its rules allow and with all operands that are no shapes.  They
/// have passed CheckOp(), and no two have a tensor in common.
std::vector<Op> OpsOfEveryKind();

}  // namespace tim::graph::testing

#endif  // TIM_TESTS_GRAPH_API_EVERY_KIND_H_
