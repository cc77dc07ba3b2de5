#include "compiler/host_steps.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/log_once.h"
#include "ir/shape.h"

namespace tim::compiler {
namespace {

constexpr double kShare = 0.1;  // of the graph's time, that is worth a word
// `eval` is plain scalar code, which reads and writes an element at a time.
constexpr double kEvalUsPerElement = 0.03;

bool IsHostStep(const Module& module, ir::NodeId id,
                const Candidate& candidate) {
  return candidate.placement.kind == RunKind::kEval &&
         candidate.placement.device == 0 && module.options.devices.size() > 1 &&
         !IsPinned(module, id);
}

bool IsOfLibrary(const ir::Node& node) {
  return !node.composite && node.schema->domain == "tim";
}

double EvalUs(const Module& module, const ir::Node& node,
              const Candidate& candidate) {
  int64_t elements = 0;
  for (const ir::ValueId id : node.outputs) {
    if (id == ir::kNone) continue;
    elements += module.graph.value(id).desc.shape.NumElements().value_or(0);
  }
  return std::max(PredictedUs(candidate.placement, candidate.cost),
                  kEvalUsPerElement * static_cast<double>(elements));
}

// Why no kernel took it: what was refused, without what is not cheaper.
std::string Reasons(const ir::Decision& decision) {
  std::string text;
  for (const std::string& refused : decision.refused) {
    if (refused.ends_with("not cheaper here")) continue;
    text += StrCat("\n  ", refused);
  }
  return text.empty() ? "\n  it has no kernel" : text;
}

}  // namespace

void WarnOfHostSteps(const Module& module, const std::vector<ir::NodeId>& order,
                     const std::vector<Candidate>& chosen) {
  double total = 0;
  double most = 0;
  size_t slowest = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const ir::Node& node = module.graph.node(order[i]);
    const bool on_host = IsHostStep(module, order[i], chosen[i]);
    const double us =
        on_host ? EvalUs(module, node, chosen[i]) : chosen[i].cost;
    total += us;
    if (!on_host || !IsOfLibrary(node) || us <= most) continue;
    most = us;
    slowest = i;
  }
  if (most <= kShare * total) return;
  TIM_LOG_ONCE(
      kWarning, Describe(module.graph, module.graph.node(order[slowest])),
      " runs on the host, and not on ",
      module.device(module.primary_device()).name, ", which takes about ",
      std::lround(100 * most / total),
      " % of the graph's time; change the operands so that a kernel "
      "takes them, or set TIMCL_STRICT=1 to make this an error. Its "
      "kernels:",
      Reasons(module.decisions[slowest]),
      DescribeOperands(module.graph, module.graph.node(order[slowest])));
}

}  // namespace tim::compiler
