// Finds operators by name, and gives their attributes the types that they want.
#include "values/node_state.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "compiler/compiler.h"
#include "ir/effect_order.h"
#include "ir/verify/desc_check.h"
#include "ops/registered.h"
#include "values/access.h"
#include "values/holder_node.h"
#include "values/token_state.h"

namespace tim::values::internal {
namespace {

constexpr int kMostOutputs = 1024;

// An attribute as "output2_scale", split into the output's index (-1: every
// output) and the property's name.
struct Declaration {
  int output = -1;
  std::string_view what;
};

std::optional<Declaration> ParseDeclaration(std::string_view name) {
  constexpr std::string_view kPrefix = "output";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  Declaration made;
  const auto parsed =
      std::from_chars(name.data(), name.data() + name.size(), made.output);
  name.remove_prefix(static_cast<size_t>(parsed.ptr - name.data()));
  if (!name.starts_with('_')) return std::nullopt;
  made.what = name.substr(1);
  return made;
}

Result<ir::DataType> TypeByName(const std::string& name) {
  for (int i = 1; i < ir::kDataTypeCount; ++i) {
    const auto type = static_cast<ir::DataType>(i);
    if (name == ir::ToString(type)) return type;
  }
  return InvalidArgument("'", name, "' is no element type");
}

template <typename T>
Result<T> Take(const ir::Attribute& value, ir::AttributeType type) {
  TIM_ASSIGN_OR_RETURN(
      const ir::Attribute taken,
      ToAttribute(value, {.name = "of an output", .type = type}));
  return std::get<T>(taken);
}

// A property of outputs: its name, and the function that stores it.
struct Property {
  const char* name;
  Status (*store)(const ir::Attribute& value, ir::TensorDesc* desc);
};

using Kind = ir::AttributeType;

Status StoreType(const ir::Attribute& value, ir::TensorDesc* desc) {
  TIM_ASSIGN_OR_RETURN(const auto name,
                       Take<std::string>(value, Kind::kString));
  TIM_ASSIGN_OR_RETURN(desc->type, TypeByName(name));
  return OkStatus();
}
Status StoreShape(const ir::Attribute& value, ir::TensorDesc* desc) {
  TIM_ASSIGN_OR_RETURN(auto dims,
                       Take<std::vector<int64_t>>(value, Kind::kInts));
  desc->shape = ir::Shape(std::move(dims));
  return ir::CheckShape(desc->shape);
}
Status StoreScale(const ir::Attribute& value, ir::TensorDesc* desc) {
  TIM_ASSIGN_OR_RETURN(const double scale, Take<double>(value, Kind::kFloat));
  desc->quantization.kind = ir::QuantizationKind::kPerTensor;
  desc->quantization.scales = {static_cast<float>(scale)};
  if (desc->quantization.zero_points.empty()) {
    desc->quantization.zero_points = {0};
  }
  return OkStatus();
}
Status StoreZeroPoint(const ir::Attribute& value, ir::TensorDesc* desc) {
  TIM_ASSIGN_OR_RETURN(const int64_t point, Take<int64_t>(value, Kind::kInt));
  desc->quantization.zero_points = {static_cast<int32_t>(point)};
  return OkStatus();
}
Status StoreScales(const ir::Attribute& value, ir::TensorDesc* desc) {
  TIM_ASSIGN_OR_RETURN(const auto scales,
                       Take<std::vector<double>>(value, Kind::kFloats));
  desc->quantization.kind = ir::QuantizationKind::kPerChannel;
  desc->quantization.scales.assign(scales.begin(), scales.end());
  return OkStatus();
}
Status StoreZeroPoints(const ir::Attribute& value, ir::TensorDesc* desc) {
  TIM_ASSIGN_OR_RETURN(const auto points,
                       Take<std::vector<int64_t>>(value, Kind::kInts));
  desc->quantization.zero_points.assign(points.begin(), points.end());
  return OkStatus();
}
Status StoreAxis(const ir::Attribute& value, ir::TensorDesc* desc) {
  TIM_ASSIGN_OR_RETURN(const int64_t axis, Take<int64_t>(value, Kind::kInt));
  desc->quantization.axis = static_cast<int>(axis);
  return OkStatus();
}
Status StoreFl(const ir::Attribute& value, ir::TensorDesc* desc) {
  TIM_ASSIGN_OR_RETURN(const int64_t fl, Take<int64_t>(value, Kind::kInt));
  desc->quantization.kind = ir::QuantizationKind::kFixedPoint;
  desc->quantization.fl = static_cast<int>(fl);
  return OkStatus();
}

constexpr Property kProperties[] = {
    {"type", StoreType},     {"shape", StoreShape},
    {"scale", StoreScale},   {"zero_point", StoreZeroPoint},
    {"scales", StoreScales}, {"zero_points", StoreZeroPoints},
    {"axis", StoreAxis},     {"fl", StoreFl},
};

Status Declare(const Declaration& declaration, const ir::Attribute& value,
               std::vector<ir::TensorDesc>* outputs) {
  for (const Property& property : kProperties) {
    if (declaration.what != property.name) continue;
    const int count = static_cast<int>(outputs->size());
    if (declaration.output >= count) {
      return InvalidArgument("it has ", count, " outputs");
    }
    for (int i = 0; i < count; ++i) {
      if (declaration.output >= 0 && declaration.output != i) continue;
      TIM_RETURN_IF_ERROR(
          property.store(value, &(*outputs)[static_cast<size_t>(i)]));
    }
    return OkStatus();
  }
  return InvalidArgument(
      "outputs have a type, shape, scale, zero_point, "
      "scales, zero_points, axis and fl");
}

const ir::AttributeSpec* SpecOf(const ir::OpSchema& schema,
                                const std::string& name) {
  for (const ir::AttributeSpec& spec : schema.attributes) {
    if (spec.name == name) return &spec;
  }
  for (const ir::AttributeSpec& spec : ir::ReservedAttributes()) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

std::string LegalNames(const ir::OpSchema& schema) {
  std::string names;
  for (const ir::AttributeSpec& spec : schema.attributes) {
    names += StrCat(names.empty() ? "" : ", ", spec.name);
  }
  return names.empty() ? "none of its own" : names;
}

using Declarations = std::vector<std::pair<Declaration, ir::Attribute>>;

Status SetAttributes(const Attributes& attributes, NodeState* node,
                     Declarations* declarations) {
  for (const auto& [name, attribute] : attributes) {
    const ir::Attribute& value = Access::StateOf(attribute)->value;
    const ir::AttributeSpec* spec = SpecOf(*node->schema, name);
    if (spec == nullptr) {
      const auto declaration = ParseDeclaration(name);
      if (!declaration) {
        return InvalidArgument("has no attribute '", name, "'; it has ",
                               LegalNames(*node->schema));
      }
      declarations->emplace_back(*declaration, value);
      continue;
    }
    if (node->attributes.Find(name) != nullptr) {
      return InvalidArgument("attribute ", name, " is given twice");
    }
    TIM_ASSIGN_OR_RETURN(ir::Attribute converted, ToAttribute(value, *spec));
    node->attributes.Set(name, std::move(converted));
  }
  return ir::CompleteAttributes(*node->schema, &node->attributes);
}

// Number of outputs: "output_count", else as many as the operator has.
Result<size_t> OutputsOf(const NodeState& node, Declarations* declarations) {
  const ir::Arity arity = node.schema->OutputArity(node.attributes);
  if (arity.limit < 0 || arity.limit > kMostOutputs) {
    return InvalidArgument("its attributes give it ", arity.limit, " outputs");
  }
  const auto found =
      std::find_if(declarations->begin(), declarations->end(),
                   [](const auto& one) { return one.first.what == "count"; });
  if (found == declarations->end()) return static_cast<size_t>(arity.limit);
  TIM_ASSIGN_OR_RETURN(const int64_t count,
                       Take<int64_t>(found->second, Kind::kInt));
  declarations->erase(found);
  if (count >= arity.required && count <= arity.limit) {
    return static_cast<size_t>(count);
  }
  return InvalidArgument("attribute output_count is ", count, "; it has ",
                         arity.required, " to ", arity.limit, " outputs");
}

Status Fill(const Attributes& attributes, NodeState* node) {
  node->schema = ops::KnownOperators().Find(node->op);
  if (node->schema == nullptr) {
    return InvalidArgument(
        "there is no operator of this name; those of the library are named "
        "like tim.Relu, docs/operators.md lists them");
  }
  Declarations declarations;
  TIM_RETURN_IF_ERROR(SetAttributes(attributes, node, &declarations));
  TIM_ASSIGN_OR_RETURN(const size_t count, OutputsOf(*node, &declarations));
  node->outputs.resize(count);
  for (const auto& [declaration, value] : declarations) {
    const Status status = Declare(declaration, value, &node->outputs);
    if (!status.ok()) {
      return status.WithContext(StrCat("attribute output_", declaration.what));
    }
  }
  return OkStatus();
}

}  // namespace

std::string NodeState::short_name() const {
  constexpr std::string_view kOwn = "tim.";
  return op.starts_with(kOwn) ? op.substr(kOwn.size()) : op;
}

std::shared_ptr<const NodeState> MakeNode(const std::string& op,
                                          const Attributes& attributes) {
  auto node = std::make_shared<NodeState>();
  node->op = op;
  const Status status = Fill(attributes, node.get());
  if (!status.ok()) {
    node->status = status.WithContext(StrCat("operator ", op));
  }
  return node;
}

std::shared_ptr<const NodeState> MakeNode(
    std::shared_ptr<const ir::Composite> composite, OwnSchemas own) {
  auto node = std::make_shared<NodeState>();
  node->op = composite->name;
  node->outputs.resize(composite->body.outputs().size());
  node->composite = std::move(composite);
  node->operators = RegistryWith(own);
  node->own = std::move(own);
  return node;
}

std::shared_ptr<const NodeState> WithOwn(
    const std::shared_ptr<const NodeState>& node, OwnSchemas own,
    bool ordered) {
  auto made = std::make_shared<NodeState>(*node);
  made->operators = RegistryWith(own);
  made->own = std::move(own);
  made->ordered = ordered;
  return made;
}

Result<ir::Graph> InferredGraphOf(
    const NodeState& node, std::span<const runtime::NodeOperand> inputs) {
  TIM_ASSIGN_OR_RETURN(ir::Graph graph,
                       runtime::GraphOf({.name = node.op,
                                         .schema = node.schema,
                                         .composite = node.composite,
                                         .attributes = &node.attributes,
                                         .inputs = inputs,
                                         .outputs = node.outputs}));
  TIM_RETURN_IF_ERROR(compiler::InferGraph(&graph, ops::KnownOperators()));
  return graph;
}

Result<std::vector<TensorSpec>> InferOutputs(
    const NodeState& node, std::span<const runtime::NodeOperand> inputs) {
  for (const runtime::NodeOperand& input : inputs) {
    if (!input.present || input.desc.type != ir::DataType::kUnknown) continue;
    std::vector<TensorSpec> unknown;
    for (const ir::TensorDesc& output : node.outputs) {
      unknown.push_back({.desc = output});
    }
    return unknown;
  }
  TIM_ASSIGN_OR_RETURN(const ir::Graph graph, InferredGraphOf(node, inputs));
  std::vector<TensorSpec> outputs;
  for (const ir::ValueId id : graph.outputs()) {
    outputs.push_back({graph.value(id).desc, graph.value(id).is_scalar});
  }
  return outputs;
}

bool HasOrderedEffects(const NodeState& node) {
  if (node.ordered) return true;
  ir::Node like;
  like.schema = node.schema;
  like.composite = node.composite;
  if (ir::ControlOf(like)) like.attributes = node.attributes;
  return ir::HasOrderedEffects(like);
}

Status CheckOperands(const NodeState& node, const std::vector<Value>& inputs,
                     const std::vector<Token>& after) {
  TIM_RETURN_IF_ERROR(node.status);
  const size_t required =
      node.composite != nullptr
          ? inputs.size()
          : static_cast<size_t>(
                node.schema->InputArity(node.attributes).required);
  const size_t limit =
      node.composite != nullptr
          ? node.composite->body.inputs().size()
          : static_cast<size_t>(node.schema->InputArity(node.attributes).limit);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (IsAbsent(inputs[i]) && i >= required) continue;
    const Status status = StateOf(inputs[i])->status();
    // The first text, as it was.
    if (!status.ok()) return status;
  }
  for (const Token& token : after) {
    TIM_RETURN_IF_ERROR(StatusOf(token));
  }
  if (inputs.size() >= required && inputs.size() <= limit) return OkStatus();
  return InvalidArgument(
      "operator ", node.op, " takes ",
      required == limit ? StrCat(limit) : StrCat(required, " to ", limit),
      limit == 1 ? " input" : " inputs", ", not ", inputs.size());
}

}  // namespace tim::values::internal
