// A graph made ready to run, and what it was made of.
#ifndef TIM_VX_GRAPH_COMPILED_GRAPH_H_
#define TIM_VX_GRAPH_COMPILED_GRAPH_H_

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/op_registry.h"
#include "ir/plan.h"
#include "runtime/compiled_graph.h"
#include "vx/binary/graph_binary.h"
#include "vx/graph/effective_operations.h"
#include "vx/graph/run_buffers.h"
#include "vx/lowering/lowering.h"

namespace tim::vx {

class CompiledGraph {
 public:
  /// Compiles, builds, and moves the VARIABLE tensors' content to the devices.
  /// What was inferred goes into the tensors' specs.  `operations` is the
  /// graph's OpVector().
  static Result<std::unique_ptr<CompiledGraph>> Create(
      GraphCore& core, const Operations& operations,
      const std::vector<std::shared_ptr<Tensor>>& io);

  /// Nothing that it was made of has changed.
  bool IsCurrent(const GraphCore& core, const Operations& operations) const;

  /// On the tensors' memory, behind what is in flight.
  Status Run();
  /// On memory of its own, in the order of the plan.
  Result<std::shared_ptr<runtime::RunEvent>> Enqueue(
      std::span<const runtime::PortMemory> inputs,
      std::span<const runtime::PortMemory> outputs);
  /// A tensor has left the memory, which its owner may free now.
  void Release(const void* memory) { graph_->Release(memory); }

  /// The tensors that runs read and write.
  const RunBuffers& buffers() const { return buffers_; }

  const ir::Plan& plan() const { return graph_->plan(); }
  /// For CompileToBinary(): with these tensors as inputs and outputs.
  Result<GraphBinary> Binary(
      const GraphCore& core, const std::vector<std::shared_ptr<Tensor>>& inputs,
      const std::vector<std::shared_ptr<Tensor>>& outputs);

 private:
  CompiledGraph() = default;
  void Remember(const Operations& operations, const LoweredGraph& lowered);
  /// Before the programs of the context those of the binary graphs.
  static runtime::Surroundings SurroundingsOf(
      const GraphCore& core, const Operations& operations,
      const Devices& devices, std::shared_ptr<const ir::OpRegistry> operators);
  Status BindTensors(const LoweredGraph& lowered);
  /// The stored plan of a graph that is an NBG and nothing else; null where
  /// there is none for here.
  static std::unique_ptr<CompiledGraph> CreateStored(
      const GraphCore& core, const Operations& operations,
      const Operations& effective, const Devices& devices);
  static BinarySource SourceOf(const LoweredGraph& lowered, ir::Graph inferred);
  /// What is not needed to run a stored plan.
  Status MakeSource(const GraphCore& core,
                    const std::vector<std::shared_ptr<Tensor>>& io);

  Operations effective_;  ///< Host steps call those of users.
  BinarySource source_;   ///< Without a registry: not made yet.
  /// Collected once: what drivers give can change with every use.
  std::shared_ptr<const binary::Programs> programs_;
  std::unique_ptr<runtime::CompiledGraph> graph_;
  RunBuffers buffers_;
  /// OpVector(), where effective_ has replacements.
  std::vector<std::pair<std::shared_ptr<Operation>, uint64_t>> operations_;
  std::vector<std::pair<std::shared_ptr<TensorImpl>, uint64_t>> tensors_;
  /// Of the graph's overrides and of its context's.
  std::pair<uint64_t, uint64_t> overrides_revision_;
  uint32_t device_id_ = 0;
};

}  // namespace tim::vx

#endif  // TIM_VX_GRAPH_COMPILED_GRAPH_H_
