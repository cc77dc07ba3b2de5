#include "tests/support/kernels/kernel_runner.h"

#include <algorithm>
#include <utility>

#include "ir/constant.h"
#include "ir/evaluate.h"

namespace tim::testing {
namespace {

using ir::TensorDesc;
using ir::ValueId;

ValueId AddOperand(const TensorDesc& desc, const TensorData* constant,
                   ir::Graph* graph) {
  if (constant != nullptr) {
    return graph->AddConstant(desc, ir::MakeConstant(constant->bytes));
  }
  const ValueId id = graph->AddValue(desc, ir::Role::kInput);
  graph->AddInput(id);
  return id;
}

const TensorData* FindConstant(const std::map<int, TensorData>& constants,
                               int index) {
  const auto it = constants.find(index);
  return it == constants.end() ? nullptr : &it->second;
}

Status CheckArity(const char* what, const std::vector<ValueId>& operands,
                  ir::Arity arity) {
  const int count = static_cast<int>(operands.size());
  for (int i = 0; i < arity.required; ++i) {
    if (i < count && operands[i] != ir::kNone) continue;
    return InvalidArgument(what, " ", i, " is not bound");
  }
  if (count <= arity.limit) return OkStatus();
  return InvalidArgument(count, " ", what, "s are bound, at most ", arity.limit,
                         " are taken");
}

// As Compile: an inferred shape rules, a declared one must have as many
// elements (Compile puts a Reshape behind the node where they differ).
Status SetOutput(const ir::InferContext::Output& inferred, ir::Value* value) {
  const ir::Shape declared = value->desc.shape;
  value->desc = inferred.desc;
  value->is_scalar = inferred.is_scalar;
  if (!declared.IsStatic()) return OkStatus();
  if (!inferred.desc.shape.IsStatic()) {
    value->desc.shape = declared;
  } else if (inferred.desc.shape.NumElements() != declared.NumElements()) {
    return InvalidArgument("the output is declared as ", declared.ToString(),
                           ", but the operation gives ",
                           inferred.desc.shape.ToString());
  }
  return OkStatus();
}

Status InferNode(const ir::Node& node, ir::Graph* graph) {
  ir::InferContext context{node, {}, {}};
  std::vector<ir::Shape> declared;
  for (const ValueId id : node.outputs)
    declared.push_back(id == ir::kNone ? ir::Shape()
                                       : graph->value(id).desc.shape);
  for (const ValueId id : node.inputs) {
    auto& input = context.inputs.emplace_back();
    if (id == ir::kNone) continue;
    const ir::Value& value = graph->value(id);
    input = {&value.desc, value.constant.get(), value.is_scalar,
             value.role == ir::Role::kConstant};
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    auto& output = context.outputs.emplace_back();
    if (node.outputs[i] == ir::kNone) continue;
    output.desc = graph->value(node.outputs[i]).desc;
    output.desc.shape = ir::Shape();
    if (declared[i].ranked()) output.declared = &declared[i];
  }
  TIM_RETURN_IF_ERROR(node.schema->infer_shapes(context));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == ir::kNone) continue;
    TIM_RETURN_IF_ERROR(
        SetOutput(context.outputs[i], &graph->value(node.outputs[i])));
  }
  return OkStatus();
}

Status CheckNode(const ir::Node& node, const ir::Graph& graph) {
  std::vector<const TensorDesc*> inputs;
  std::vector<const TensorDesc*> outputs;
  for (const ValueId id : node.inputs) {
    inputs.push_back(id == ir::kNone ? nullptr : &graph.value(id).desc);
  }
  for (const ValueId id : node.outputs) {
    outputs.push_back(id == ir::kNone ? nullptr : &graph.value(id).desc);
  }
  if (!node.schema->check) return OkStatus();
  return node.schema->check({node, inputs, outputs});
}

Result<ir::Node> NewNode(const std::string& op, ir::AttributeMap attributes,
                         const ir::OpRegistry& registry) {
  ir::Node node;
  node.name = op + "#0";
  node.schema = registry.Find(op);
  if (node.schema == nullptr) return NotFound("no operator ", op);
  TIM_RETURN_IF_ERROR(ir::CompleteAttributes(*node.schema, &attributes));
  node.attributes = std::move(attributes);
  return node;
}

// Adds the node to the graph as Compile would accept it.
Result<ir::NodeId> AddChecked(ir::Node node, ir::Graph* graph) {
  const ir::OpSchema& schema = *node.schema;
  TIM_RETURN_IF_ERROR(
      CheckArity("input", node.inputs, schema.InputArity(node.attributes)));
  TIM_RETURN_IF_ERROR(
      CheckArity("output", node.outputs, schema.OutputArity(node.attributes)));
  const ir::NodeId id = graph->AddNode(std::move(node));
  TIM_RETURN_IF_ERROR(InferNode(graph->node(id), graph));
  TIM_RETURN_IF_ERROR(CheckNode(graph->node(id), *graph));
  TIM_RETURN_IF_ERROR(graph->CheckChains());
  return id;
}

// A body graph that holds the only node of `plain`.
std::shared_ptr<ir::Composite> Wrap(const TestNode& plain) {
  const ir::Node& node = plain.graph.node(plain.node);
  auto fused = std::make_shared<ir::Composite>();
  fused->name = "fused";
  ir::Node inner = node;
  for (ValueId& id : inner.inputs) {
    if (id == ir::kNone) {
      fused->body.AddInput(ir::kNone);
      continue;
    }
    id = fused->body.AddValue(plain.graph.value(id).desc, ir::Role::kInput);
    fused->body.AddInput(id);
  }
  inner.outputs = {fused->body.AddValue(plain.output())};
  fused->body.AddOutput(inner.outputs[0]);
  fused->anchor = fused->body.AddNode(std::move(inner));
  return fused;
}

// `body` with its output replaced by that of a further node.
Result<ir::Graph> Extend(const ir::Graph& body, ir::Node next,
                         const std::vector<TensorDesc>& others,
                         const TensorDesc& output) {
  ir::Graph out(body.name());
  std::map<ValueId, ValueId> moved = {{ir::kNone, ir::kNone}};
  for (const ValueId id : body.ValueIds()) {
    moved[id] = out.AddValue(body.value(id).desc, body.value(id).role);
  }
  for (const ValueId id : body.inputs()) out.AddInput(moved[id]);
  for (const ir::NodeId id : body.NodeIds()) {
    ir::Node node = body.node(id);
    for (ValueId& value : node.inputs) value = moved[value];
    for (ValueId& value : node.outputs) value = moved[value];
    out.AddNode(std::move(node));
  }
  next.inputs = {moved[body.outputs()[0]]};
  for (const TensorDesc& desc : others) {
    next.inputs.push_back(out.AddValue(desc, ir::Role::kInput));
    out.AddInput(next.inputs.back());
  }
  next.outputs = {out.AddValue(output)};
  out.AddOutput(next.outputs[0]);
  TIM_RETURN_IF_ERROR(AddChecked(std::move(next), &out).status());
  return out;
}

}  // namespace

Result<TestNode> MakeNode(const std::string& op, ir::AttributeMap attributes,
                          const std::vector<std::optional<TensorDesc>>& inputs,
                          const std::vector<TensorDesc>& outputs,
                          std::map<int, TensorData> constants,
                          const ir::OpRegistry& registry) {
  TestNode out{.graph = {}, .registry = &registry};
  TIM_ASSIGN_OR_RETURN(ir::Node node,
                       NewNode(op, std::move(attributes), registry));
  for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
    node.inputs.push_back(
        inputs[i]
            ? AddOperand(*inputs[i], FindConstant(constants, i), &out.graph)
            : ir::kNone);
  }
  for (const TensorDesc& desc : outputs) {
    node.outputs.push_back(out.graph.AddValue(desc));
    out.graph.AddOutput(node.outputs.back());
    out.graph.value(node.outputs.back()).shape_declared = desc.shape.ranked();
  }
  TIM_ASSIGN_OR_RETURN(out.node, AddChecked(std::move(node), &out.graph));
  return out;
}

Result<TestNode> Fuse(TestNode anchor, const std::string& op,
                      ir::AttributeMap attributes,
                      const std::vector<TensorDesc>& others,
                      const TensorDesc& output,
                      std::map<int, TensorData> constants) {
  const ir::Node& old = anchor.graph.node(anchor.node);
  auto fused = old.composite ? std::make_shared<ir::Composite>(*old.composite)
                             : Wrap(anchor);
  TIM_ASSIGN_OR_RETURN(ir::Node next,
                       NewNode(op, std::move(attributes), *anchor.registry));
  TIM_ASSIGN_OR_RETURN(fused->body,
                       Extend(fused->body, std::move(next), others, output));
  if (fused->body.node(fused->anchor).schema != old.schema) {
    return TIM_INTERNAL("the anchor moved");
  }

  TestNode out{.graph = {}, .registry = anchor.registry};
  ir::Node node = old;
  for (ValueId& id : node.inputs) {
    if (id == ir::kNone) continue;
    const ir::Value& value = anchor.graph.value(id);
    id = value.constant ? out.graph.AddConstant(value.desc, value.constant)
                        : AddOperand(value.desc, nullptr, &out.graph);
  }
  for (int i = 0; i < static_cast<int>(others.size()); ++i) {
    node.inputs.push_back(
        AddOperand(others[i], FindConstant(constants, i), &out.graph));
  }
  const ir::Graph& body = fused->body;
  node.outputs = {out.graph.AddValue(body.value(body.outputs()[0]).desc)};
  out.graph.AddOutput(node.outputs[0]);
  node.composite = std::move(fused);
  out.node = out.graph.AddNode(std::move(node));
  return out;
}

std::vector<TensorData> RandomInputs(const TestNode& node, std::mt19937& rng) {
  std::vector<TensorData> out;
  for (const ValueId id : node.graph.inputs()) {
    out.push_back(RandomTensor(node.graph.value(id).desc, rng));
  }
  return out;
}

Result<std::vector<TensorData>> Eval(const TestNode& node,
                                     const std::vector<TensorData>& inputs) {
  if (inputs.size() != node.graph.inputs().size()) {
    return InvalidArgument(inputs.size(), " inputs given, expected ",
                           node.graph.inputs().size());
  }
  std::vector<ir::ConstTensor> read;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorDesc& desc = node.graph.value(node.graph.inputs()[i]).desc;
    read.push_back({&desc, inputs[i].bytes.data()});
  }
  std::vector<TensorData> out;
  for (const ValueId id : node.graph.outputs()) {
    const TensorDesc& desc = node.graph.value(id).desc;
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(desc));
    out.push_back({desc, std::vector<std::byte>(bytes)});
  }
  std::vector<ir::MutableTensor> written;
  for (TensorData& tensor : out) {
    written.push_back({&tensor.desc, tensor.bytes.data()});
  }
  TIM_RETURN_IF_ERROR(ir::Evaluate(node.graph, read, written));
  return out;
}

Status CheckKernels(const TestNode& node, const std::vector<TensorData>& inputs,
                    Tolerance tolerance) {
  TIM_ASSIGN_OR_RETURN(const auto expected, Eval(node, inputs));
  const std::vector<std::string> kernels = SupportedKernels(node);
  if (kernels.empty()) return Unimplemented("no kernel:\n", Refusals(node));
  for (const std::string& kernel : kernels) {
    const int layouts = LayoutCount(node, kernel);
    if (layouts == 0) return InvalidArgument(kernel, " offers no layouts");
    for (int layout = 0; layout < layouts; ++layout) {
      const std::string where = StrCat(kernel, " layout ", layout);
      const auto actual = RunKernel(node, kernel, layout, inputs);
      if (!actual.ok()) return actual.status().WithContext(where);
      for (size_t i = 0; i < expected.size(); ++i) {
        TIM_RETURN_IF_ERROR(CompareTensors(expected[i], (*actual)[i], tolerance)
                                .WithContext(StrCat(where, " output ", i)));
      }
    }
  }
  return OkStatus();
}

Status CheckKernels(const TestNode& node, std::mt19937& rng,
                    Tolerance tolerance) {
  for (int repeat = 0; repeat < 2; ++repeat) {
    TIM_RETURN_IF_ERROR(CheckKernels(node, RandomInputs(node, rng), tolerance));
  }
  return OkStatus();
}

}  // namespace tim::testing
