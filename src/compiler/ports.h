// Where a graph's inputs are before its first step, and its outputs after the
// last one.
#ifndef TIM_COMPILER_PORTS_H_
#define TIM_COMPILER_PORTS_H_

#include "base/status.h"
#include "compiler/candidates.h"
#include "compiler/module.h"

namespace tim::compiler {

/// Ports by number of the graph's input or output.
const Port& InputPort(const Module& module, int index);
const Port& OutputPort(const Module& module, int index);

/// kInvalidArgument names a port that no device or tensor is like.
Status CheckPorts(const Module& module);

/// How `device` does the Reorder of these layouts: by a kernel, or by eval
/// where none does.
Placement FindReorder(const Module& module, const ir::KernelNode& node,
                      int device);

/// Where input `index` is, as a set.  A device of unified memory that has a
/// kernel for it imports the host's strided and blocked memory, which is there
/// then, too.
LocationSet InputLocations(const Module& module, LocationTable& locations,
                           int index);
/// Where output `index` is wanted, given where its value is.
int OutputTarget(const Module& module, LocationTable& locations, int index,
                 const LocationSet& present);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_PORTS_H_
