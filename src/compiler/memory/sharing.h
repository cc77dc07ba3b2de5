// Values that have no memory of their own: views, parts of others, and what is
// made where it stays.
#ifndef TIM_COMPILER_MEMORY_SHARING_H_
#define TIM_COMPILER_MEMORY_SHARING_H_

#include <cstdint>
#include <vector>

#include "compiler/module.h"

namespace tim::compiler {

/// By value id: the value whose memory it uses, itself where it has its own,
/// and the first byte in there.
struct Sharing {
  std::vector<ir::ValueId> root;
  std::vector<int64_t> offset;
};

/// Views and parts lie in what they are views and parts of; outputs of the
/// graph and new values of states are made in their own memory where the device
/// can.  Sets Module::storages of all roots that are no allocations, and drops
/// the steps that would only copy.  After order.
Sharing ShareMemory(Module& module);

/// The output that a step of a node only copies an input to, or -1.
int CopiedOutput(const Module& module, ir::NodeId node, int step);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_MEMORY_SHARING_H_
