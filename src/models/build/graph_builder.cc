// Makes tensors and operations of a model's values and nodes.
#include "models/build/graph_builder.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "models/build/constant_values.h"
#include "tim/vx/error.h"
#include "tim/vx/infer.h"
#include "tim/vx/ops/reshape.h"
#include "tim/vx/ops/simple_operations.h"
#include "tim/vx/ops/transpose.h"
#include "tim/vx/shared_constant.h"

namespace tim::models {
namespace {

using vx::DataType;
using Tensors = std::vector<std::shared_ptr<vx::Tensor>>;

constexpr size_t kMostDims = 8;

// Bounds of what a tensor of the graph can have.
Status CheckDims(const Dims& dims) {
  if (dims.size() > kMostDims) {
    return Unimplemented("[", StrJoin(dims, ","), "] has ", dims.size(),
                         " dimensions; at most ", kMostDims, " are taken");
  }
  for (const int64_t extent : dims) {
    if (extent > 0 && extent <= std::numeric_limits<uint32_t>::max()) continue;
    return Unimplemented("[", StrJoin(dims, ","), "]: an extent of ", extent,
                         " is not taken");
  }
  return OkStatus();
}

Result<vx::TensorSpec> SpecOf(DataType type, const Dims& dims,
                              vx::TensorAttribute attribute,
                              const vx::Quantization& quantization,
                              const std::string& name) {
  TIM_RETURN_IF_ERROR(CheckDims(dims));
  vx::TensorSpec spec(type, GraphShape(dims), attribute, quantization);
  spec.SetName(name);
  return spec;
}

// Takes what was added behind `count` operations out of the graph again, as one
// that cannot be would fail Compile().  It reads and writes these tensors.
void RemoveOperations(vx::Graph& graph, size_t count, const Tensors& read,
                      const Tensors& written) {
  auto& operations = graph.OpVector();
  const auto is_removed = [&](const std::shared_ptr<vx::Operation>& one) {
    return std::find(operations.begin() + static_cast<ptrdiff_t>(count),
                     operations.end(), one) != operations.end();
  };
  auto& consumers = graph.TensorConsumer();
  for (const auto& tensor : read) {
    const auto readers = consumers.find(tensor);
    if (readers == consumers.end()) continue;
    std::erase_if(readers->second, is_removed);
    if (readers->second.empty()) consumers.erase(readers);
  }
  for (const auto& tensor : written) graph.TensorProducer().erase(tensor);
  operations.resize(count);
}

// Whether the operation's own rule tells what `wanted` leaves open.
bool NeedsInference(const std::vector<Wanted>& wanted) {
  return std::any_of(wanted.begin(), wanted.end(), [](const Wanted& one) {
    return !one.has_dims || one.type == DataType::UNKNOWN;
  });
}

Value ResultOf(const Wanted& wanted, const std::shared_ptr<vx::Tensor>& made) {
  Value value;
  value.tensor = made;
  value.type =
      wanted.type == DataType::INT64 ? DataType::INT64 : made->GetDataType();
  value.quantization = made->GetQuantization();
  if (wanted.has_dims) {
    value.dims = wanted.dims;
  } else if (!made->IsScalar()) {
    value.dims = ModelDims(made->GetShape());
  }
  return value;
}

}  // namespace

struct GraphBuilder::Constants {
  struct Entry {
    std::shared_ptr<const void> data;
    vx::Quantization quantization;
    std::shared_ptr<vx::Tensor> tensor;
  };
  std::map<std::tuple<const void*, DataType, Dims>, std::vector<Entry>> known;
};

GraphBuilder::GraphBuilder(std::shared_ptr<vx::Graph> graph,
                           SourceRecorder* recorder,
                           std::shared_ptr<vx::Context> context)
    : graph_(std::move(graph)),
      recorder_(recorder),
      constants_(std::make_shared<Constants>()),
      context_(std::move(context)) {}

void GraphBuilder::SetName(Value* value, const std::string& name) const {
  value->name = name;
  if (value->tensor == nullptr) return;
  vx::TensorSpec& spec = value->tensor->GetSpec();
  if (spec.GetName().empty()) spec.SetName(name);
  if (recorder_ != nullptr) recorder_->NameTensor(*value->tensor, name);
}

void GraphBuilder::SetQuantization(Value* input,
                                   const vx::Quantization& quantization) const {
  input->quantization = quantization;
  input->tensor->GetSpec().SetQuantization(quantization);
  if (recorder_ != nullptr) {
    recorder_->QuantizeTensor(*input->tensor, quantization);
  }
}

Result<std::shared_ptr<vx::Tensor>> GraphBuilder::MakeTensor(
    const vx::TensorSpec& spec, bool is_scalar) {
  auto tensor = graph_->CreateTensor(spec);
  if (tensor->GetId() == std::numeric_limits<uint32_t>::max()) {
    return InvalidArgument(vx::LastError());
  }
  if (is_scalar) tensor->SetScalar(1);
  if (is_inner_) own_.insert(tensor.get());
  if (recorder_ != nullptr) recorder_->AddTensor(*tensor, spec, nullptr);
  return tensor;
}

Result<std::shared_ptr<vx::Tensor>> GraphBuilder::MakeConstant(
    const vx::TensorSpec& spec, const HostArray& array) {
  auto tensor = vx::CreateSharedConstant(graph_, spec, array.data);
  if (tensor->GetId() == std::numeric_limits<uint32_t>::max()) {
    return InvalidArgument(vx::LastError());
  }
  if (array.dims.empty()) tensor->SetScalar(1);
  if (is_inner_) own_.insert(tensor.get());
  if (recorder_ != nullptr) recorder_->AddTensor(*tensor, spec, array.data);
  return tensor;
}

Result<Value> GraphBuilder::AddInput(const std::string& name, DataType type,
                                     const Dims& dims,
                                     const vx::Quantization& quantization) {
  TIM_ASSIGN_OR_RETURN(const vx::TensorSpec spec,
                       SpecOf(type, dims, vx::INPUT, quantization, name));
  Value value;
  value.name = name;
  value.type = type;
  value.dims = dims;
  value.quantization = quantization;
  TIM_ASSIGN_OR_RETURN(value.tensor, MakeTensor(spec, dims.empty()));
  inputs_.push_back({name, type, dims, value.tensor});
  if (type != DataType::INT64) return value;
  TIM_ASSIGN_OR_RETURN(Value narrow,
                       Add<vx::ops::Cast>({value}, Wanted::Of(type, dims)));
  narrow.name = name;
  return narrow;
}

Status GraphBuilder::AddOutput(const std::string& name, const Value& value) {
  if (value.IsAbsent()) return InvalidArgument("the output is absent");
  TIM_ASSIGN_OR_RETURN(
      const vx::TensorSpec spec,
      SpecOf(value.type, value.dims, vx::OUTPUT, value.quantization, name));
  const bool is_wide = value.type == DataType::INT64;
  std::shared_ptr<vx::Tensor> from;
  if (is_wide && value.constant != nullptr) {
    vx::TensorSpec constant = spec;
    constant.SetAttribute(vx::CONSTANT);
    TIM_ASSIGN_OR_RETURN(from, MakeConstant(constant, *value.constant));
  } else {
    TIM_ASSIGN_OR_RETURN(from, TensorOf(value));
  }
  TIM_ASSIGN_OR_RETURN(const std::shared_ptr<vx::Tensor> output,
                       MakeTensor(spec, value.dims.empty()));
  const bool casts = is_wide && value.constant == nullptr;
  std::shared_ptr<vx::Operation> operation;
  std::string call;
  if (casts) {
    operation = graph_->CreateOperation<vx::ops::Cast>();
    if (recorder_ != nullptr) call = CallText<vx::ops::Cast>();
  } else {
    operation = graph_->CreateOperation<vx::ops::Reshape>(spec.shape_);
    if (recorder_ != nullptr) call = CallText<vx::ops::Reshape>(spec.shape_);
  }
  operation->BindInput(from).BindOutput(output);
  operation->SetInstanceName(name);
  if (recorder_ != nullptr) {
    recorder_->AddOperation(call, {from}, {output}, name);
  }
  outputs_.push_back({name, value.type, value.dims, output});
  return OkStatus();
}

Value GraphBuilder::Constant(HostArray array, const std::string& name,
                             const vx::Quantization& quantization) const {
  Value value;
  value.name = name;
  value.type = array.type;
  value.dims = array.dims;
  value.quantization = quantization;
  value.constant = std::make_shared<const HostArray>(std::move(array));
  return value;
}

Result<std::shared_ptr<vx::Tensor>> GraphBuilder::TensorOf(const Value& value) {
  if (value.tensor != nullptr) {
    return is_inner_ ? OwnTensorOf(value) : value.tensor;
  }
  if (value.constant == nullptr) {
    return InvalidArgument("an operand that is needed is absent");
  }
  const HostArray& array = *value.constant;
  TIM_RETURN_IF_ERROR(CheckWhole(array));
  TIM_ASSIGN_OR_RETURN(const vx::TensorSpec spec,
                       SpecOf(GraphType(value.type), value.dims, vx::CONSTANT,
                              value.quantization, value.name));
  auto& entries = constants_->known[{array.data.get(), value.type, value.dims}];
  for (const Constants::Entry& entry : entries) {
    if (entry.quantization == value.quantization) return entry.tensor;
  }
  HostArray kept = array;
  kept.dims = value.dims;
  if (value.type == DataType::INT64) {
    TIM_ASSIGN_OR_RETURN(kept, Narrowed(kept));
  }
  TIM_ASSIGN_OR_RETURN(std::shared_ptr<vx::Tensor> tensor,
                       MakeConstant(spec, kept));
  entries.push_back({array.data, value.quantization, tensor});
  return tensor;
}

Status GraphBuilder::MakeTensors(const std::vector<Value>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].IsAbsent()) continue;
    const auto tensor = TensorOf(inputs[i]);
    if (tensor.ok()) continue;
    const std::string& name = inputs[i].name;
    return tensor.status().WithContext(StrCat("operand ", i,
                                              name.empty() ? "" : " '", name,
                                              name.empty() ? "" : "'"));
  }
  return OkStatus();
}

Result<std::vector<Value>> GraphBuilder::AddMade(
    const std::shared_ptr<vx::Operation>& operation,
    const std::vector<Value>& inputs, const std::vector<Wanted>& wanted,
    const std::string& call) {
  const Status status = MakeTensors(inputs);
  if (status.ok()) return Finish(operation, inputs, wanted, call);
  RemoveOperations(*graph_, graph_->OpVector().size() - 1, {}, {});
  return status;
}

Result<std::vector<Value>> GraphBuilder::Finish(
    const std::shared_ptr<vx::Operation>& operation,
    const std::vector<Value>& inputs, const std::vector<Wanted>& wanted,
    const std::string& call) {
  const size_t before = graph_->OpVector().size() - 1;
  Tensors read;
  Tensors written;
  const auto fail = [&](const Status& status) {
    RemoveOperations(*graph_, before, read, written);
    return status;
  };
  operation->SetInstanceName(node_);
  for (const Value& input : inputs) {
    if (input.IsAbsent()) {
      read.push_back(graph_->CreateTensorPlaceHolder());
      continue;
    }
    TIM_ASSIGN_OR_RETURN(auto tensor, TensorOf(input));
    read.push_back(std::move(tensor));
  }
  while (!read.empty() && read.back()->IsPlaceHolder()) read.pop_back();
  for (const Wanted& one : wanted) {
    vx::TensorSpec spec(GraphType(one.type), {}, vx::TRANSIENT,
                        one.quantization);
    if (one.has_dims) {
      const Status status = CheckDims(one.dims);
      if (!status.ok()) return fail(status.WithContext("the result's shape"));
      spec.SetShape(GraphShape(one.dims));
    }
    auto tensor = MakeTensor(spec, one.has_dims && one.dims.empty());
    if (!tensor.ok()) return fail(tensor.status());
    written.push_back(*std::move(tensor));
  }
  operation->BindInputs(read).BindOutputs(written);
  if (NeedsInference(wanted) && !vx::InferOutputs(operation)) {
    return fail(InvalidArgument(vx::LastError()));
  }
  std::vector<Value> made;
  for (size_t i = 0; i < wanted.size(); ++i) {
    made.push_back(ResultOf(wanted[i], written[i]));
  }
  if (recorder_ != nullptr) {
    recorder_->AddOperation(call, read, written, node_);
  }
  return made;
}

Result<Value> GraphBuilder::Reshape(const Value& value, const Dims& dims) {
  if (value.dims == dims) return value;
  Value reshaped = value;
  reshaped.dims = dims;
  if (reshaped.ElementCount() != value.ElementCount() ||
      value.ElementCount() < 0) {
    return InvalidArgument(Describe(value), " cannot become [",
                           StrJoin(dims, ","),
                           "]: as many elements are needed");
  }
  TIM_ASSIGN_OR_RETURN(reshaped.quantization, QuantizationInDims(value, dims));
  if (value.constant != nullptr) {
    HostArray array = *value.constant;
    array.dims = dims;
    reshaped.constant = std::make_shared<const HostArray>(std::move(array));
    reshaped.tensor = nullptr;
    return reshaped;
  }
  return Add<vx::ops::Reshape>(
      {value}, Wanted::Of(value.type, dims, reshaped.quantization),
      GraphShape(dims));
}

Result<Value> GraphBuilder::Transpose(const Value& value,
                                      const std::vector<int>& permutation) {
  const int rank = value.rank();
  std::vector<int> sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int> identity(static_cast<size_t>(rank));
  std::iota(identity.begin(), identity.end(), 0);
  if (sorted != identity) {
    return InvalidArgument("[", StrJoin(permutation, ","), "] is no order of ",
                           rank, " axes");
  }
  if (permutation == identity) return value;
  Value moved = value;
  std::vector<uint32_t> graph_axes(permutation.size());
  for (int i = 0; i < rank; ++i) {
    const int from = permutation[static_cast<size_t>(i)];
    moved.dims[static_cast<size_t>(i)] = value.dims[static_cast<size_t>(from)];
    graph_axes[static_cast<size_t>(GraphAxis(i, rank))] =
        static_cast<uint32_t>(GraphAxis(from, rank));
  }
  int32_t& channel = moved.quantization.ChannelDim();
  const auto place = std::find(graph_axes.begin(), graph_axes.end(),
                               static_cast<uint32_t>(channel));
  if (channel >= 0 && place != graph_axes.end()) {
    channel = static_cast<int32_t>(place - graph_axes.begin());
  }
  if (value.constant != nullptr && IsSmall(*value.constant)) {
    moved.constant = std::make_shared<const HostArray>(
        Transposed(*value.constant, permutation));
    moved.tensor = nullptr;
    return moved;
  }
  return Add<vx::ops::Transpose>(
      {value}, Wanted::Of(value.type, moved.dims, moved.quantization),
      graph_axes);
}

Result<Value> GraphBuilder::Cast(const Value& value, DataType type) {
  if (value.type == type) return value;
  Value cast = value;
  cast.type = type;
  cast.quantization = {};
  if (value.constant != nullptr) {
    if (auto array = CastOf(*value.constant, type)) {
      cast.constant = std::make_shared<const HostArray>(*std::move(array));
      cast.tensor = nullptr;
      return cast;
    }
  } else if (GraphType(value.type) == GraphType(type) &&
             value.quantization.Type() == vx::QuantType::NONE) {
    return cast;
  }
  return Add<vx::ops::Cast>({value}, Wanted::Of(type, value.dims));
}

}  // namespace tim::models
