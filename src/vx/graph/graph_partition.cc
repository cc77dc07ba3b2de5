// PartitionAsJson(): how a compiled graph is divided among devices.
#include <map>
#include <string>

#include "base/guarded.h"
#include "ir/dump/partition_text.h"
#include "tim/vx/placement.h"
#include "vx/core/failure.h"
#include "vx/graph/graph_impl.h"

namespace tim::vx {

Result<std::string> GraphImpl::PartitionJson() const {
  if (compiled_ == nullptr || !IsCompiled()) {
    return FailedPrecondition("graph ", core_->name,
                              " is not compiled: Compile() divides it");
  }
  std::map<std::string, double> measured_us;
  if (const runtime::Profiler* profiler = compiled_->profiler()) {
    const runtime::RunProfile profile = profiler->profile();
    for (const runtime::OperationProfile& operation : profile.operations) {
      if (profile.runs == 0) break;
      measured_us[operation.name] = static_cast<double>(operation.nanoseconds) *
                                    1e-3 / static_cast<double>(profile.runs);
    }
  }
  return ir::PartitionJson(compiled_->plan(), measured_us);
}

std::string PartitionAsJson(Graph& graph) {
  std::string json;
  const Status status = GuardedCall([&]() -> Status {
    const auto* own = dynamic_cast<const GraphImpl*>(&graph);
    if (own == nullptr) {
      return InvalidArgument("the graph is none of this library's");
    }
    TIM_ASSIGN_OR_RETURN(json, own->PartitionJson());
    return OkStatus();
  });
  if (!status.ok()) Fail(status);
  return json;
}

}  // namespace tim::vx
