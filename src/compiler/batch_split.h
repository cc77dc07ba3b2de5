// Items of a batch as graphs of their own, one per device.
#ifndef TIM_COMPILER_BATCH_SPLIT_H_
#define TIM_COMPILER_BATCH_SPLIT_H_

#include <cstdint>
#include <vector>

#include "compiler/module.h"

namespace tim::compiler {

/// Some items of the batch on one device.
struct BatchShare {
  int device = 0;
  int64_t items = 0;
};

/// The number of items: the outermost extent of all inputs, which every node
/// carries through, each item by itself.  kUnimplemented names the operation,
/// input or state for which that is not so.
Result<int64_t> CheckBatch(const Module& module);

/// Puts a copy of the graph for each share in place of the graph: its inputs
/// are parts of the graph's inputs, its outputs parts of the graph's outputs.
/// Assigns the copies to the devices.  `shares` add up to CheckBatch(), and
/// their extents are inferred.
Status SplitInto(Module& module, const std::vector<BatchShare>& shares);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_BATCH_SPLIT_H_
