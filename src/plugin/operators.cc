// Makes ir::OpSchemas of TimOps.
#include "plugin/operators.h"

#include <cmath>
#include <utility>
#include <vector>

#include "plugin/descs.h"
#include "plugin/sinks.h"
#include "plugin/tables.h"
#include "plugin/views.h"

namespace tim::plugin {
namespace {

constexpr uint32_t kMostOperands = 1024;
constexpr uint32_t kMostAttributes = 256;

std::unique_ptr<TimNode> ViewOfNode(const ir::NodeView& node) {
  std::vector<OperandView> inputs;
  std::vector<OperandView> outputs;
  for (const ir::TensorDesc* desc : node.inputs) inputs.push_back({desc});
  for (const ir::TensorDesc* desc : node.outputs) outputs.push_back({desc});
  return ViewOf(node.node, inputs, outputs);
}

class Operator {
 public:
  Operator(const std::shared_ptr<const LoadedPlugin>& plugin, size_t index)
      : reference_(plugin), op_(plugin->tables().op_list[index]) {}

  const TimOp& op() const { return op_; }

  Status Infer(ir::InferContext& context) const {
    TIM_ASSIGN_OR_RETURN(const auto plugin, reference_.Lock());
    std::vector<OperandView> inputs;
    std::vector<OperandView> outputs;
    for (const ir::InferContext::Input& input : context.inputs) {
      // Shared without ownership: the context outlives the view.
      inputs.push_back(
          {input.desc, input.is_scalar,
           ConstantBytes(std::shared_ptr<const void>(), input.constant)});
    }
    for (const ir::InferContext::Output& output : context.outputs) {
      outputs.push_back({&output.desc, output.is_scalar});
    }
    const auto view = ViewOf(context.node, inputs, outputs);
    TimInference sink;
    sink.context = &context;
    sink.known.resize(context.outputs.size(), false);
    const Status called =
        plugin->Ask("TimOp::infer", op_.infer, op_.state, Const(view), &sink);
    TIM_RETURN_IF_ERROR(
        CallbackStatus(*plugin, "TimOp::infer", called, sink.failure));
    for (size_t i = 0; i < sink.known.size(); ++i) {
      if (sink.known[i]) continue;
      return plugin->Broke(StrCat("TimOp::infer() of ", op_.name,
                                  " said nothing of output ", i));
    }
    return OkStatus();
  }

  Status Check(const ir::NodeView& node) const {
    TIM_ASSIGN_OR_RETURN(const auto plugin, reference_.Lock());
    const auto view = ViewOfNode(node);
    return plugin->Ask("TimOp::check", op_.check, op_.state, Const(view));
  }

  Status Eval(const ir::EvalContext& context) const {
    TIM_ASSIGN_OR_RETURN(const auto plugin, reference_.Lock());
    std::vector<OperandView> inputs;
    std::vector<OperandView> outputs;
    std::vector<const void*> from;
    std::vector<void*> to;
    for (const ir::ConstTensor& input : context.inputs) {
      inputs.push_back({input.desc});
      from.push_back(input.data);
    }
    for (const ir::MutableTensor& output : context.outputs) {
      outputs.push_back({output.desc});
      to.push_back(output.data);
    }
    const auto view = ViewOf(context.node, inputs, outputs);
    return plugin->Call("TimOp::eval", op_.eval, op_.state, Const(view),
                        static_cast<const void* const*>(from.data()),
                        static_cast<void* const*>(to.data()));
  }

  ir::ComputeEstimate Estimate(const ir::NodeView& node) const {
    ir::ComputeEstimate estimate = OfBytes(node);
    const auto plugin = reference_.Lock();
    if (!plugin.ok() || op_.estimate == nullptr) return estimate;
    ir::ComputeEstimate given = estimate;
    // The view asks for estimates of nodes: it is made of one without.
    ir::Node bare = node.node;
    bare.schema = nullptr;
    const auto view = ViewOfNode({bare, node.inputs, node.outputs});
    view->op = StrCat(op_.domain, ".", op_.name);
    const Status status =
        (*plugin)->Ask("TimOp::estimate", op_.estimate, op_.state, Const(view),
                       &given.flops, &given.bytes_read, &given.bytes_written);
    const auto is_sound = [](double value) {
      return std::isfinite(value) && value >= 0;
    };
    return status.ok() && is_sound(given.flops) && is_sound(given.bytes_read) &&
                   is_sound(given.bytes_written)
               ? given
               : estimate;
  }

  Result<ir::Graph> Decompose(const ir::NodeView& node,
                              const ir::OpRegistry& registry) const {
    TIM_ASSIGN_OR_RETURN(const auto plugin, reference_.Lock());
    const auto view = ViewOfNode(node);
    TimEdits sink;
    sink.graph = ir::Graph(StrCat(op_.domain, ".", op_.name));
    sink.registry = &registry;
    sink.is_body = true;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      sink.graph.AddInput(node.inputs[i] == nullptr
                              ? ir::kNone
                              : sink.graph.AddValue({}, ir::Role::kInput));
    }
    sink.outputs.resize(node.outputs.size(), ir::kNone);
    const Status called = plugin->Ask("TimOp::decompose", op_.decompose,
                                      op_.state, Const(view), &sink);
    TIM_RETURN_IF_ERROR(
        CallbackStatus(*plugin, "TimOp::decompose", called, sink.failure));
    for (size_t i = 0; i < sink.outputs.size(); ++i) {
      if (sink.outputs[i] == ir::kNone && node.outputs[i] != nullptr) {
        return plugin->Broke(
            StrCat("TimOp::decompose() of ", op_.name, " made no output ", i));
      }
      sink.graph.AddOutput(sink.outputs[i]);
    }
    return std::move(sink.graph);
  }

 private:
  static const TimNode* Const(const std::unique_ptr<TimNode>& node) {
    return node.get();
  }

  // Each operand once.
  static ir::ComputeEstimate OfBytes(const ir::NodeView& node) {
    ir::ComputeEstimate estimate;
    const auto add = [&](const ir::TensorDesc* desc, double* bytes) {
      if (desc == nullptr) return;
      const Result<int64_t> size = ir::ByteSize(*desc);
      if (!size.ok()) return;
      *bytes += static_cast<double>(*size);
      estimate.flops +=
          static_cast<double>(desc->shape.NumElements().value_or(0));
    };
    for (const auto* desc : node.inputs) add(desc, &estimate.bytes_read);
    for (const auto* desc : node.outputs) add(desc, &estimate.bytes_written);
    return estimate;
  }

  const PluginReference reference_;
  const TimOp op_;  // of the plug-in, while it is loaded
};

Status AddAttributes(const TimOp& op, ir::OpSchema* schema) {
  if (op.attribute_count > kMostAttributes ||
      (op.attribute_count > 0 && op.attributes == nullptr)) {
    return InvalidArgument(op.attribute_count, " attributes");
  }
  for (uint32_t i = 0; i < op.attribute_count; ++i) {
    const TimAttributeSpec spec = CopyKnown(op.attributes[i]);
    if (spec.name == nullptr || spec.name[0] == 0 ||
        spec.type < TIM_ATTRIBUTE_BOOL || spec.type > TIM_ATTRIBUTE_GRAPH) {
      return InvalidArgument("attribute ", i, " has no name or type ",
                             spec.type);
    }
    ir::AttributeSpec& added = schema->attributes.emplace_back();
    added.name = spec.name;
    added.type = static_cast<ir::AttributeType>(spec.type);
    if (spec.default_value == nullptr) continue;
    Result<ir::Attribute> value = AttributeOf(*spec.default_value);
    if (!value.ok() || ir::TypeOf(*value) != added.type) {
      return InvalidArgument("attribute ", spec.name,
                             " has a default of another type");
    }
    added.default_value = *std::move(value);
  }
  return OkStatus();
}

Status CheckCounts(const TimOp& op) {
  if (op.inputs_required > op.inputs_limit ||
      op.outputs_required > op.outputs_limit ||
      op.inputs_limit > kMostOperands || op.outputs_limit > kMostOperands ||
      op.outputs_required < 1) {
    return InvalidArgument("operands from ", op.inputs_required, " to ",
                           op.inputs_limit, ", results from ",
                           op.outputs_required, " to ", op.outputs_limit);
  }
  if (op.version >= 1) return OkStatus();
  return InvalidArgument("version ", op.version);
}

bool HasTypes(const ir::NodeView& node) {
  for (const auto descs : {node.inputs, node.outputs}) {
    for (const ir::TensorDesc* desc : descs) {
      if (desc != nullptr && desc->type == ir::DataType::kUnknown) return false;
    }
  }
  return true;
}

void AddFunctions(const std::shared_ptr<const Operator>& made,
                  ir::OpSchema* schema) {
  const TimOp& op = made->op();
  schema->infer_shapes = [made](ir::InferContext& context) {
    return made->Infer(context);
  };
  if (op.check != nullptr) {
    schema->check = [made](const ir::NodeView& node) {
      return made->Check(node);
    };
  }
  if (op.eval != nullptr) {
    schema->eval = [made](const ir::EvalContext& context) {
      return made->Eval(context);
    };
  }
  if (op.decompose != nullptr) {
    schema->decompose =
        [made](const ir::NodeView& node,
               const ir::OpRegistry& registry) -> Result<ir::Graph> {
      // The compiler checks what is left, which the operator is not.
      if (made->op().check != nullptr && HasTypes(node)) {
        TIM_RETURN_IF_ERROR(made->Check(node));
      }
      return made->Decompose(node, registry);
    };
  }
  schema->device_only = op.eval == nullptr && op.decompose == nullptr;
  schema->memory_estimate = [](const ir::NodeView&) { return int64_t{0}; };
  schema->compute_estimate = [made](const ir::NodeView& node) {
    return made->Estimate(node);
  };
}

}  // namespace

Result<ir::OpSchema> OperatorOf(
    const std::shared_ptr<const LoadedPlugin>& plugin, size_t index) {
  const TimOp& op = plugin->tables().op_list[index];
  ir::OpSchema schema;
  schema.domain = op.domain;
  schema.name = op.name;
  schema.version = op.version;
  TIM_RETURN_IF_ERROR(CheckCounts(op));
  schema.inputs = {static_cast<int>(op.inputs_required),
                   static_cast<int>(op.inputs_limit)};
  schema.outputs = {static_cast<int>(op.outputs_required),
                    static_cast<int>(op.outputs_limit)};
  TIM_RETURN_IF_ERROR(AddAttributes(op, &schema));
  schema.effects = {.random = (op.effects & TIM_EFFECT_RANDOM) != 0,
                    .ordered = (op.effects & TIM_EFFECT_ORDERED) != 0};
  AddFunctions(std::make_shared<const Operator>(plugin, index), &schema);
  return schema;
}

}  // namespace tim::plugin
