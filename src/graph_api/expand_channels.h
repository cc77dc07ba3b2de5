// Conversions of codes whose channels have scales of their own.
#ifndef TIM_GRAPH_API_EXPAND_CHANNELS_H_
#define TIM_GRAPH_API_EXPAND_CHANNELS_H_

#include "base/status.h"
#include "ir/graph.h"

namespace tim::graph {

/// The same arithmetic step by step, with the same roundings, in the place of
/// the node.
/// \param convert a DataConvert between float32 and codes per channel.
Status ExpandChannels(ir::Graph* graph, ir::NodeId convert);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_EXPAND_CHANNELS_H_
