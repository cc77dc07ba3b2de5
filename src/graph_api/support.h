// Answers about an op by itself, without a graph.
#ifndef TIM_GRAPH_API_SUPPORT_H_
#define TIM_GRAPH_API_SUPPORT_H_

#include <string>

#include "base/status.h"
#include "graph_api/op.h"
#include "tim/graph/c.h"

namespace tim::graph {

struct OpSupport {
  bool supported = false;
  /// "host", "opencl: <name>"; empty where nothing runs it.
  std::string device = {};
  /// Why it is not supported; of one that is, the rule that its known dims
  /// break, for which a compile fails, or why there is no device.
  std::string reason = {};
};

/// Answers for attributes, types and known dims, for engines of the kind.
OpSupport QuerySupport(Op op, tim_graph_engine_kind_t kind);

/// kUnimplemented where the devices of the kind's first engine do not run an op
/// that passed CheckOp().  Ok where its dims are not known, but for one that
/// needs a device which there is not, and where they break a rule.
Status CheckRuns(const Op& op, tim_graph_engine_kind_t kind);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_SUPPORT_H_
