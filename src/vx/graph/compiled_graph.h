// A graph made ready to run, and what it was made of.
#ifndef TIM_VX_GRAPH_COMPILED_GRAPH_H_
#define TIM_VX_GRAPH_COMPILED_GRAPH_H_

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "ir/op_registry.h"
#include "ir/packed_form.h"
#include "ir/plan.h"
#include "runtime/compiled_graph.h"
#include "runtime/profile.h"
#include "vx/binary/graph_binary.h"
#include "vx/core/run_profiles.h"
#include "vx/dump/graph_dump.h"
#include "vx/graph/effective_operations.h"
#include "vx/graph/graph_record.h"
#include "vx/graph/graph_revision.h"
#include "vx/graph/inferred_source.h"
#include "vx/graph/run_buffers.h"
#include "vx/lowering/lowering.h"

namespace tim::vx {

/// What was compiled for an NBG before its graph was.
struct ReadyNbg {
  const Operation* operation = nullptr;
  runtime::ReadyGraph graph;  ///< The first graph takes the context.
};

class CompiledGraph {
 public:
  /// Compiles, builds, and moves the VARIABLE tensors' content to the devices.
  /// What was inferred goes into the tensors' specs.  `operations` is the
  /// graph's OpVector().
  /// \param known what was inferred of the graph as it is; may be null.
  /// \param ready used where the graph is that NBG and nothing else; may be
  ///     null.
  static Result<std::unique_ptr<CompiledGraph>> Create(
      GraphCore& core, const Operations& operations,
      const std::vector<std::shared_ptr<Tensor>>& io,
      std::unique_ptr<InferredSource> known, ReadyNbg* ready);

  /// What it was made of.
  const GraphRevision& revision() const { return revision_; }
  /// OpVector(), where overridden operations have given place.
  const Operations& effective() const { return effective_; }

  /// On the tensors' memory, behind what is in flight.
  Status Run();
  /// The same where it takes no thread, no copy and no wait; else null, and
  /// nothing was done: see runtime::CompiledGraph::TryEnqueue().
  Result<std::shared_ptr<runtime::RunEvent>> TryEnqueue(
      std::vector<std::shared_ptr<runtime::RunEvent>> after,
      std::function<Status(Status)> end);
  /// Observes every run where TIMCL_PROFILE=1; before the first one.
  void ProfileIfAsked() { profiler_ = vx::ProfileIfAsked(*graph_); }
  /// Run() step by step; profile() tells of all such runs.
  Status ProfileRun();
  /// Null before the first.
  const runtime::Profiler* profiler() const { return profiler_.get(); }
  /// Later runs are not dumped.
  void EndDump() { dump_ = nullptr; }
  /// On memory of its own, in the order of the plan.
  Result<std::shared_ptr<runtime::RunEvent>> Enqueue(
      std::span<const runtime::PortMemory> inputs,
      std::span<const runtime::PortMemory> outputs);
  /// Blocks until what is in flight has ended.
  void Drain() { graph_->Drain(); }
  /// A tensor has left the memory, which its owner may free now.
  void Release(const void* memory) { graph_->Release(memory); }

  /// Lets go of the bytes of constants that can be made again from what the
  /// plan has packed, where nobody else holds them.  After Create().
  void ReleaseConstants();
  /// The tensors hold their constants again.
  Status RestoreConstants();

  /// The tensors that runs read and write.
  const RunBuffers& buffers() const { return buffers_; }

  const ir::Plan& plan() const { return graph_->plan(); }
  /// For CompileToBinary(): with these tensors as inputs and outputs.
  Result<GraphBinary> Binary(
      const GraphCore& core, const std::vector<std::shared_ptr<Tensor>>& inputs,
      const std::vector<std::shared_ptr<Tensor>>& outputs);
  /// The source of a binary of it, with all constants, which are shared as long
  /// as anybody has them; `io` are the INPUT and OUTPUT tensors.
  Result<BinarySource> Source(const GraphCore& core,
                              const std::vector<std::shared_ptr<Tensor>>& io);
  static BinarySource SourceOf(const LoweredGraph& lowered,
                               compiler::InferredGraph inferred);
  /// Before the programs of the context those of the binary graphs.
  static runtime::Surroundings SurroundingsOf(
      const ContextOptions& context, const Operations& operations,
      const Devices& devices, std::shared_ptr<const ir::OpRegistry> operators);
  /// What runs it, where that serves graphs of `context` on `devices` that are
  /// made of its binary graph; else null.
  std::shared_ptr<const runtime::Executable> ExecutableFor(
      const ContextOptions& context, const Devices& devices) const;

 private:
  CompiledGraph() = default;
  /// Records a graph that is an NBG and nothing else.
  void RecordStored(GraphCore& core,
                    const std::vector<std::shared_ptr<Tensor>>& io,
                    const Devices& devices);
  /// The record, where there is one, is only of runs from then on.
  void EndCompileOfRecord(const Status& status);
  /// `run` on the tensors' memory, recorded where that is asked for.
  Status RunBy(const std::function<Status()>& run);
  Status BindTensors(const LoweredGraph& lowered);
  /// Whatever has been prepared; dumped where it is one of those that are.
  Status RunPrepared();
  Status RunDumped(RunDump& dump, std::span<const runtime::PortMemory> inputs,
                   std::span<const runtime::PortMemory> outputs);
  /// Enqueue() without records; done at once where it is dumped.
  Result<std::shared_ptr<runtime::RunEvent>> EnqueueOrDump(
      std::span<const runtime::PortMemory> inputs,
      std::span<const runtime::PortMemory> outputs,
      std::function<Status(Status)> end);
  /// The stored plan of a graph that is an NBG and nothing else, or what was
  /// compiled of it; null where there is none for here.
  static std::unique_ptr<CompiledGraph> CreateStored(
      const GraphCore& core, const GraphRevision& revision,
      const Operations& operations, const Operations& effective,
      const Devices& devices, ReadyNbg* ready);

  Operations effective_;  ///< Host steps call those of users.
  /// Without a registry: not made yet, as it is not needed to run a stored
  /// plan.  Without the constants that were released.
  BinarySource source_;
  /// Forms in the plan's memory, until ReleaseConstants().
  std::vector<ir::PackedForm> forms_;
  /// Collected once: what drivers give can change with every use.
  std::shared_ptr<const binary::Programs> programs_;
  std::unique_ptr<runtime::CompiledGraph> graph_;
  std::shared_ptr<runtime::Profiler> profiler_;
  RunBuffers buffers_;
  GraphRevision revision_;
  std::shared_ptr<GraphDump> dump_;      ///< Null: runs are not dumped.
  std::shared_ptr<GraphRecord> record_;  ///< Null: runs are not recorded.
};

}  // namespace tim::vx

#endif  // TIM_VX_GRAPH_COMPILED_GRAPH_H_
