// The graph that clients build.
#ifndef TIM_VX_GRAPH_GRAPH_IMPL_H_
#define TIM_VX_GRAPH_GRAPH_IMPL_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/plan.h"
#include "tim/vx/compile_option.h"
#include "tim/vx/graph.h"
#include "vx/core/graph_core.h"
#include "vx/graph/compiled_graph.h"
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
  /// Graph::RunAsync().
  RunEvent Start(const std::vector<const void*>& inputs,
                 const std::vector<void*>& outputs);
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
  Status CompileNow();
  Result<RunEvent> StartRun(const std::vector<const void*>& inputs,
                            const std::vector<void*>& outputs);
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
  Status refused_;  ///< Of Refuse().
  Status failure_;  ///< Of a Compile() that failed for good.
  bool compiling_ = false;
  size_t compiled_tensors_ = 0;  ///< INPUT and OUTPUT, by the last Compile().
};

/// The plan of a compiled graph, null where it is not compiled.
const ir::Plan* CompiledPlan(const Graph& graph);

}  // namespace tim::vx

#endif  // TIM_VX_GRAPH_GRAPH_IMPL_H_
