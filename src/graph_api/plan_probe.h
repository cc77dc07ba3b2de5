// Plans of a partition as they will be, before its constants are known.
#ifndef TIM_GRAPH_API_PLAN_PROBE_H_
#define TIM_GRAPH_API_PLAN_PROBE_H_

#include <cstddef>
#include <span>
#include <vector>

#include "base/status.h"
#include "graph_api/constant_plans.h"
#include "ir/plan.h"

namespace tim::graph {

struct ProbedPlan {
  std::vector<ir::Arena> arenas;
  std::vector<ir::PlanTensor> outputs;
  std::vector<size_t> ports;  ///< Numbers of the partition's outputs.
};

/// The plan that Compile() makes where other values stand for those of the
/// `constants`, which are numbers of inputs.  Kernels that look at values may
/// differ in plans to come: what matters to clients of these must be fixed by
/// their ports.  Nothing is built or run.
Result<ProbedPlan> ProbePlan(const PlanSource& source,
                             std::span<const size_t> constants);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_PLAN_PROBE_H_
