// Reverse-mode differentiation: the nodes in reverse order, each by the rule of
// its operator.
#include "compiler/differentiate.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "compiler/module.h"
#include "compiler/passes/passes.h"
#include "ir/constant.h"
#include "ir/inferred_node.h"
#include "ir/live_copy.h"
#include "ir/op_schema.h"
#include "ir/zero_vjp.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

Result<ValueId> AddOp(Graph* graph, const ir::OpRegistry& registry,
                      const std::string& op, std::vector<ValueId> inputs,
                      ir::AttributeMap attributes) {
  TIM_ASSIGN_OR_RETURN(
      const NodeId id,
      ir::AddInferredNode(
          {.op = op,
           .name = StrCat("gradient/", op.substr(op.find('.') + 1), "#",
                          graph->node_id_limit()),
           .inputs = std::move(inputs),
           .attributes = std::move(attributes)},
          registry, graph));
  return graph->node(id).outputs[0];
}

struct NodeCotangents {
  std::vector<ValueId> outputs;  // kNone where there is none.
  std::vector<bool> wanted;      // Of each input.
};

Status CheckAnswer(const Graph& graph, const Node& node,
                   const NodeCotangents& cotangents,
                   const std::vector<ValueId>& answer) {
  if (answer.size() != node.inputs.size()) {
    return TIM_INTERNAL("the gradient rule of ", node.schema->Key(), " gave ",
                        answer.size(), " cotangents for ", node.inputs.size(),
                        " inputs");
  }
  for (size_t i = 0; i < answer.size(); ++i) {
    if (answer[i] == ir::kNone || !cotangents.wanted[i]) continue;
    const ir::TensorDesc& input = graph.value(node.inputs[i]).desc;
    const ir::TensorDesc& given = graph.value(answer[i]).desc;
    if (input.type == given.type && input.shape == given.shape) continue;
    return TIM_INTERNAL("the gradient rule of ", node.schema->Key(), " gave ",
                        given.ToString(), " for input ", i, ", ",
                        input.ToString());
  }
  return OkStatus();
}

// What the rule of the node's operator answers.
Result<std::vector<ValueId>> ApplyRule(Graph* graph,
                                       const ir::OpRegistry& registry,
                                       NodeId id,
                                       const NodeCotangents& cotangents) {
  const Node node = graph->node(id);
  TIM_ASSIGN_OR_RETURN(const std::vector<ValueId> answer,
                       node.schema->vjp({.graph = graph,
                                         .node = &graph->node(id),
                                         .registry = &registry,
                                         .cotangents = cotangents.outputs,
                                         .wanted = cotangents.wanted}));
  TIM_RETURN_IF_ERROR(CheckAnswer(*graph, node, cotangents, answer));
  return answer;
}

class Differentiation {
 public:
  Differentiation(Graph* graph, const ir::OpRegistry& registry,
                  const std::vector<ValueId>& wrt)
      : graph_(*graph), registry_(registry), wrt_(wrt) {}

  Result<std::vector<ValueId>> Run(const std::vector<Cotangent>& seeds) {
    TIM_RETURN_IF_ERROR(ExpandOnTheWay());
    for (const Cotangent& seed : seeds) Give(seed.value, seed.cotangent);
    TIM_ASSIGN_OR_RETURN(const std::vector<NodeId> order,
                         graph_.TopologicalOrder());
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const Status status = Visit(*it);
      if (status.ok()) continue;
      return status.WithContext(Describe(graph_, graph_.node(*it)));
    }
    std::vector<ValueId> out;
    for (const ValueId id : wrt_) {
      TIM_ASSIGN_OR_RETURN(const ValueId gradient, GradientOf(id));
      out.push_back(gradient);
    }
    return out;
  }

  // What Run() fails with for want of a rule, of operands that may be open:
  // rules are taken to reach all inputs.
  Status FindMissing(const std::vector<ValueId>& objectives) {
    TIM_RETURN_IF_ERROR(ExpandOnTheWay());
    std::set<ValueId> reached(objectives.begin(), objectives.end());
    TIM_ASSIGN_OR_RETURN(const std::vector<NodeId> order,
                         graph_.TopologicalOrder());
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const Node& node = graph_.node(*it);
      const auto found = std::find_if(
          node.outputs.begin(), node.outputs.end(), [&](ValueId output) {
            return Depends(output) && reached.contains(output);
          });
      if (found == node.outputs.end()) continue;
      const bool has_rule = node.schema != nullptr && node.schema->vjp;
      if (has_rule && ir::HasZeroVjp(*node.schema)) continue;
      Status reason =
          has_rule ? OkStatus()
                   : MissingRule(node).WithContext(Describe(graph_, node));
      if (missing_.contains(*found)) reason = missing_.at(*found);
      for (const ValueId input : node.inputs) {
        if (!Depends(input)) continue;
        reached.insert(input);
        if (!reason.ok()) missing_.emplace(input, reason);
      }
    }
    for (const ValueId id : wrt_) {
      const auto found = missing_.find(id);
      if (found != missing_.end()) return WithAdvice(found->second, id);
    }
    return OkStatus();
  }

 private:
  bool Depends(ValueId id) const {
    return id != ir::kNone && id < static_cast<int>(depends_.size()) &&
           depends_[id];
  }
  bool AnyInputDepends(const Node& node) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(),
                       [&](ValueId id) { return Depends(id); });
  }

  // Float values that depend on `wrt`.
  Status MarkDependents() {
    depends_.assign(graph_.value_id_limit(), false);
    for (const ValueId id : wrt_) depends_[id] = true;
    TIM_ASSIGN_OR_RETURN(const std::vector<NodeId> order,
                         graph_.TopologicalOrder());
    for (const NodeId id : order) {
      const Node& node = graph_.node(id);
      if (!AnyInputDepends(node)) continue;
      for (const ValueId output : node.outputs) {
        if (output == ir::kNone) continue;
        depends_[output] = ir::IsFloat(graph_.value(output).desc.type);
      }
    }
    return OkStatus();
  }

  bool ExpandsOnTheWay(const Node& node) const {
    const bool has_rule = node.schema != nullptr && node.schema->vjp;
    return node.composite && !has_rule && AnyInputDepends(node);
  }

  // Bodies may have composites themselves.
  Status ExpandOnTheWay() {
    while (true) {
      TIM_RETURN_IF_ERROR(MarkDependents());
      std::vector<NodeId> ids = graph_.NodeIds();
      std::erase_if(
          ids, [&](NodeId id) { return !ExpandsOnTheWay(graph_.node(id)); });
      if (ids.empty()) return OkStatus();
      ExpandComposites(ids, &graph_);
    }
  }

  void Give(ValueId value, ValueId cotangent) {
    if (Depends(value)) cotangents_[value].push_back(cotangent);
  }

  // The sum of what the value's readers gave, kNone where there is nothing.
  Result<ValueId> CotangentOf(ValueId value) {
    const auto found = cotangents_.find(value);
    if (found == cotangents_.end()) return ir::kNone;
    std::vector<ValueId>& terms = found->second;
    if (terms.size() == 1) return terms[0];
    const auto count = static_cast<int64_t>(terms.size());
    // AddN adds in float32, whatever the type.
    TIM_ASSIGN_OR_RETURN(const ValueId sum,
                         count == 2
                             ? AddOp(&graph_, registry_, "tim.Add", terms, {})
                             : AddOp(&graph_, registry_, "tim.AddN", terms,
                                     {{"num_inputs", count}}));
    terms = {sum};
    return sum;
  }

  // A missing rule is no failure yet: StopGradient may be before it.
  Status Visit(NodeId id) {
    const Node node = graph_.node(id);
    if (!AnyInputDepends(node)) return OkStatus();
    NodeCotangents known;
    const Status* missing = nullptr;
    bool any = false;
    for (const ValueId output : node.outputs) {
      TIM_ASSIGN_OR_RETURN(ValueId cotangent, output == ir::kNone
                                                  ? Result<ValueId>(ir::kNone)
                                                  : CotangentOf(output));
      const auto found = missing_.find(output);
      if (found != missing_.end()) {
        missing = &found->second;
        cotangent = output;  // One of its shape, to see where it leads.
      }
      any |= cotangent != ir::kNone;
      known.outputs.push_back(cotangent);
    }
    if (!any) return OkStatus();
    for (const ValueId input : node.inputs) {
      known.wanted.push_back(Depends(input));
    }
    if (!HasStaticOperands(graph_, node)) {
      return Unimplemented(
          "shapes of operands are not known; give the graph's inputs shapes "
          "before it is differentiated",
          DescribeOperands(graph_, node));
    }
    Result<std::vector<ValueId>> given = std::vector<ValueId>();
    if (node.schema != nullptr && node.schema->vjp) {
      given = ApplyRule(&graph_, registry_, id, known);
    } else {
      given = MissingRule(node);
    }
    if (!given.ok() && given.status().code() != StatusCode::kUnimplemented) {
      return given.status();
    }
    const Status reason =
        missing != nullptr ? *missing
        : given.ok()       ? OkStatus()
                           : given.status().WithContext(Describe(graph_, node));
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!known.wanted[i]) continue;
      const bool reached = !given.ok() || (*given)[i] != ir::kNone;
      if (!reached) continue;
      if (reason.ok()) {
        Give(node.inputs[i], (*given)[i]);
      } else {
        missing_.emplace(node.inputs[i], reason);
      }
    }
    return OkStatus();
  }

  static Status MissingRule(const Node& node) {
    const std::string what =
        node.schema == nullptr
            ? StrCat("composite ", node.composite->name)
            : StrCat("operator ", node.schema->domain, ".", node.schema->name);
    return Unimplemented(what, " has no gradient rule");
  }

  Status WithAdvice(const Status& missing, ValueId id) const {
    return missing.WithContext(
        StrCat("the gradient of ", graph_.value(id).name,
               " cannot be made (cut it off there with StopGradient, or put "
               "operators that have rules in its place with Replace)"));
  }

  Result<ValueId> GradientOf(ValueId id) {
    const auto found = missing_.find(id);
    if (found != missing_.end()) return WithAdvice(found->second, id);
    TIM_ASSIGN_OR_RETURN(const ValueId sum, CotangentOf(id));
    return sum != ir::kNone ? Result<ValueId>(sum)
                            : AddFilled(&graph_, registry_, 0, id);
  }

  Graph& graph_;
  const ir::OpRegistry& registry_;
  const std::vector<ValueId>& wrt_;
  std::vector<bool> depends_;
  std::map<ValueId, std::vector<ValueId>> cotangents_;
  std::map<ValueId, Status> missing_;  // Cotangents that lack a rule.
};

Result<std::vector<ValueId>> WrtValues(const Graph& graph,
                                       const std::vector<int>& wrt) {
  std::vector<ValueId> out;
  const auto count = static_cast<int>(graph.inputs().size());
  for (const int index : wrt) {
    if (index < 0 || index >= count) {
      return InvalidArgument("graph ", graph.name(), " has ", count,
                             " inputs; there is none of number ", index,
                             " to differentiate by");
    }
    const ValueId id = graph.inputs()[index];
    const ir::Value& value = graph.value(id);
    if (!ir::IsFloat(value.desc.type)) {
      return InvalidArgument("graph ", graph.name(), ": input ", index, " ",
                             value.name, " is ", value.desc.ToString(),
                             ", but only inputs of float types have gradients");
    }
    if (std::count(out.begin(), out.end(), id) != 0) {
      return InvalidArgument("graph ", graph.name(), ": input ", index,
                             " is named twice to differentiate by");
    }
    out.push_back(id);
  }
  return out;
}

Status CheckObjective(const Graph& graph) {
  if (graph.outputs().empty()) {
    return InvalidArgument("graph ", graph.name(), " has no output");
  }
  const ir::TensorDesc& desc = graph.value(graph.outputs()[0]).desc;
  if (ir::IsFloat(desc.type) && desc.shape.NumElements() == 1) {
    return OkStatus();
  }
  if (!desc.shape.IsStatic()) {
    return Unimplemented("graph ", graph.name(), ": output 0 is ",
                         desc.ToString(),
                         ", whose shape is not known; give the graph's inputs "
                         "shapes before it is differentiated");
  }
  return InvalidArgument("graph ", graph.name(), ": output 0 is ",
                         desc.ToString(),
                         ", expected one element of a float type to "
                         "differentiate; reduce it, or use Vjp");
}

// Cotangents of outputs of no float type are inputs that nothing reads.
std::vector<Cotangent> AddCotangentInputs(Graph* graph) {
  std::vector<Cotangent> seeds;
  for (const ValueId output : graph->outputs()) {
    const ir::Value& value = graph->value(output);
    const bool is_scalar = value.is_scalar;
    const ValueId input = graph->AddValue(value.desc, ir::Role::kInput,
                                          StrCat("cotangent/", value.name));
    graph->value(input).is_scalar = is_scalar;
    graph->AddInput(input);
    seeds.push_back({output, input});
  }
  return seeds;
}

std::string NameOf(const Graph& graph) {
  return StrCat("graph ", graph.name());
}

}  // namespace

Result<std::vector<ValueId>> AddCotangents(Graph* graph,
                                           const ir::OpRegistry& registry,
                                           const std::vector<Cotangent>& seeds,
                                           const std::vector<ValueId>& wrt) {
  return Differentiation(graph, registry, wrt).Run(seeds);
}

Result<ValueId> AddFilled(Graph* graph, const ir::OpRegistry& registry,
                          float number, ValueId like) {
  const ir::TensorDesc desc = graph->value(like).desc;
  const bool is_scalar = graph->value(like).is_scalar;
  ir::TensorDesc single;
  single.type = ir::DataType::kFloat32;
  single.shape = ir::Shape(std::vector<int64_t>(desc.shape.rank(), 1));
  ValueId value =
      graph->AddConstant(single, ir::MakeConstant(&number, sizeof number));
  graph->value(value).is_scalar = is_scalar;
  if (desc.type != single.type) {
    ir::TensorDesc converted;
    converted.type = desc.type;
    TIM_ASSIGN_OR_RETURN(
        const NodeId id,
        ir::AddInferredNode(
            {.op = "tim.DataConvert",
             .name = StrCat("gradient/DataConvert#", graph->node_id_limit()),
             .inputs = {value},
             .outputs = {converted}},
            registry, graph));
    value = graph->node(id).outputs[0];
  }
  if (desc.shape == single.shape) return value;
  return AddOp(graph, registry, "tim.Broadcast", {value},
               {{"shape", desc.shape.dims()}});
}

Status Tidy(Graph* graph, const ir::OpRegistry& registry) {
  CompileOptions options;
  options.was_compiled = true;
  Module module(std::move(*graph), registry, options);
  Status status = MergeEqual(module);
  if (status.ok()) status = Simplify(module);
  // Folded constants make more nodes equal.
  if (status.ok()) status = MergeEqual(module);
  *graph = ir::LiveCopy(module.graph, module.graph.outputs());
  return status;
}

Status CheckWrt(const Graph& graph, const std::vector<int>& wrt) {
  return WrtValues(graph, wrt).status();
}

Status CheckRules(Graph graph, const ir::OpRegistry& registry,
                  const std::vector<int>& wrt, GradientsOf objective) {
  TIM_RETURN_IF_ERROR(InferGraph(&graph, registry));
  TIM_ASSIGN_OR_RETURN(const std::vector<ValueId> values,
                       WrtValues(graph, wrt));
  std::vector<ValueId> objectives = graph.outputs();
  if (objective == GradientsOf::kFirstOutput) objectives.resize(1);
  return Differentiation(&graph, registry, values).FindMissing(objectives);
}

Result<Graph> Differentiate(Graph graph, const ir::OpRegistry& registry,
                            const std::vector<int>& wrt) {
  TIM_RETURN_IF_ERROR(InferGraph(&graph, registry));
  TIM_RETURN_IF_ERROR(CheckObjective(graph));
  TIM_ASSIGN_OR_RETURN(const std::vector<ValueId> values,
                       WrtValues(graph, wrt));
  const ValueId objective = graph.outputs()[0];
  Result<ValueId> one = AddFilled(&graph, registry, 1, objective);
  if (!one.ok()) return one.status().WithContext(NameOf(graph));
  TIM_ASSIGN_OR_RETURN(
      const std::vector<ValueId> gradients,
      AddCotangents(&graph, registry, {{objective, *one}}, values));
  for (const ValueId gradient : gradients) graph.AddOutput(gradient);
  TIM_RETURN_IF_ERROR(Tidy(&graph, registry).WithContext(NameOf(graph)));
  return graph;
}

Result<Graph> Vjp(Graph graph, const ir::OpRegistry& registry,
                  const std::vector<int>& wrt) {
  TIM_RETURN_IF_ERROR(InferGraph(&graph, registry));
  TIM_ASSIGN_OR_RETURN(const std::vector<ValueId> values,
                       WrtValues(graph, wrt));
  const std::vector<Cotangent> seeds = AddCotangentInputs(&graph);
  TIM_ASSIGN_OR_RETURN(const std::vector<ValueId> gradients,
                       AddCotangents(&graph, registry, seeds, values));
  graph = ir::LiveCopy(graph, gradients);
  TIM_RETURN_IF_ERROR(Tidy(&graph, registry).WithContext(NameOf(graph)));
  return graph;
}

}  // namespace tim::compiler
