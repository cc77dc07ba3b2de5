// The record of how a graph was divided.
#ifndef TIM_COMPILER_DESCRIBE_PARTITION_H_
#define TIM_COMPILER_DESCRIBE_PARTITION_H_

#include <vector>

#include "compiler/candidates.h"
#include "compiler/module.h"

namespace tim::compiler {

/// Sets Module::partition: parts of the nodes by the devices of their
/// candidates, whose decisions are known.  chosen[i] and module.decisions[i]
/// are for order[i].
Status DescribePartition(Module& module, const std::vector<ir::NodeId>& order,
                         const std::vector<Candidate>& chosen);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_DESCRIBE_PARTITION_H_
