// The choice of device, kernel and layouts of all nodes at once.
#ifndef TIM_COMPILER_LOCATION_SEARCH_H_
#define TIM_COMPILER_LOCATION_SEARCH_H_

#include <vector>

#include "compiler/candidates.h"
#include "compiler/module.h"

namespace tim::compiler {

struct LocationChoice {
  std::vector<Candidate> chosen;        ///< One per node, in order.
  std::vector<ir::Decision> decisions;  ///< The same, without names of nodes.
};

/// The candidates whose kernels and moves cost least in sum.
/// \param order all nodes, producers before consumers.
/// An error where a node has no candidate.
Result<LocationChoice> SearchLocations(const Module& module,
                                       LocationTable& locations,
                                       const std::vector<ir::NodeId>& order);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_LOCATION_SEARCH_H_
