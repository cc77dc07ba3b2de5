#include "runtime/ready_graph.h"

#include <cstdint>
#include <utility>

#include "plugin/loaded_plugin.h"

namespace tim::runtime {
namespace {

using compiler::RefusedKernel;

// A kernel that fails anew, for other nodes than before, fails for all.  False
// where nothing is added, so that compiling again would end as it did.
bool Add(std::vector<RefusedKernel> refused,
         std::vector<RefusedKernel>* known) {
  bool added = false;
  const size_t before = known->size();
  for (RefusedKernel& kernel : refused) {
    bool is_known = false;
    for (size_t i = 0; i < before; ++i) {
      if ((*known)[i].device != kernel.device ||
          (*known)[i].kernel != kernel.kernel) {
        continue;
      }
      is_known |= (*known)[i].node.empty();
      kernel.node.clear();
    }
    if (is_known) continue;
    known->push_back(std::move(kernel));
    added = true;
  }
  return added;
}

}  // namespace

Result<ReadyGraph> Prepare(ir::Plan plan, const Surroundings& surroundings,
                           std::vector<RefusedKernel>* refused) {
  ReadyGraph ready;
  TIM_ASSIGN_OR_RETURN(
      ready.executable,
      Executable::Create(std::move(plan), surroundings.devices,
                         surroundings.store, surroundings.operators, refused));
  TIM_ASSIGN_OR_RETURN(ready.context,
                       ExecutionContext::Create(ready.executable, refused));
  return ready;
}

Result<ReadyGraph> CompileAndPrepare(const compiler::InferredGraph& graph,
                                     compiler::CompileOptions options,
                                     const Surroundings& surroundings) {
  while (true) {
    // A plug-in that broke its contract meanwhile is not asked again.
    const uint64_t broken = plugin::Quarantines();
    auto plan = compiler::Compile(graph, *surroundings.operators, options);
    if (!plan.ok()) {
      if (broken != plugin::Quarantines()) continue;
      return plan.status();
    }
    std::vector<RefusedKernel> refused;
    auto ready = Prepare(*std::move(plan), surroundings, &refused);
    if (ready.ok()) return ready;
    const bool is_new = Add(std::move(refused), &options.refused);
    if (!is_new && broken == plugin::Quarantines()) return ready;
  }
}

}  // namespace tim::runtime
