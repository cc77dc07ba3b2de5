// Conversions of codes whose channels have scales of their own.
#ifndef TIM_GRAPH_API_EXPAND_CHANNELS_H_
#define TIM_GRAPH_API_EXPAND_CHANNELS_H_

#include "base/status.h"
#include "ir/graph.h"

namespace tim::graph {

/// Arithmetic, for which devices have kernels, in the place of the conversions
/// between float32 and codes per channel that FoldQuantization() has left, but
/// for those of constants: the same step by step, with the same roundings.
Status ExpandChannels(ir::Graph* graph);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_EXPAND_CHANNELS_H_
