// The graph that clients build.
#ifndef TIM_VX_GRAPH_GRAPH_IMPL_H_
#define TIM_VX_GRAPH_GRAPH_IMPL_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/plan.h"
#include "tim/vx/compile_option.h"
#include "tim/vx/graph.h"
#include "vx/binary/local_binary.h"
#include "vx/core/graph_core.h"
#include "vx/graph/compiled_graph.h"
#include "vx/graph/inferred_source.h"
#include "vx/tensor/tensor_impl.h"

namespace tim::vx {

class GraphImpl final : public Graph, public OwnGraph {
 public:
  using Tensors = std::vector<std::shared_ptr<Tensor>>;

  explicit GraphImpl(std::shared_ptr<const ContextState> context,
                     const CompileOption& options = CompileOption());
  ~GraphImpl() override;

  void SetCompileOption(const CompileOption& options) override {
    core_->options = options;
  }
  std::shared_ptr<Tensor> CreateTensor(const TensorSpec& spec,
                                       const void* data) override;
  std::shared_ptr<Tensor> CreateTensor(const TensorSpec& spec,
                                       const DmaBufferDesc& dmafd) override;
  std::shared_ptr<Tensor> CreateIOTensor(const TensorSpec& spec,
                                         void* data) override;
  std::shared_ptr<Tensor> CreateTensorPlaceHolder() override;
  bool Compile() override;
  bool CompileToBinary(void* buf, size_t* size) override;
  bool Run() override;
  /// Hands a run on the tensors' memory to the devices, behind those of
  /// `after`, however they end.  Null, and nothing was done, where that takes a
  /// thread, a copy or a wait, or fails: Run() does it then, or tells why not.
  /// Until the run has ended the graph and its tensors must not be used.
  std::shared_ptr<runtime::RunEvent> TryStart(
      std::vector<std::shared_ptr<runtime::RunEvent>> after);
  /// Graph::Dump().
  bool DumpTo(const std::string& directory, const std::string& names);
  /// Graph::RunAsync().
  RunEvent Start(const std::vector<const void*>& inputs,
                 const std::vector<void*>& outputs);
  /// Graph::Profile().
  GraphProfile ProfileRuns(int runs);
  /// The division of the compiled graph, as tim/vx/placement.h tells it.
  Result<std::string> PartitionJson() const;
  const Tensors InputsTensor() const override { return inputs_; }
  const Tensors OutputsTensor() const override { return outputs_; }
  void UpdateTensorConsumersMap(const std::shared_ptr<Tensor>& tensor,
                                const Operation* op) override;
  void RenewTensorConsumersMap(const std::shared_ptr<Tensor>& org_tensor,
                               const std::shared_ptr<Tensor>& dst_tensor,
                               const Operation* op) override;
  void UpdateTensorProducerMap(const std::shared_ptr<Tensor>& tensor,
                               const Operation* op) override;
  const Operations GetConsumersOp(
      std::shared_ptr<Tensor> tensor) const override;
  std::shared_ptr<Operation> GetProducerOp(
      std::shared_ptr<Tensor> tensor) override;
  void PrintGraph() const override;
  Operations& OpVector() override { return op_vector_; }
  std::map<std::shared_ptr<Tensor>, Operations>& TensorConsumer() override {
    return consumers_;
  }
  std::map<std::shared_ptr<Tensor>, std::shared_ptr<Operation>>&
  TensorProducer() override {
    return producers_;
  }
  std::string ErrorMessage() const override { return core_->error; }

  /// CONSTANT, on data of another graph.
  std::shared_ptr<Tensor> CreateConstant(
      const TensorSpec& spec, std::shared_ptr<const ir::ConstantData> data);
  /// For an executor whose graphs have the context `on`: what CompileToBinary()
  /// would write, compiled for the devices of `on`, and not for the graph's
  /// own. A failure is reported, as one of CompileToBinary().  Where `on`
  /// chooses devices by node, as contexts of tests do, it is not compiled yet.
  Result<LocalBinary> CompileFor(const ContextState& on);
  /// Before the first Compile().
  void SetReady(ReadyNbg ready) { ready_ = std::move(ready); }
  /// What made the graph has failed: Compile() and Run() do so for this reason.
  void Refuse(const Status& reason);

  const std::shared_ptr<GraphCore>& core() const override { return core_; }
  /// Null before a successful Compile().
  const CompiledGraph* compiled() const { return compiled_.get(); }
  void Release(const void* memory) override {
    if (compiled_ != nullptr) compiled_->Release(memory);
  }

 private:
  std::shared_ptr<Tensor> Register(std::shared_ptr<TensorImpl> tensor);
  std::shared_ptr<Operation> Find(const Operation* op) const;
  Status CompileIfChanged();
  Status DumpRun(const DumpOptions& options);
  /// After a run that failed: OUTPUT tensors have no content.
  void LoseOutputs();
  Status CompileNow();
  /// With texts of files, of which those that do not build are left out, with a
  /// warning: what was compiled before stays then, where it still fits.
  Status CompileWithFiles(KernelFiles& files);
  /// Ok where nothing forbids to compile it now.
  Status CheckCompilable() const;
  Status CheckNotEmpty() const;
  /// A part of Compile(), whose failure may be final.
  Status CompileBy(const std::function<Status()>& part);
  /// The first half of Compile(), into inferred_.
  Status InferIfChanged();
  Status InferNow();
  Result<LocalBinary> MakeLocal(const ContextState& on);
  bool IsCurrent(const GraphRevision& revision) const;
  void WarnThatNothingIsDone() const;
  Result<RunEvent> StartRun(const std::vector<const void*>& inputs,
                            const std::vector<void*>& outputs);
  Status ProfileTo(int runs, GraphProfile* profile);
  bool IsCompiled() const;
  /// Nothing is to be done: what a client reads is what it has written.
  bool IsItsInputs() const;
  Status WriteBinary(void* buf, size_t* size);

  std::shared_ptr<GraphCore> core_;
  Tensors inputs_;
  Tensors outputs_;
  std::shared_ptr<Tensor> place_holder_;
  std::map<std::shared_ptr<Tensor>, Operations> consumers_;
  std::map<std::shared_ptr<Tensor>, std::shared_ptr<Operation>> producers_;
  std::unique_ptr<CompiledGraph> compiled_;
  /// Null, or of a graph that was not compiled since.
  std::unique_ptr<InferredSource> inferred_;
  ReadyNbg ready_;
  Status refused_;  ///< Of Refuse().
  Status failure_;  ///< Of a Compile() that failed for good.
  bool compiling_ = false;
};

/// The plan of a compiled graph, null where it is not compiled.
const ir::Plan* CompiledPlan(const Graph& graph);

}  // namespace tim::vx

#endif  // TIM_VX_GRAPH_GRAPH_IMPL_H_
