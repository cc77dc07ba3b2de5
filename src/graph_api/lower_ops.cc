// Lowers ops one after the other: types of operands, tensors without elements,
// and what clients declare of outputs.
#include "graph_api/lower_ops.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "graph_api/op_def.h"

namespace tim::graph {
namespace {

using ir::DataType;

bool IsKnown(int64_t extent) { return extent >= 0; }

std::string TextOf(const Dims& dims) {
  std::vector<std::string> texts;
  for (const int64_t extent : dims) {
    texts.push_back(IsKnown(extent) ? StrCat(extent) : "?");
  }
  return StrCat("{", StrJoin(texts, ", "), "}");
}

// What `tensor` declares holds for `dims`, as far as it is known.
Status CheckDeclared(const LogicalTensor& tensor, const Dims& dims) {
  if (tensor.ndims < 0) return OkStatus();
  const Dims declared = DimsOf(tensor);
  bool same = declared.size() == dims.size();
  for (size_t i = 0; same && i < dims.size(); ++i) {
    same = !IsKnown(declared[i]) || declared[i] == dims[i];
  }
  if (same) return OkStatus();
  return InvalidArgument("tensor ", tensor.id, " is declared with dims ",
                         TextOf(declared), ", the op gives ", TextOf(dims));
}

}  // namespace

Dims DimsOf(const LogicalTensor& tensor) {
  const int rank = std::clamp(tensor.ndims, 0, TIM_GRAPH_MAX_NDIMS);
  return {tensor.dims, tensor.dims + rank};
}

bool HasKnownDims(const LogicalTensor& tensor) {
  if (tensor.ndims < 0) return false;
  const Dims dims = DimsOf(tensor);
  return std::all_of(dims.begin(), dims.end(), IsKnown);
}

bool IsEmpty(const Dims& dims) {
  return std::find(dims.begin(), dims.end(), 0) != dims.end();
}

ir::TensorDesc InnerDesc(const LogicalTensor& tensor) {
  const Dims dims = DimsOf(tensor);
  ir::TensorDesc desc;
  desc.type = InnerType(tensor.data_type);
  desc.shape = dims.empty() ? ir::Shape({1}) : ir::Shape(Reversed(dims));
  if (ir::Info(desc.type).bits >= 8 || dims.empty() || dims.back() % 2 == 0) {
    return desc;
  }
  const auto count = desc.shape.NumElements();
  if (count && *count != dims.back()) desc.shape = ir::Shape({*count});
  return desc;
}

/// Lowers op after op in one graph.
// The op has a data format, which is NXC.
bool HasChannelsLast(const Op& op) {
  const auto format = op.attributes.find(tim_graph_op_attr_data_format);
  return format != op.attributes.end() &&
         format->second == AttributeValue(std::string("NXC"));
}

class OpLowering {
 public:
  explicit OpLowering(LoweredOps* lowered)
      : lowered_(*lowered), lowering_(&lowered->graph) {}

  Status AddInput(const LogicalTensor& tensor,
                  std::shared_ptr<const ir::ConstantData> content);
  void Declare(const LogicalTensor& tensor) { declared_[tensor.id] = &tensor; }
  Status Lower(const Op& op);

 private:
  // The op with dims of its operands as far as they are known by now.
  Op WithDims(const Op& op) const;
  Status LowerWithElements(const Op& op);
  Status LowerWithoutElements(const Op& op);
  Status PrepareOperands(const Op& op);
  Status StoreOutput(const Op& op, size_t index);
  Status CheckDims(const Op& op, size_t index, const Dims& dims) const;
  // Whether `lower` takes and gives float16 of these operands.
  bool StaysHalf(const Op& op) const;
  Result<Tensor> CastOnce(const Tensor& tensor, DataType type);

  LoweredOps& lowered_;
  Lowering lowering_;
  std::map<size_t, const LogicalTensor*> declared_;
  std::map<std::pair<ir::ValueId, DataType>, Tensor> casts_;
};

Status OpLowering::AddInput(const LogicalTensor& tensor,
                            std::shared_ptr<const ir::ConstantData> content) {
  Tensor& added = lowered_.tensors[tensor.id];
  added.dims = DimsOf(tensor);
  added.type = InnerType(tensor.data_type);
  if (added.type == DataType::kUnknown) {
    return Unimplemented("tensor ", tensor.id, " is of type ",
                         tim_graph_dt2str(tensor.data_type),
                         ", which no device takes");
  }
  if (added.rank() > ir::kMaxRank) {
    return Unimplemented("tensor ", tensor.id, " has ", added.rank(),
                         " dims, at most ", ir::kMaxRank, " are supported");
  }
  if (IsEmpty(added.dims)) return OkStatus();
  const ir::TensorDesc desc = InnerDesc(tensor);
  if (!desc.shape.NumElements()) {
    return InvalidArgument("tensor ", tensor.id, " of dims ",
                           TextOf(added.dims),
                           " has more elements than 64 bits count");
  }
  const std::string name = StrCat("tensor ", tensor.id);
  ir::Graph& graph = lowered_.graph;
  added.id = content != nullptr
                 ? graph.AddConstant(desc, std::move(content), name)
                 : graph.AddValue(desc, ir::Role::kInput, name);
  lowered_.inputs[tensor.id] = added.id;
  graph.value(added.id).is_scalar = added.dims.empty();
  if (desc.shape.rank() >= added.rank()) return OkStatus();
  // Bytes have rows of any extent.
  const Tensor row = {
      .id = added.id, .dims = desc.shape.dims(), .type = added.type};
  TIM_ASSIGN_OR_RETURN(
      const Tensor bytes,
      lowering_.Cast(row, added.type == DataType::kInt4 ? DataType::kInt8
                                                        : DataType::kUint8));
  TIM_ASSIGN_OR_RETURN(added, lowering_.Reshape(bytes, added.dims));
  return OkStatus();
}

Op OpLowering::WithDims(const Op& op) const {
  const auto set = [](LogicalTensor& tensor, const Dims& dims) {
    tensor.ndims = static_cast<int>(dims.size());
    std::copy(dims.begin(), dims.end(), tensor.dims);
  };
  Op known = op;
  for (LogicalTensor& input : known.inputs) {
    set(input, lowered_.tensors.at(input.id).dims);
  }
  for (LogicalTensor& output : known.outputs) {
    const auto declared = declared_.find(output.id);
    if (declared == declared_.end()) continue;
    const Dims dims = DimsOf(*declared->second);
    if (declared->second->ndims < 0) continue;
    if (output.ndims < 0) set(output, Dims(dims.size(), TIM_GRAPH_UNKNOWN_DIM));
    for (size_t i = 0; i < dims.size() && std::cmp_less(i, output.ndims); ++i) {
      if (!IsKnown(output.dims[i])) output.dims[i] = dims[i];
    }
  }
  return known;
}

Status OpLowering::Lower(const Op& op) {
  if (op.def == nullptr || op.def->lower == nullptr) {
    return Unimplemented("op ", op.name, ": its kind is not supported");
  }
  for (const LogicalTensor& input : op.inputs) {
    if (lowered_.tensors.count(input.id) != 0) continue;
    return InvalidArgument("op ", op.name, " reads tensor ", input.id,
                           ", which is neither given nor made before");
  }
  const Op known = WithDims(op);
  const bool empty = std::any_of(
      known.inputs.begin(), known.inputs.end(),
      [](const LogicalTensor& input) { return IsEmpty(DimsOf(input)); });
  const Status status =
      empty ? LowerWithoutElements(known) : LowerWithElements(known);
  if (status.ok()) return status;
  return status.WithContext(StrCat("op ", op.name, " (", op.def->name, ")"));
}

bool OpLowering::StaysHalf(const Op& op) const {
  if (!op.def->takes_half) return false;
  const auto half = [](const LogicalTensor& tensor) {
    return tensor.data_type == tim_graph_f16 ||
           !ir::IsFloat(InnerType(tensor.data_type));
  };
  return std::all_of(op.inputs.begin(), op.inputs.end(), half) &&
         std::all_of(op.outputs.begin(), op.outputs.end(), half);
}

Result<Tensor> OpLowering::CastOnce(const Tensor& tensor, DataType type) {
  Tensor& made = casts_[{tensor.id, type}];
  if (!made) {
    TIM_ASSIGN_OR_RETURN(made, lowering_.Cast(tensor, type));
  }
  return made;
}

Status OpLowering::PrepareOperands(const Op& op) {
  const bool as_is = op.def->moves_elements || StaysHalf(op);
  lowering_.op_ = &op;
  lowering_.inputs_.clear();
  lowering_.outputs_.clear();
  lowering_.output_types_.clear();
  for (const LogicalTensor& input : op.inputs) {
    Tensor tensor = lowered_.tensors.at(input.id);
    if (!as_is && ir::IsFloat(tensor.type) &&
        tensor.type != DataType::kFloat32) {
      if (tensor) {
        TIM_ASSIGN_OR_RETURN(tensor, CastOnce(tensor, DataType::kFloat32));
      }
      tensor.type = DataType::kFloat32;
    }
    lowering_.inputs_.push_back(std::move(tensor));
  }
  for (const LogicalTensor& output : op.outputs) {
    const DataType type = InnerType(output.data_type);
    if (type == DataType::kUnknown) {
      return Unimplemented("tensor ", output.id, " is of type ",
                           tim_graph_dt2str(output.data_type),
                           ", which no device takes");
    }
    const bool widened = !as_is && ir::IsFloat(type);
    lowering_.output_types_.push_back(widened ? DataType::kFloat32 : type);
  }
  return OkStatus();
}

Status OpLowering::CheckDims(const Op& op, size_t index,
                             const Dims& dims) const {
  const LogicalTensor& output = op.outputs[index];
  TIM_RETURN_IF_ERROR(CheckDeclared(output, dims));
  const auto declared = declared_.find(output.id);
  if (declared == declared_.end()) return OkStatus();
  return CheckDeclared(*declared->second, dims);
}

Status OpLowering::StoreOutput(const Op& op, size_t index) {
  if (index >= lowering_.outputs_.size() || !lowering_.outputs_[index]) {
    return Unimplemented("output ", index, " is not made for these shapes");
  }
  const Tensor& made = lowering_.outputs_[index];
  TIM_RETURN_IF_ERROR(CheckDims(op, index, made.dims));
  TIM_ASSIGN_OR_RETURN(
      lowered_.tensors[op.outputs[index].id],
      lowering_.Cast(made, InnerType(op.outputs[index].data_type)));
  return OkStatus();
}

Status OpLowering::LowerWithElements(const Op& op) {
  TIM_RETURN_IF_ERROR(PrepareOperands(op));
  TIM_RETURN_IF_ERROR(op.def->lower(op, lowering_));
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    TIM_RETURN_IF_ERROR(StoreOutput(op, i));
  }
  return OkStatus();
}

Status OpLowering::LowerWithoutElements(const Op& op) {
  std::vector<Dims> inputs;
  for (const LogicalTensor& input : op.inputs) inputs.push_back(DimsOf(input));
  std::vector<Dims> dims(op.outputs.size(), inputs[0]);
  if (op.def->empty_dims != nullptr) {
    TIM_ASSIGN_OR_RETURN(dims, op.def->empty_dims(op, inputs));
    if (dims.size() < op.outputs.size()) {
      return TIM_INTERNAL("dims of ", dims.size(), " outputs of ",
                          op.outputs.size());
    }
  }
  bool all_empty = true;
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    TIM_RETURN_IF_ERROR(CheckDims(op, i, dims[i]));
    all_empty = all_empty && IsEmpty(dims[i]);
    lowered_.tensors[op.outputs[i].id] = {
        .id = ir::kNone,
        .dims = dims[i],
        .type = InnerType(op.outputs[i].data_type)};
  }
  if (all_empty) return OkStatus();
  if (op.def->lower_empty == nullptr) {
    return Unimplemented("inputs without elements are not taken");
  }
  TIM_RETURN_IF_ERROR(PrepareOperands(op));
  TIM_RETURN_IF_ERROR(op.def->lower_empty(op, lowering_));
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    if (!IsEmpty(dims[i])) TIM_RETURN_IF_ERROR(StoreOutput(op, i));
  }
  return OkStatus();
}

Result<LoweredOps> LowerOps(const std::string& name, const std::vector<Op>& ops,
                            const std::vector<LogicalTensor>& inputs,
                            const std::vector<LogicalTensor>& declared,
                            const KnownInputs& known) {
  LoweredOps lowered{.graph = ir::Graph(name), .tensors = {}, .inputs = {}};
  OpLowering lowering(&lowered);
  for (const LogicalTensor& input : inputs) {
    const auto content = known.find(input.id);
    TIM_RETURN_IF_ERROR(lowering.AddInput(
        input, content != known.end() ? content->second : nullptr));
  }
  for (const LogicalTensor& tensor : declared) lowering.Declare(tensor);
  for (const Op& op : ops) TIM_RETURN_IF_ERROR(lowering.Lower(op));
  lowered.changes_axes = std::any_of(ops.begin(), ops.end(), HasChannelsLast);
  return lowered;
}

}  // namespace tim::graph
