// The order of steps that several queues do beside each other.
#ifndef TIM_COMPILER_QUEUE_SCHEDULE_H_
#define TIM_COMPILER_QUEUE_SCHEDULE_H_

#include <vector>

#include "compiler/module.h"

namespace tim::compiler {

/// A topological order by the time at which nodes are predicted to begin, each
/// as early as it can.  Sets Module::streams: a node joins the queue of the
/// input that ends last where it follows at once, else the queue of its device
/// that is free first.  After choose.
Result<std::vector<ir::NodeId>> ScheduleQueues(Module& module);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_QUEUE_SCHEDULE_H_
