#include "runtime/ready_graph.h"

#include <cstdint>
#include <utility>

#include "ir/part_names.h"
#include "plugin/loaded_plugin.h"

namespace tim::runtime {
namespace {

using compiler::RefusedKernel;

// A kernel that fails anew, for other nodes than before, fails for all, but one
// of parts, each of which a device compiles by itself.  False where nothing is
// added, so that compiling again would end as it did.
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
      const bool is_part = ir::IsPartKernel(kernel.kernel);
      is_known |= (*known)[i].node.empty() ||
                  (is_part && (*known)[i].node == kernel.node);
      if (!is_part) kernel.node.clear();
    }
    if (is_known) continue;
    known->push_back(std::move(kernel));
    added = true;
  }
  return added;
}

}  // namespace

Result<ReadyGraph> Prepare(ir::Plan plan, const Surroundings& surroundings,
                           std::vector<RefusedKernel>* refused,
                           std::shared_ptr<SharedArenas> arenas) {
  ReadyGraph ready;
  TIM_ASSIGN_OR_RETURN(
      ready.executable,
      Executable::Create(std::move(plan), surroundings.devices,
                         surroundings.store, surroundings.operators, refused));
  TIM_ASSIGN_OR_RETURN(
      ready.context,
      ExecutionContext::Create(ready.executable, refused, std::move(arenas)));
  return ready;
}

namespace {

// `make(plan, refused)` of the plan that has no kernels which fail.
template <typename Made, typename Make>
Result<Made> CompileUntilReady(const compiler::InferredGraph& graph,
                               compiler::CompileOptions options,
                               const Surroundings& surroundings,
                               const Make& make) {
  while (true) {
    // A plug-in that broke its contract meanwhile is not asked again.
    const uint64_t broken = plugin::Quarantines();
    auto plan = compiler::Compile(graph, *surroundings.operators, options);
    if (!plan.ok()) {
      if (broken != plugin::Quarantines()) continue;
      return plan.status();
    }
    std::vector<RefusedKernel> refused;
    Result<Made> made = make(*std::move(plan), &refused);
    if (made.ok()) return made;
    const bool is_new = Add(std::move(refused), &options.refused);
    if (!is_new && broken == plugin::Quarantines()) return made;
  }
}

}  // namespace

Result<ReadyGraph> CompileAndPrepare(const compiler::InferredGraph& graph,
                                     compiler::CompileOptions options,
                                     const Surroundings& surroundings,
                                     std::shared_ptr<SharedArenas> arenas) {
  return CompileUntilReady<ReadyGraph>(
      graph, std::move(options), surroundings,
      [&](ir::Plan plan, std::vector<RefusedKernel>* refused) {
        return Prepare(std::move(plan), surroundings, refused, arenas);
      });
}

Result<std::shared_ptr<const Executable>> CompileExecutable(
    const compiler::InferredGraph& graph, compiler::CompileOptions options,
    const Surroundings& surroundings) {
  return CompileUntilReady<std::shared_ptr<const Executable>>(
      graph, std::move(options), surroundings,
      [&](ir::Plan plan, std::vector<RefusedKernel>* refused) {
        return Executable::Create(std::move(plan), surroundings.devices,
                                  surroundings.store, surroundings.operators,
                                  refused);
      });
}

}  // namespace tim::runtime
