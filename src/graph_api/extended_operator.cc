// Makes operators of registered operations.
#include "graph_api/extended_operator.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "expr/decompose.h"
#include "graph_api/lowering.h"
#include "graph_api/op_context.h"

namespace tim::graph {
namespace {

using ir::TensorDesc;
using OpPtr = std::shared_ptr<const ExtendedOp>;

ir::Arity ArityOf(const ExtendedSide& side) {
  const size_t limit = side.variadic ? side.params.size() - 1 + kMostVariadic
                                     : side.params.size();
  return {static_cast<int>(side.Required()), static_cast<int>(limit)};
}

struct InnerAttribute {
  ir::Attribute operator()(float value) const {
    return static_cast<double>(value);
  }
  ir::Attribute operator()(const Floats& value) const {
    return std::vector<double>(value.begin(), value.end());
  }
  template <typename Same>
  ir::Attribute operator()(const Same& value) const {
    return value;
  }
};

ir::AttributeType InnerType(AttributeType type) {
  // The order is that of AttributeType.
  constexpr ir::AttributeType kTypes[] = {
      ir::AttributeType::kFloat, ir::AttributeType::kFloats,
      ir::AttributeType::kInt,   ir::AttributeType::kInts,
      ir::AttributeType::kBool,  ir::AttributeType::kString};
  return kTypes[static_cast<int>(type)];
}

std::vector<ir::AttributeSpec> SpecsOf(const ExtendedOp& op) {
  std::vector<ir::AttributeSpec> specs;
  for (const NamedAttributeDef& attribute : op.attributes) {
    ir::AttributeSpec& spec = specs.emplace_back();
    spec.name = attribute.name;
    spec.type = InnerType(attribute.type);
    if (attribute.default_value) {
      spec.default_value = InnerAttributeOf(*attribute.default_value);
    }
  }
  return specs;
}

Status CheckChoices(const ExtendedOp& op, const ir::AttributeMap& attributes) {
  for (const NamedAttributeDef& attribute : op.attributes) {
    const auto& choices = attribute.choices;
    if (choices.empty()) continue;
    const std::string& text = attributes.String(attribute.name);
    if (std::find(choices.begin(), choices.end(), text) != choices.end()) {
      continue;
    }
    return InvalidArgument("attribute '", attribute.name, "' is '", text,
                           "', expected one of '", StrJoin(choices, "', '"),
                           "'");
  }
  return OkStatus();
}

Status CheckPlain(const char* what, size_t index, const TensorDesc* desc) {
  if (desc == nullptr || !desc->quantized()) return OkStatus();
  return InvalidArgument(what, " ", index, " is quantized (", desc->ToString(),
                         "); registered operations take plain numbers, "
                         "dequantize it");
}

Status Infer(const ExtendedOp& op, ir::InferContext& inferred) {
  TIM_RETURN_IF_ERROR(CheckChoices(op, inferred.attributes()));
  tim_graph_op_context context(op, CallbackRole::kInferShapes,
                               inferred.attributes());
  for (size_t i = 0; i < inferred.inputs.size(); ++i) {
    const ir::InferContext::Input& input = inferred.inputs[i];
    TIM_RETURN_IF_ERROR(CheckPlain("input", i, input.desc));
    context.AddInput(input.desc, input.is_scalar);
  }
  for (size_t i = 0; i < inferred.outputs.size(); ++i) {
    TIM_RETURN_IF_ERROR(CheckPlain("output", i, &inferred.outputs[i].desc));
    context.AddOutput(&inferred.outputs[i].desc);
    if (inferred.node.outputs[i] != ir::kNone) continue;
    const Types& types = op.outputs.ParamOf(i).types;
    context.outputs[i].data_type = types[0];  // absent: any of them
  }
  Types outputs = TypesOf(context.outputs);
  TIM_RETURN_IF_ERROR(CompleteTypes(op, TypesOf(context.inputs), &outputs));
  for (size_t i = 0; i < outputs.size(); ++i) {
    context.outputs[i].data_type = outputs[i];
    inferred.outputs[i].desc.type = graph::InnerType(outputs[i]);
  }
  if (op.infer_shapes == nullptr) return OkStatus();  // the body tells
  TIM_RETURN_IF_ERROR(context.Call(op.infer_shapes));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const LogicalTensor& output = context.outputs[i];
    if (output.ndims < 0) continue;
    ir::InferContext::Output& to = inferred.outputs[i];
    Dims dims = Reversed(DimsOf(output));
    std::replace_if(
        dims.begin(), dims.end(), [](int64_t extent) { return extent < 0; },
        ir::kUnknownDim);
    if (std::find(dims.begin(), dims.end(), 0) != dims.end()) {
      return InvalidArgument("output ", i, " has no elements");
    }
    to.is_scalar = dims.empty();
    to.desc.shape = dims.empty() ? ir::Shape({1}) : ir::Shape(std::move(dims));
  }
  return OkStatus();
}

Status Evaluate(const ExtendedOp& op, const ir::EvalContext& evaluated) {
  tim_graph_op_context context(op, CallbackRole::kHost, evaluated.attributes());
  for (const ir::ConstTensor& input : evaluated.inputs) {
    context.AddInput(input.desc);
    context.input_data.push_back(input.data);
  }
  for (const ir::MutableTensor& output : evaluated.outputs) {
    context.AddOutput(output.desc);
    context.output_data.push_back(output.data);
  }
  return context.Call(op.host);
}

// A guess: an operation of a few steps for each element.
ir::ComputeEstimate Estimate(const ir::NodeView& view) {
  constexpr double kFlopsOfAnElement = 10;
  ir::ComputeEstimate estimate;
  const auto bytes = [](const TensorDesc* desc) -> double {
    if (desc == nullptr) return 0;
    const auto size = ir::ByteSize(*desc);
    return size.ok() ? static_cast<double>(*size) : 0;
  };
  for (const TensorDesc* input : view.inputs) {
    estimate.bytes_read += bytes(input);
  }
  for (const TensorDesc* output : view.outputs) {
    estimate.bytes_written += bytes(output);
    if (output == nullptr) continue;
    estimate.flops +=
        kFlopsOfAnElement *
        static_cast<double>(output->shape.NumElements().value_or(0));
  }
  return estimate;
}

ir::OpSchema SchemaOf(const OpPtr& op, std::string name) {
  ir::OpSchema schema;
  schema.domain = op->domain;
  schema.name = std::move(name);
  schema.version = op->version;
  schema.inputs = ArityOf(op->inputs);
  schema.outputs = ArityOf(op->outputs);
  schema.attributes = SpecsOf(*op);
  // Operands begin where those of users' kernels do.
  schema.user_kernel = op->kernel.exists();
  schema.infer_shapes = [op](ir::InferContext& context) {
    return Infer(*op, context);
  };
  if (op->host != nullptr) {
    schema.eval = [op](const ir::EvalContext& context) {
      return Evaluate(*op, context);
    };
  }
  schema.memory_estimate = [](const ir::NodeView&) -> int64_t { return 0; };
  schema.compute_estimate = Estimate;
  return schema;
}

// One node of the second operator.
Result<ir::Graph> OwnBody(const ExtendedOp& op, const ir::NodeView& view,
                          const ir::OpRegistry& registry) {
  ir::Graph body(op.Key());
  ir::Node node;
  node.name = OwnNameOf(op);
  node.schema =
      registry.Find(StrCat(op.domain, ".", OwnNameOf(op), "@", op.version));
  if (node.schema == nullptr) {
    return TIM_INTERNAL(op.Key(), " has no operator of its own");
  }
  node.attributes = view.node.attributes;
  for (const TensorDesc* input : view.inputs) {
    ir::ValueId id = ir::kNone;
    if (input != nullptr) id = body.AddValue(*input, ir::Role::kInput);
    body.AddInput(id);
    node.inputs.push_back(id);
  }
  for (const TensorDesc* output : view.outputs) {
    ir::ValueId id = ir::kNone;
    if (output != nullptr) {
      TensorDesc desc;
      desc.type = output->type;
      id = body.AddValue(std::move(desc));
    }
    body.AddOutput(id);
    node.outputs.push_back(id);
  }
  body.AddNode(std::move(node));
  return body;
}

bool HasOwn(const ExtendedOp& op) {
  return op.infer_shapes != nullptr &&
         (op.kernel.exists() || op.host != nullptr);
}

Result<ir::Graph> Compose(const ExtendedOp& op, const ir::NodeView& view,
                          const ir::OpRegistry& registry) {
  Result<ir::Graph> body = Decomposed(op, view);
  if (body.ok() || body.status().code() != StatusCode::kUnimplemented ||
      !HasOwn(op)) {
    return body;
  }
  return OwnBody(op, view, registry);
}

void AddOwn(const OpPtr& op, const std::string& name,
            ir::OpRegistry* registry) {
  registry->Add(SchemaOf(op, name));
  if (op->kernel.exists()) registry->Add(KernelOf(op, name));
}

}  // namespace

ir::Attribute InnerAttributeOf(const AttributeValue& value) {
  return std::visit(InnerAttribute(), value);
}

std::string OwnNameOf(const ExtendedOp& op) { return op.name + "#own"; }

void AddOperators(const OpPtr& op, ir::OpRegistry* registry) {
  if (op->program != nullptr) {
    return expr::AddOperator({op->domain, op->name, op->version}, op->program,
                             registry);
  }
  if (op->decompose == nullptr) return AddOwn(op, op->name, registry);
  if (HasOwn(*op)) AddOwn(op, OwnNameOf(*op), registry);
  ir::OpSchema schema = SchemaOf(op, op->name);
  // Evaluated by its body.
  schema.eval = [key = op->Key()](const ir::EvalContext&) -> Status {
    return TIM_INTERNAL(key, " was not decomposed");
  };
  schema.decompose = [op](const ir::NodeView& view, const ir::OpRegistry& all) {
    return Compose(*op, view, all);
  };
  registry->Add(std::move(schema));
  if (op->kernel.exists()) registry->Add(KernelOf(op, op->name));
}

}  // namespace tim::graph
