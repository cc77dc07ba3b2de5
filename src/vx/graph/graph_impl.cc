// Tensors of a graph, and who reads and writes them.
#include "vx/graph/graph_impl.h"

#include <algorithm>
#include <atomic>

#include "base/options.h"
#include "tim/vx/operation.h"
#include "vx/core/failure.h"
#include "vx/tensor/place_holder.h"

namespace tim::vx {
namespace {

std::string NextName() {
  static constinit std::atomic<int> count{0};
  return StrCat("g", ++count);
}

bool IsInputOrOutput(const TensorSpec& spec) {
  return spec.attr_ == INPUT || spec.attr_ == OUTPUT;
}

}  // namespace

GraphImpl::GraphImpl(std::shared_ptr<const ContextState> context,
                     const CompileOption& options)
    : core_(std::make_shared<GraphCore>()),
      place_holder_(std::make_shared<PlaceHolder>()) {
  core_->name = NextName();
  core_->graph = this;
  core_->context = std::move(context);
  core_->options = options;
  const std::string& folder = GetOptions().kernel_override;
  if (!folder.empty()) {
    core_->kernel_files = std::make_unique<KernelFiles>(folder);
  }
}

GraphImpl::~GraphImpl() { core_->graph = nullptr; }

const ir::Plan* CompiledPlan(const Graph& graph) {
  const auto* made = dynamic_cast<const GraphImpl*>(&graph);
  if (made == nullptr || made->compiled() == nullptr) return nullptr;
  return &made->compiled()->plan();
}

std::shared_ptr<Tensor> GraphImpl::Register(
    std::shared_ptr<TensorImpl> tensor) {
  if (!tensor->problem().ok()) return tensor;
  if (tensor->attribute() == INPUT) inputs_.push_back(tensor);
  if (tensor->attribute() == OUTPUT) outputs_.push_back(tensor);
  return tensor;
}

std::shared_ptr<Tensor> GraphImpl::CreateTensor(const TensorSpec& spec,
                                                const void* data) {
  return Register(TensorImpl::Create(core_, spec, data));
}

std::shared_ptr<Tensor> GraphImpl::CreateTensor(const TensorSpec& spec,
                                                const DmaBufferDesc& dmafd) {
  if (!IsInputOrOutput(spec)) return CreateTensor(spec, nullptr);
  return Register(TensorImpl::CreateOnDmaBuffer(core_, spec, dmafd.fd));
}

std::shared_ptr<Tensor> GraphImpl::CreateIOTensor(const TensorSpec& spec,
                                                  void* data) {
  if (!IsInputOrOutput(spec)) {
    return TensorImpl::CreateUnusable(
        core_, spec,
        InvalidArgument("CreateIOTensor() makes INPUT and OUTPUT tensors "
                        "only, the attribute is ",
                        static_cast<int>(spec.attr_)));
  }
  if (data == nullptr) return CreateTensor(spec, nullptr);
  return Register(TensorImpl::CreateOn(core_, spec, data));
}

std::shared_ptr<Tensor> GraphImpl::CreateConstant(
    const TensorSpec& spec, std::shared_ptr<const ir::ConstantData> data) {
  return TensorImpl::CreateConstant(core_, spec, std::move(data));
}

std::shared_ptr<Tensor> GraphImpl::CreateTensorPlaceHolder() {
  return place_holder_;
}

// Most bindings follow the creation of their operation.
std::shared_ptr<Operation> GraphImpl::Find(const Operation* op) const {
  const auto found =
      std::find_if(op_vector_.rbegin(), op_vector_.rend(),
                   [op](const auto& known) { return known.get() == op; });
  return found != op_vector_.rend() ? *found : nullptr;
}

void GraphImpl::UpdateTensorConsumersMap(const std::shared_ptr<Tensor>& tensor,
                                         const Operation* op) {
  const auto known = Find(op);
  if (known != nullptr && tensor != nullptr) {
    consumers_[tensor].push_back(known);
  }
}

void GraphImpl::RenewTensorConsumersMap(
    const std::shared_ptr<Tensor>& org_tensor,
    const std::shared_ptr<Tensor>& dst_tensor, const Operation* op) {
  const auto known = Find(op);
  const auto entry = consumers_.find(org_tensor);
  if (known != nullptr && entry != consumers_.end()) {
    std::erase(entry->second, known);
    if (entry->second.empty()) consumers_.erase(entry);
  }
  UpdateTensorConsumersMap(dst_tensor, op);
}

void GraphImpl::UpdateTensorProducerMap(const std::shared_ptr<Tensor>& tensor,
                                        const Operation* op) {
  const auto known = Find(op);
  if (known != nullptr && tensor != nullptr) producers_[tensor] = known;
}

const Operations GraphImpl::GetConsumersOp(
    std::shared_ptr<Tensor> tensor) const {
  const auto entry = consumers_.find(tensor);
  return entry != consumers_.end() ? entry->second : Operations();
}

std::shared_ptr<Operation> GraphImpl::GetProducerOp(
    std::shared_ptr<Tensor> tensor) {
  const auto entry = producers_.find(tensor);
  return entry != producers_.end() ? entry->second : nullptr;
}

}  // namespace tim::vx
