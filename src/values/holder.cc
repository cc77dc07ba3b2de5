// Runs functions of applications, at once and as steps of graphs.
#include "tim/values/holder.h"

#include <atomic>
#include <cstring>
#include <tuple>
#include <utility>

#include "base/guarded.h"
#include "ops/registered.h"
#include "values/access.h"
#include "values/failure.h"
#include "values/forward.h"
#include "values/graph_state.h"
#include "values/holder_node.h"
#include "values/plan_making.h"

namespace tim::values {
namespace internal {

int NextVersion() {
  static constinit std::atomic<int> last = 0;
  return ++last;
}

namespace {

// "acme.Detect": domain and name; a name alone is of the domain "holder".
std::pair<std::string, std::string> SplitName(const std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return {"holder", name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

Status CheckOutput(const HolderParts& parts, size_t index, Plain* output) {
  const TensorSpec& declared = parts.outputs[index];
  if (!*output) {
    return InvalidArgument("holder ", parts.name, ": output ", index,
                           " got no data");
  }
  TIM_ASSIGN_OR_RETURN(TensorSpec given, ToTensorSpec(output->spec));
  // Steps know operands of rank 0 as [1].
  if (declared.is_scalar && given.desc.shape == declared.desc.shape) {
    given.is_scalar = true;
  }
  const auto merged = Merge(declared, given);
  if (!merged.ok()) {
    return merged.status().WithContext(
        StrCat("holder ", parts.name, ": output ", index));
  }
  TIM_ASSIGN_OR_RETURN(const int64_t bytes, BytesOf(merged->desc));
  if (output->bytes != static_cast<size_t>(bytes)) {
    return InvalidArgument("holder ", parts.name, ": output ", index, " has ",
                           output->bytes, " bytes, and its spec ",
                           merged->desc.ToString(), " wants ", bytes);
  }
  output->spec = ToSpec(merged->desc, merged->is_scalar);
  return OkStatus();
}

// The operand of a step, which is the step's.
Plain Borrowed(const ir::ConstTensor& tensor) {
  const auto bytes = ir::ByteSize(*tensor.desc);
  return {.spec = ToSpec(*tensor.desc, false),
          .data = std::shared_ptr<const void>(std::shared_ptr<const void>(),
                                              tensor.data),
          .bytes = bytes.ok() ? static_cast<size_t>(*bytes) : 0};
}

Status EvalHolder(const HolderParts& parts, const ir::EvalContext& context) {
  std::vector<Plain> inputs;
  for (size_t i = 0; i < parts.inputs; ++i) {
    inputs.push_back(context.inputs[i] ? Borrowed(context.inputs[i]) : Plain());
  }
  TIM_ASSIGN_OR_RETURN(const auto outputs, CallHolder(parts, inputs));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ir::MutableTensor& output = context.outputs[i];
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(*output.desc));
    if (outputs[i].bytes != static_cast<size_t>(bytes)) {
      return InvalidArgument("holder ", parts.name, ": output ", i, " has ",
                             outputs[i].bytes, " bytes, not ", bytes);
    }
    std::memcpy(output.data, outputs[i].data.get(), outputs[i].bytes);
  }
  if (parts.effects.ordered) {
    std::memset(context.outputs[outputs.size()].data, 0, 1);
  }
  return OkStatus();
}

Status InferHolder(const HolderParts& parts, ir::InferContext& context) {
  for (size_t i = 0; i < parts.outputs.size(); ++i) {
    auto& output = context.outputs[i];
    output.desc = parts.outputs[i].desc;
    output.is_scalar = parts.outputs[i].is_scalar;
  }
  if (parts.effects.ordered) {
    context.outputs[parts.outputs.size()].desc = OrderSpec().desc;
  }
  return OkStatus();
}

/// Inference of a holder, by which its schema is known again.
struct HolderInference {
  std::shared_ptr<const HolderParts> parts;

  Status operator()(ir::InferContext& context) const {
    return InferHolder(*parts, context);
  }
};

ir::OpSchema SchemaOf(const std::shared_ptr<const HolderParts>& parts) {
  ir::OpSchema schema;
  std::tie(schema.domain, schema.name) = SplitName(parts->name);
  schema.version = NextVersion();
  const int order = parts->effects.ordered ? 1 : 0;
  const int inputs = static_cast<int>(parts->inputs) + order;
  const int outputs = static_cast<int>(parts->outputs.size()) + order;
  schema.inputs = {inputs, inputs};
  schema.outputs = {outputs, outputs};
  schema.effects = {.random = parts->effects.random,
                    .ordered = parts->effects.ordered};
  schema.infer_shapes = HolderInference{parts};
  if (parts->function) {
    schema.eval = [parts](const ir::EvalContext& context) {
      return EvalHolder(*parts, context);
    };
  }
  schema.memory_estimate = [](const ir::NodeView&) { return int64_t{0}; };
  schema.compute_estimate = [](const ir::NodeView&) {
    return ir::ComputeEstimate();
  };
  return schema;
}

// The node itself, or the first one in its graphs.
const ir::Node* FindIn(const ir::Node& node,
                       const std::function<bool(const ir::Node&)>& matches) {
  if (matches(node)) return &node;
  for (const ir::Graph* graph : ir::NestedGraphs(node)) {
    if (const ir::Node* found = FindNode(*graph, matches)) return found;
  }
  return nullptr;
}

Result<std::vector<Value>> HoldNow(const HolderParts& parts,
                                   const std::vector<Value>& inputs,
                                   const std::vector<Token>& after) {
  for (const Token& token : after) {
    if (!token.Wait()) return InvalidArgument(LastError());
  }
  if (!parts.function) {
    return FailedPrecondition("holder ", parts.name,
                              " has no function, and runs only where something "
                              "takes its place");
  }
  std::vector<Plain> plain;
  for (const Value& input : inputs) {
    plain.emplace_back();
    if (IsAbsent(input)) continue;
    plain.back() = input.ToPlain();
    if (!plain.back()) return InvalidArgument(LastError());
  }
  TIM_ASSIGN_OR_RETURN(auto outputs, CallHolder(parts, plain));
  std::vector<Value> values;
  const auto host = DeviceState::Host();
  for (Plain& output : outputs) {
    TIM_ASSIGN_OR_RETURN(const TensorSpec spec, ToTensorSpec(output.spec));
    TIM_ASSIGN_OR_RETURN(
        auto memory, host->stream().FromHost(output.data.get(),
                                             static_cast<int64_t>(output.bytes),
                                             output.data));
    values.push_back(
        MakeValue(ValueState::Placed(spec, {std::move(memory), ir::Layout()})));
  }
  return values;
}

Result<HolderParts> PartsOf(const std::string& name, size_t inputs,
                            const std::vector<Spec>& outputs,
                            HolderFunction function, Effects effects) {
  HolderParts parts{.name = name,
                    .inputs = inputs,
                    .outputs = {},
                    .function = std::move(function),
                    .effects = effects};
  if (name.empty()) return InvalidArgument("a holder has a name");
  for (size_t i = 0; i < outputs.size(); ++i) {
    auto spec = ToTensorSpec(outputs[i]);
    Status status = spec.status();
    if (status.ok() && spec->desc.type == ir::DataType::kUnknown) {
      status = InvalidArgument("the element type is unknown");
    }
    if (!status.ok()) {
      return status.WithContext(StrCat("holder ", name, ": output ", i));
    }
    parts.outputs.push_back(*std::move(spec));
  }
  return parts;
}

}  // namespace

Result<std::vector<Plain>> CallHolder(const HolderParts& parts,
                                      const std::vector<Plain>& inputs) {
  std::vector<Plain> outputs;
  for (const TensorSpec& spec : parts.outputs) {
    outputs.push_back({.spec = ToSpec(spec.desc, spec.is_scalar)});
  }
  std::string error;
  const FunctionCall call;
  const Status called = GuardedCall([&]() -> Status {
    if (parts.function(inputs, &outputs, &error)) return OkStatus();
    return InvalidArgument(error.empty() ? "the function failed" : error);
  });
  if (!called.ok()) {
    return called.WithContext(StrCat("holder ", parts.name));
  }
  if (outputs.size() != parts.outputs.size()) {
    return InvalidArgument("holder ", parts.name, " has ", parts.outputs.size(),
                           " outputs, and made ", outputs.size());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    TIM_RETURN_IF_ERROR(CheckOutput(parts, i, &outputs[i]));
  }
  return outputs;
}

std::shared_ptr<const NodeState> MakeHolderNode(
    std::shared_ptr<const HolderParts> parts) {
  auto schema = std::make_shared<const ir::OpSchema>(SchemaOf(parts));
  auto node = std::make_shared<NodeState>();
  node->op = parts->name;
  node->schema = schema.get();
  node->ordered = parts->effects.ordered;
  node->status = ir::CompleteAttributes(*schema, &node->attributes);
  node->outputs.resize(static_cast<size_t>(schema->outputs.limit));
  node->own.push_back(std::move(schema));
  return node;
}

const HolderParts* HolderOf(const ir::OpSchema& schema) {
  const auto* inference = schema.infer_shapes.target<HolderInference>();
  return inference != nullptr ? inference->parts.get() : nullptr;
}

bool HasHolder(const NodeState& node) {
  if (node.own.empty()) return false;
  ir::Node like;
  like.schema = node.schema;
  like.composite = node.composite;
  like.attributes = node.attributes;
  return FindIn(like, [](const ir::Node& in) {
           return in.schema != nullptr && HolderOf(*in.schema) != nullptr;
         }) != nullptr;
}

bool IsOrdered(const ir::Node& node) {
  return FindIn(node, [](const ir::Node& in) {
           const HolderParts* const parts =
               in.schema != nullptr ? HolderOf(*in.schema) : nullptr;
           return parts != nullptr && parts->effects.ordered;
         }) != nullptr;
}

const ir::Node* FindNode(const ir::Graph& graph,
                         const std::function<bool(const ir::Node&)>& matches) {
  for (const ir::NodeId id : graph.NodeIds()) {
    if (const ir::Node* found = FindIn(graph.node(id), matches)) return found;
  }
  return nullptr;
}

Outputs Hold(const std::shared_ptr<const NodeState>& node,
             const std::vector<Value>& inputs,
             const std::vector<Token>& after) {
  for (const Value& input : inputs) {
    if (IsAbsent(input)) continue;
    const Status status = StateOf(input)->status();
    if (!status.ok()) return FailedOutputs(status);
  }
  if (const auto graph = GraphFor(*node, inputs)) {
    return graph->Record(node, inputs, after);
  }
  const HolderParts& parts = *HolderOf(*node->schema);
  auto values = GuardedCall([&] { return HoldNow(parts, inputs, after); });
  if (!values.ok()) return FailedOutputs(values.status());
  return MakeOutputs(*std::move(values));
}

std::shared_ptr<const ir::OpRegistry> RegistryWith(const OwnSchemas& own) {
  if (own.empty()) return nullptr;
  auto registry = std::make_shared<ir::OpRegistry>(&ops::KnownOperators());
  for (const auto& schema : own) {
    if (registry->Find(schema->Key()) == nullptr) registry->Add(*schema);
  }
  return registry;
}

}  // namespace internal

Outputs Holder(const std::string& name, const std::vector<Value>& inputs,
               const std::vector<Spec>& outputs, HolderFunction function,
               Effects effects, const std::vector<Token>& after) {
  auto parts = internal::PartsOf(name, inputs.size(), outputs,
                                 std::move(function), effects);
  if (!parts.ok()) return internal::FailedOutputs(parts.status());
  return internal::Hold(
      internal::MakeHolderNode(
          std::make_shared<const internal::HolderParts>(*std::move(parts))),
      inputs, after);
}

}  // namespace tim::values
