// A plan of a compiled partition, and what runs it.
#ifndef TIM_GRAPH_API_RUNNABLE_H_
#define TIM_GRAPH_API_RUNNABLE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/status.h"
#include "compiler/compiler.h"
#include "graph_api/engine.h"
#include "graph_api/lower_ops.h"
#include "ir/permutation.h"
#include "ir/plan.h"
#include "runtime/compiled_graph.h"
#include "runtime/port_binding.h"
#include "tim/graph/c_memory.h"

namespace tim::graph {

/// Place of the memory of a partition's port.
struct PortPlace {
  size_t id = 0;  ///< Of the tensor.
  compiler::Port port;
  /// Never automatic once the partition is compiled.
  tim_graph_residency_t residency = tim_graph_residency_automatic;
};

/// The inner graph of a partition as it is compiled.
struct PortedGraph {
  compiler::InferredGraph graph;
  compiler::CompileOptions options;
  /// Numbers of the partition's ports, in the order of the graph's.
  std::vector<size_t> inputs;
  std::vector<size_t> outputs;
  /// By output, see AbsorbTransposes(); empty where there are none.
  std::vector<ir::Permutation> output_orders;
};

/// The outputs of a plan of the graph as the partition has them.
std::vector<ir::PlanTensor> OutputsOf(
    const ir::Plan& plan, std::span<const ir::Permutation> output_orders);

/// Inputs that nothing reads, and tensors without elements, are no ports of the
/// graph.
/// \param inputs, outputs ports of the partition.
Result<PortedGraph> AddPorts(LoweredOps lowered,
                             const std::vector<PortPlace>& inputs,
                             const std::vector<PortPlace>& outputs,
                             const Engine& engine);

/// One compiled graph and memory for the ports of a run, of one thread at a
/// time.
struct Runner {
  std::shared_ptr<runtime::CompiledGraph> graph;
  std::vector<runtime::PortMemory> inputs = {};
  std::vector<runtime::PortMemory> outputs = {};
  std::vector<runtime::PortMemory> arenas = {};  ///< See GivenArenas.
};

/// Any thread.
class Runnable {
 public:
  /// AddPorts(), and compiles the graph for the engine's devices.
  static Result<std::unique_ptr<Runnable>> Create(
      LoweredOps lowered, const std::vector<PortPlace>& inputs,
      const std::vector<PortPlace>& outputs, const Engine& engine);

  /// Numbers of the partition's ports, in the order of the plan's.
  const std::vector<size_t>& inputs() const { return inputs_; }
  const std::vector<size_t>& outputs() const { return outputs_; }
  const ir::Plan& plan() const { return first_->plan(); }
  /// OutputsOf() the plan.
  const std::vector<ir::PlanTensor>& plan_outputs() const {
    return plan_outputs_;
  }
  /// For runs that overlap; Enqueue() of it is for any thread.
  const std::shared_ptr<runtime::CompiledGraph>& graph() const {
    return first_;
  }

  /// Nobody else has the runner until it is given back.
  Result<std::unique_ptr<Runner>> Take();
  void Give(std::unique_ptr<Runner> runner);
  /// Runs and blocks until the runner's outputs are complete.
  Status Run(Runner& runner) const;

  /// Bytes of constants that the plan keeps.
  int64_t constant_bytes() const { return constant_bytes_; }

 private:
  Runnable() = default;

  std::vector<size_t> inputs_;
  std::vector<size_t> outputs_;
  std::vector<ir::PlanTensor> plan_outputs_;
  std::shared_ptr<runtime::CompiledGraph> first_;
  int64_t constant_bytes_ = 0;
  /// What is at an address may be other memory in the next run.
  bool imports_ = false;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Runner>> idle_;
  bool first_taken_ = false;
};

/// Whether the compiler takes the graph: its rules, types and shapes.
Status CheckCompiles(const LoweredOps& lowered, const Engine& engine);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_RUNNABLE_H_
