#include "runtime/ready_graph.h"

#include <utility>

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
    TIM_ASSIGN_OR_RETURN(
        ir::Plan plan,
        compiler::Compile(graph, *surroundings.operators, options));
    std::vector<RefusedKernel> refused;
    auto ready = Prepare(std::move(plan), surroundings, &refused);
    if (ready.ok() || !Add(std::move(refused), &options.refused)) return ready;
  }
}

}  // namespace tim::runtime
