// From a graph to what runs it: the road of all front ends.
#ifndef TIM_RUNTIME_READY_GRAPH_H_
#define TIM_RUNTIME_READY_GRAPH_H_

#include <memory>
#include <vector>

#include "base/status.h"
#include "compiler/compiler.h"
#include "device/device.h"
#include "ir/graph.h"
#include "ir/op_registry.h"
#include "ir/plan.h"
#include "runtime/executable.h"
#include "runtime/execution_context.h"
#include "runtime/shared_arenas.h"

namespace tim::runtime {

struct ReadyGraph {
  std::shared_ptr<const Executable> executable;
  std::unique_ptr<ExecutionContext> context;
};

/// What a plan is prepared with; see Executable::Create.
struct Surroundings {
  std::vector<std::shared_ptr<device::Device>> devices;
  std::shared_ptr<device::BinaryStore> store;
  std::shared_ptr<const ir::OpRegistry> operators = nullptr;
};

/// An executable of the plan and its first context.
/// \param refused as Executable::Create's.
/// \param arenas of its runs; null: the contexts have their own.
Result<ReadyGraph> Prepare(
    ir::Plan plan, const Surroundings& surroundings,
    std::vector<compiler::RefusedKernel>* refused = nullptr,
    std::shared_ptr<SharedArenas> arenas = nullptr);

/// Compiles and prepares.  Where devices can neither build nor launch kernels
/// of the library, it compiles again without them, until all that was chosen
/// runs; what is then chosen, and why, is in the plan's decisions.
/// \param surroundings with the operators that `graph` is made of, of devices
/// as in `options`.
Result<ReadyGraph> CompileAndPrepare(
    const compiler::InferredGraph& graph, compiler::CompileOptions options,
    const Surroundings& surroundings,
    std::shared_ptr<SharedArenas> arenas = nullptr);
/// The same without a context: kernels have not been launched.
Result<std::shared_ptr<const Executable>> CompileExecutable(
    const compiler::InferredGraph& graph, compiler::CompileOptions options,
    const Surroundings& surroundings);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_READY_GRAPH_H_
