// A node that stands for a gradient until the extents of its operands are
// known, and decomposes into it then.
#include "values/open_gradient.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "compiler/compiler.h"
#include "compiler/differentiate.h"
#include "ir/live_copy.h"
#include "ops/registered.h"
#include "values/holder_node.h"

namespace tim::values::internal {
namespace {

bool IsKnown(const ir::TensorDesc& desc) {
  return desc.type != ir::DataType::kUnknown && desc.shape.IsStatic();
}

/// A node's operands of rank 0.  Inference asks `infer_shapes`, which knows
/// them, right before `decompose`, which does not.
std::vector<bool>& Scalars() {
  thread_local std::vector<bool> scalars;
  return scalars;
}

struct Differentiation {
  ir::Graph source;
  OwnSchemas own;
  std::vector<int> wrt;
  GradientKind kind = GradientKind::kGradient;
  ir::OpSchema like;  ///< Stands for one gradient.
};

// What can be known of the results while operands are open: gradients are like
// what they are of.
Result<ir::Graph> OpenBody(const Differentiation& part, ir::Graph graph,
                           const ir::NodeView& view) {
  std::vector<ir::ValueId> outputs;
  if (part.kind == GradientKind::kGradient) outputs = graph.outputs();
  const size_t known = graph.inputs().size();
  for (size_t i = known; i < view.inputs.size(); ++i) {
    graph.AddInput(graph.AddValue(*view.inputs[i], ir::Role::kInput));
  }
  for (const int input : part.wrt) {
    ir::Node node;
    node.name = StrCat("gradient/", input);
    node.schema = &part.like;
    node.inputs = {graph.inputs()[static_cast<size_t>(input)]};
    node.outputs = {graph.AddValue({})};
    outputs.push_back(node.outputs[0]);
    graph.AddNode(std::move(node));
  }
  return ir::LiveCopy(graph, outputs);
}

Result<ir::Graph> BodyOf(const Differentiation& part,
                         const ir::NodeView& view) {
  ir::Graph graph = part.source;
  bool open = false;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    ir::Value& input = graph.value(graph.inputs()[i]);
    input.desc = *view.inputs[i];
    input.is_scalar = Scalars()[i];
    open = open || !IsKnown(input.desc);
  }
  if (open) return OpenBody(part, std::move(graph), view);
  return GradientOf(std::move(graph), part.wrt, part.kind);
}

ir::OpSchema OwnSchema(const std::string& name, int inputs, int outputs) {
  ir::OpSchema schema;
  schema.domain = "tim.values";
  schema.name = name;
  schema.version = NextVersion();
  schema.inputs = {inputs, inputs};
  schema.outputs = {outputs, outputs};
  schema.memory_estimate = [](const ir::NodeView&) { return int64_t{0}; };
  schema.compute_estimate = [](const ir::NodeView&) {
    return ir::ComputeEstimate();
  };
  return schema;
}

ir::OpSchema SchemaOfLike() {
  ir::OpSchema schema = OwnSchema("OpenGradient", 1, 1);
  schema.infer_shapes = [](ir::InferContext& context) {
    context.outputs[0].desc = *context.inputs[0].desc;
    context.outputs[0].is_scalar = context.inputs[0].is_scalar;
    return OkStatus();
  };
  // Known once the gradient is.
  schema.vjp = [](const ir::VjpContext&) -> Result<std::vector<ir::ValueId>> {
    return Unimplemented("the gradient waits for shapes");
  };
  return schema;
}

}  // namespace

Result<ir::Graph> GradientOf(ir::Graph graph, const std::vector<int>& wrt,
                             GradientKind kind) {
  const ir::OpRegistry& operators = ops::KnownOperators();
  return kind == GradientKind::kVjp
             ? compiler::Vjp(std::move(graph), operators, wrt)
             : compiler::Differentiate(std::move(graph), operators, wrt);
}

Result<OpenGradient> OpenGradientOf(const ir::Graph& source,
                                    const OwnSchemas& own,
                                    const std::vector<int>& wrt,
                                    GradientKind kind) {
  TIM_RETURN_IF_ERROR(compiler::CheckWrt(source, wrt));
  OpenGradient made{.graph = ir::Graph(source.name()), .own = own};
  ir::Node node;
  node.name = "gradient";
  const auto add_input = [&](const ir::Value& like, const std::string& name) {
    node.inputs.push_back(
        made.graph.AddValue(like.desc, ir::Role::kInput, name));
    made.graph.value(node.inputs.back()).is_scalar = like.is_scalar;
    made.graph.AddInput(node.inputs.back());
  };
  for (const ir::ValueId id : source.inputs()) {
    add_input(source.value(id), source.value(id).name);
  }
  size_t outputs = wrt.size();
  for (const ir::ValueId id : source.outputs()) {
    const ir::Value& output = source.value(id);
    if (kind == GradientKind::kGradient) {
      ++outputs;
    } else {
      add_input(output, StrCat("cotangent/", output.name));
    }
  }
  auto part = std::make_shared<const Differentiation>(
      Differentiation{.source = source,
                      .own = own,
                      .wrt = wrt,
                      .kind = kind,
                      .like = SchemaOfLike()});
  auto schema = std::make_shared<ir::OpSchema>(
      OwnSchema("Gradient", static_cast<int>(node.inputs.size()),
                static_cast<int>(outputs)));
  schema->infer_shapes = [](ir::InferContext& context) {
    Scalars().clear();
    for (const auto& input : context.inputs) {
      Scalars().push_back(input.is_scalar);
    }
    return OkStatus();
  };
  schema->decompose = [part](const ir::NodeView& view, const ir::OpRegistry&) {
    return BodyOf(*part, view);
  };
  node.schema = schema.get();
  made.own.push_back(std::move(schema));
  for (size_t i = 0; i < outputs; ++i) {
    node.outputs.push_back(made.graph.AddValue({}));
    made.graph.AddOutput(node.outputs.back());
  }
  made.graph.AddNode(std::move(node));
  TIM_RETURN_IF_ERROR(compiler::InferGraph(&made.graph, ops::KnownOperators()));
  return made;
}

}  // namespace tim::values::internal
