// Builds nodes of the inner graph; the one place where the order of dims, axes
// and permutations is turned.
#include "graph_api/lowering.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/checked_math.h"
#include "compiler/compiler.h"
#include "ops/builtin.h"
#include "ops/registered.h"

namespace tim::graph {
namespace {

using ir::DataType;

// Constants of more equal elements are one element that is repeated.
constexpr int64_t kMostFilled = 4096;

struct TypePair {
  tim_graph_data_type_t type;
  DataType inner;
};

constexpr std::array kInnerTypes = {
    TypePair{tim_graph_f16, DataType::kFloat16},
    TypePair{tim_graph_bf16, DataType::kBFloat16},
    TypePair{tim_graph_f32, DataType::kFloat32},
    TypePair{tim_graph_s32, DataType::kInt32},
    TypePair{tim_graph_s8, DataType::kInt8},
    TypePair{tim_graph_u8, DataType::kUint8},
    TypePair{tim_graph_boolean, DataType::kBool8},
    TypePair{tim_graph_s4, DataType::kInt4},
    TypePair{tim_graph_u4, DataType::kUint4},
    TypePair{tim_graph_s64, DataType::kInt64},
    // Bytes, which Quantize and Dequantize know the meaning of.
    TypePair{tim_graph_f8_e5m2, DataType::kUint8},
    TypePair{tim_graph_f8_e4m3, DataType::kUint8},
};

std::string TextOf(const Dims& dims) {
  return StrCat("{", StrJoin(dims, ", "), "}");
}

// A scalar is [1] in memory.
ir::Shape InnerShape(const Dims& dims) {
  return dims.empty() ? ir::Shape({1}) : ir::Shape(Reversed(dims));
}

ir::Quantization InnerQuantization(ir::Quantization quantization,
                                   int64_t rank) {
  if (quantization.per_channel()) {
    quantization.axis = static_cast<int>(InnerAxis(quantization.axis, rank));
  }
  return quantization;
}

Tensor TensorOf(const ir::Value& value, ir::ValueId id) {
  return {.id = id,
          .dims = value.is_scalar ? Dims() : Reversed(value.desc.shape.dims()),
          .type = value.desc.type};
}

// A graph of one node, so that the compiler's own inference tells its outputs.
class NodeProbe {
 public:
  NodeProbe(const ir::Graph& graph, const ir::Node& node)
      : graph_(graph.name()), node_(node) {
    for (ir::ValueId& id : node_.inputs) {
      if (id != ir::kNone) id = AddInput(graph.value(id));
    }
  }

  Status Infer(const std::vector<ir::TensorDesc>& outputs) {
    for (const ir::TensorDesc& desc : outputs) {
      node_.outputs.push_back(graph_.AddValue(desc));
      graph_.AddOutput(node_.outputs.back());
    }
    id_ = graph_.AddNode(node_);
    return compiler::InferGraph(&graph_, ops::KnownOperators());
  }

  const ir::Node& node() const { return graph_.node(id_); }
  const ir::Value& output(size_t index) const {
    return graph_.value(graph_.outputs()[index]);
  }

 private:
  ir::ValueId AddInput(const ir::Value& value) {
    ir::ValueId id = ir::kNone;
    if (value.constant != nullptr) {
      id = graph_.AddConstant(value.desc, value.constant, value.name);
    } else {
      id = graph_.AddValue(value.desc, ir::Role::kInput, value.name);
      graph_.AddInput(id);
    }
    graph_.value(id).is_scalar = value.is_scalar;
    return id;
  }

  ir::Graph graph_;
  ir::Node node_;
  ir::NodeId id_ = ir::kNone;
};

// Operators that do not tell the type of an output are given the first input's.
Result<NodeProbe> Probe(const ir::Graph& graph, const ir::Node& node,
                        std::vector<ir::TensorDesc> outputs) {
  NodeProbe probe(graph, node);
  Status status = probe.Infer(outputs);
  const bool open = std::any_of(outputs.begin(), outputs.end(),
                                [](const ir::TensorDesc& desc) {
                                  return desc.type == DataType::kUnknown;
                                });
  if (status.ok()) return probe;
  if (!open || node.inputs.empty() || node.inputs[0] == ir::kNone) {
    return status;
  }
  const DataType type = graph.value(node.inputs[0]).desc.type;
  for (ir::TensorDesc& desc : outputs) {
    if (desc.type == DataType::kUnknown) desc.type = type;
  }
  NodeProbe again(graph, node);
  TIM_RETURN_IF_ERROR(again.Infer(outputs));
  return again;
}

template <typename T>
Result<Tensor> AddConstant(ir::Graph& graph, const std::string& name,
                           DataType type, const std::vector<T>& values,
                           const Dims& dims) {
  ir::TensorDesc desc;
  desc.type = type;
  desc.shape = InnerShape(dims);
  const auto count = desc.shape.NumElements();
  if (!count || *count != static_cast<int64_t>(values.size())) {
    return TIM_INTERNAL("a constant of dims ", TextOf(dims), " was given ",
                        values.size(), " values");
  }
  const ir::ValueId id = graph.AddConstant(
      desc, ir::MakeConstant(values.data(), values.size() * sizeof(T)), name);
  graph.value(id).is_scalar = dims.empty();
  return Tensor{.id = id, .dims = dims, .type = type};
}

}  // namespace

ir::DataType InnerType(tim_graph_data_type_t type) {
  const auto found =
      std::find_if(kInnerTypes.begin(), kInnerTypes.end(),
                   [&](const TypePair& pair) { return pair.type == type; });
  return found == kInnerTypes.end() ? DataType::kUnknown : found->inner;
}

Result<int64_t> PositiveAxis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  if (rank == 0) return InvalidArgument("axis ", axis, " of a scalar");
  return InvalidArgument("axis ", axis, " is outside of ", -rank, " to ",
                         rank - 1);
}

Tensor Lowering::input(size_t index) const {
  return index < inputs_.size() ? inputs_[index] : Tensor();
}

ir::DataType Lowering::output_type(size_t index) const {
  return index < output_types_.size() ? output_types_[index]
                                      : DataType::kUnknown;
}

bool Lowering::wants_output(size_t index) const {
  return index < output_types_.size();
}

void Lowering::SetOutput(size_t index, Tensor tensor) {
  if (!wants_output(index)) return;
  if (outputs_.size() <= index) outputs_.resize(index + 1);
  outputs_[index] = std::move(tensor);
}

Result<Tensor> Lowering::Add(std::string_view op,
                             const std::vector<Tensor>& inputs,
                             ir::AttributeMap attributes,
                             const Wanted& wanted) {
  TIM_ASSIGN_OR_RETURN(std::vector<Tensor> made,
                       AddMany(op, inputs, std::move(attributes), {wanted}));
  return std::move(made[0]);
}

Result<std::vector<Tensor>> Lowering::AddMany(
    std::string_view op, const std::vector<Tensor>& inputs,
    ir::AttributeMap attributes, const std::vector<Wanted>& wanted) {
  ir::Node node;
  const bool has_domain = op.find('.') != std::string_view::npos;
  node.schema = has_domain ? ops::KnownOperators().Find(op)
                           : ops::BuiltinOperators().Find(StrCat("tim.", op));
  if (node.schema == nullptr) {
    return Unimplemented("there is no operator ", has_domain ? "" : "tim.", op);
  }
  // Operations may have equal names, nodes have not.
  node.name = StrCat(op_ != nullptr ? op_->name : "", "/", op, "#",
                     graph_->node_id_limit());
  node.attributes = std::move(attributes);
  for (const Tensor& input : inputs) node.inputs.push_back(input.id);
  const int64_t rank = inputs.empty() ? 0 : inputs[0].rank();
  std::vector<ir::TensorDesc> outputs;
  for (const Wanted& output : wanted) {
    outputs.emplace_back().type = output.type;
    outputs.back().quantization = InnerQuantization(output.quantization, rank);
  }
  TIM_ASSIGN_OR_RETURN(const NodeProbe probe,
                       Probe(*graph_, node, std::move(outputs)));
  node.attributes = probe.node().attributes;
  std::vector<Tensor> made;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const ir::Value& value = probe.output(i);
    if (!value.desc.shape.IsStatic()) {
      return Unimplemented(node.name, ": output ", i, " has the shape ",
                           value.desc.shape.ToString(),
                           ", which is not known before it runs");
    }
    const ir::ValueId id = graph_->AddValue(value.desc);
    graph_->value(id).is_scalar = value.is_scalar;
    node.outputs.push_back(id);
    made.push_back(TensorOf(value, id));
  }
  graph_->AddNode(std::move(node));
  return made;
}

Result<Tensor> Lowering::Constant(const Floats& values, const Dims& dims) {
  return AddConstant(*graph_, op_ != nullptr ? op_->name : "",
                     DataType::kFloat32, values, dims);
}

Result<Tensor> Lowering::Constant(const std::vector<int32_t>& values,
                                  const Dims& dims) {
  return AddConstant(*graph_, op_ != nullptr ? op_->name : "", DataType::kInt32,
                     values, dims);
}

Result<Tensor> Lowering::Filled(double value, const Dims& dims,
                                ir::DataType type) {
  const auto count = InnerShape(dims).NumElements();
  if (!count) {
    return InvalidArgument("a tensor of dims ", TextOf(dims),
                           " has more than 2^63 elements");
  }
  const bool repeated = *count > kMostFilled;
  const Dims ones(dims.size(), 1);
  const size_t values = repeated ? 1 : static_cast<size_t>(*count);
  Tensor made;
  if (type == DataType::kInt32) {
    TIM_ASSIGN_OR_RETURN(
        made, Constant(std::vector(values, static_cast<int32_t>(value)),
                       repeated ? ones : dims));
  } else {
    TIM_ASSIGN_OR_RETURN(made,
                         Constant(Floats(values, static_cast<float>(value)),
                                  repeated ? ones : dims));
    TIM_ASSIGN_OR_RETURN(made, Cast(made, type));
  }
  return Broadcast(made, dims);
}

Result<Tensor> Lowering::Reshape(const Tensor& tensor, const Dims& dims) {
  if (tensor.dims == dims) return tensor;
  TIM_ASSIGN_OR_RETURN(Tensor made, Add("Reshape", {tensor},
                                        {{"shape", InnerShape(dims).dims()}}));
  if (dims.empty()) {
    graph_->value(made.id).is_scalar = true;
    made.dims = {};
  }
  return made;
}

Result<Tensor> Lowering::Transpose(const Tensor& tensor,
                                   const std::vector<int64_t>& order) {
  if (std::is_sorted(order.begin(), order.end())) return tensor;
  const auto rank = static_cast<int64_t>(order.size());
  std::vector<int64_t> perm;
  for (int64_t i = rank - 1; i >= 0; --i) {
    perm.push_back(InnerAxis(order[static_cast<size_t>(i)], rank));
  }
  return Add("Transpose", {tensor}, {{"perm", std::move(perm)}});
}

Result<Tensor> Lowering::Cast(const Tensor& tensor, ir::DataType type) {
  if (tensor.type == type) return tensor;
  // Cast truncates what DataConvert rounds.
  const bool rounds = ir::IsFloat(tensor.type) && ir::IsInteger(type);
  return Add(rounds ? "DataConvert" : "Cast", {tensor}, {}, {.type = type});
}

Result<Tensor> Lowering::Broadcast(const Tensor& tensor, const Dims& dims) {
  if (tensor.dims == dims) return tensor;
  if (dims.empty()) return Reshape(tensor, dims);
  TIM_ASSIGN_OR_RETURN(Tensor made,
                       Add("Broadcast", {tensor}, {{"shape", Reversed(dims)}}));
  if (made.dims == dims) return made;
  return InvalidArgument("dims ", TextOf(tensor.dims),
                         " cannot be broadcast to ", TextOf(dims));
}

}  // namespace tim::graph
