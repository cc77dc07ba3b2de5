// Graphs as JSON, in the form in which oneDNN dumps them.
#ifndef TIM_GRAPH_API_JSON_GRAPH_H_
#define TIM_GRAPH_API_JSON_GRAPH_H_

#include <string>
#include <vector>

#include "graph_api/op.h"
#include "graph_api/partition.h"

namespace tim::graph {

/// Ops and their ports as one object; unknown dims are UNKNOWN_DIM, an unknown
/// rank is one of them.
std::string JsonOfGraph(const std::vector<Op>& ops, const Ports& ports,
                        const GraphTraits& traits);

/// The ops of all partitions; two further attributes of each say to which it
/// belongs and who runs it.
std::string JsonOfPartitions(const Partitions& partitions, const Ports& ports,
                             const GraphTraits& traits);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_JSON_GRAPH_H_
