// Asks the caller for what becomes of a node that the library does not take.
#include <utility>

#include "base/guarded.h"
#include "models/onnx/importer.h"
#include "tim/vx/infer.h"

namespace tim::models::onnx {
namespace {

Result<SuppliedNode> Describe(const Node& node, GraphBuilder* builder) {
  SuppliedNode supplied;
  supplied.name = node.name;
  supplied.op =
      node.domain.empty() ? node.op : StrCat(node.domain, ".", node.op);
  for (const auto& [name, attribute] : node.attributes) {
    if (const auto* i = std::get_if<int64_t>(&attribute)) {
      supplied.ints[name] = {*i};
    } else if (const auto* is = std::get_if<std::vector<int64_t>>(&attribute)) {
      supplied.ints[name] = *is;
    } else if (const auto* f = std::get_if<float>(&attribute)) {
      supplied.floats[name] = {*f};
    } else if (const auto* fs = std::get_if<std::vector<float>>(&attribute)) {
      supplied.floats[name].assign(fs->begin(), fs->end());
    } else if (const auto* s = std::get_if<std::string>(&attribute)) {
      supplied.texts[name] = {*s};
    } else if (const auto* ss =
                   std::get_if<std::vector<std::string>>(&attribute)) {
      supplied.texts[name] = *ss;
    }
  }
  for (const Value& input : node.inputs) {
    std::shared_ptr<vx::Tensor> tensor;
    if (!input.IsAbsent()) {
      TIM_ASSIGN_OR_RETURN(tensor, builder->TensorOf(input));
    }
    supplied.inputs.push_back(std::move(tensor));
  }
  supplied.output_count = node.wanted_outputs.size();
  return supplied;
}

Result<Value> ValueOf(const std::shared_ptr<vx::Tensor>& tensor) {
  Value value;
  value.tensor = tensor;
  value.type = tensor->GetDataType();
  value.dims = ModelDims(tensor->GetShape());
  value.quantization = tensor->GetQuantization();
  if (value.dims.empty() || ByteSizeOf(value.type, value.dims) <= 0) {
    return InvalidArgument(
        "the supplier's operation does not tell the type and shape of what it "
        "writes; give them in the tensor's spec");
  }
  return value;
}

}  // namespace

Status Importer::Supply(Node* node, const Status& refusal) {
  vx::Graph& graph = *builder_->graph();
  TIM_ASSIGN_OR_RETURN(const SuppliedNode supplied, Describe(*node, builder_));
  const size_t before = graph.OpVector().size();
  TIM_ASSIGN_OR_RETURN(
      const auto tensors,
      GuardedCall([&]() -> Result<std::vector<std::shared_ptr<vx::Tensor>>> {
        return options_.supplier(graph, supplied);
      }));
  if (tensors.empty()) return refusal;
  if (tensors.size() != supplied.output_count) {
    return InvalidArgument("the supplier made ", tensors.size(),
                           " tensors, the node has ", supplied.output_count,
                           " outputs");
  }
  for (size_t i = before; i < graph.OpVector().size(); ++i) {
    if (!vx::InferOutputs(graph.OpVector()[i])) {
      return InvalidArgument("the supplier's operation: ", vx::LastError());
    }
  }
  node->outputs.clear();
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!node->Wants(i)) {
      node->outputs.emplace_back();
      continue;
    }
    if (tensors[i] == nullptr) {
      return InvalidArgument("the supplier made no tensor for output ", i);
    }
    TIM_ASSIGN_OR_RETURN(Value value, ValueOf(tensors[i]));
    node->outputs.push_back(std::move(value));
  }
  return OkStatus();
}

}  // namespace tim::models::onnx
