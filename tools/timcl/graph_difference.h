// Distance of what a partition computes from its reference, and how far it may
// be.
#ifndef TIM_TOOLS_TIMCL_GRAPH_DIFFERENCE_H_
#define TIM_TOOLS_TIMCL_GRAPH_DIFFERENCE_H_

#include <cstddef>

#include "base/status.h"
#include "graph_api/partition.h"
#include "tools/timcl/graph_tensor.h"

namespace tim::tool {

/// Distance that numbers may have.
struct GraphTolerance {
  double real = 0;   ///< Of the greatest magnitude in the tensor.
  double codes = 0;  ///< Of integer types.
};

/// Real numbers may be apart what the coarsest type that the partition's ops
/// make, or its fpmath mode, rounds away; codes one for each op that rounds to
/// codes, four at most.  docs/timcl.md states the numbers.
/// \param real not negative: in place of that of the types.
GraphTolerance ToleranceOf(const graph::Partition& partition, double real);

struct GraphDifference {
  size_t id = 0;  ///< Of the tensor.
  bool integer = false;
  /// Of the greatest magnitude in the tensor, or in codes.
  double error = 0;
  double allowed = 0;
  int64_t nans = 0;  ///< In both; those of one side alone are infinite errors.
  bool differs() const { return !(error <= allowed); }
};

/// The dims are equal; layouts may differ.
Result<GraphDifference> Compare(const GraphTensor& found,
                                const GraphTensor& expected,
                                const GraphTolerance& tolerance);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_GRAPH_DIFFERENCE_H_
