// Operators that call subgraphs: those are spelled out where they are called.
#include <algorithm>
#include <utility>

#include "models/tflite/importer.h"
#include "tim/vx/ops/control.h"
#include "tim/vx/ops/select.h"

namespace tim::models::tflite {
namespace {

constexpr int kMostDepth = 8;
// Tensors that cost as much as an operator.
constexpr int64_t kTensorsOfOperator = 16;
// Operators of which both branches are better run than one behind a wait.
constexpr size_t kFewOperators = 8;

// A constant truth; fails on others.
Result<bool> Truth(Node* node, const std::string& whose, const Value& value) {
  if (value.constant == nullptr || value.type != vx::DataType::BOOL8) {
    return node->Refuse(whose, Describe(value),
                        " is known when the model runs; a constant truth is "
                        "taken");
  }
  TIM_ASSIGN_OR_RETURN(const auto values, Integers(*value.constant));
  if (values.size() == 1) return values[0] != 0;
  return node->Refuse(whose, Describe(value), ", not one truth");
}

// The first `count` operands of a graph inside.
std::vector<Value> InsidesOf(const GraphBuilder& builder, size_t count) {
  std::vector<Value> insides;
  for (size_t i = 0; i < count; ++i) {
    insides.push_back(builder.operands()[i].inside);
  }
  return insides;
}

Status CheckBranches(Node* node, const std::vector<Value>& first,
                     const std::vector<Value>& second) {
  if (first.size() != second.size()) {
    return node->Refuse("outputs", "the branches have ", first.size(), " and ",
                        second.size());
  }
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i].dims != second[i].dims || first[i].type != second[i].type ||
        !(first[i].quantization == second[i].quantization)) {
      return node->Refuse(StrCat("output ", i), "the branches make ",
                          Describe(first[i]), " and ", Describe(second[i]));
    }
  }
  return OkStatus();
}

Status TooMany(Node* node) {
  return node->Refuse(
      "", "subgraphs have too many operators when they are spelled out");
}

}  // namespace

bool Importer::IsControlFlow(const std::string& op) {
  return op == "IF" || op == "WHILE" || op == "CALL" ||
         op == "STABLEHLO_COMPOSITE";
}

// Values by their tensors' numbers, then the operators.
Result<std::vector<Value>> Importer::Walk(Node* node,
                                          const std::vector<Value>& inputs) {
  if (operators_left_ < 0) return TooMany(node);
  const auto places = Items(subgraph_->inputs());
  if (places.size() != inputs.size()) {
    return node->Refuse("inputs", "a subgraph of ", places.size(),
                        " inputs is called with ", inputs.size());
  }
  for (size_t i = 0; i < places.size(); ++i) {
    if (inputs[i].IsAbsent()) {
      return node->Refuse(StrCat("input ", i), "it is absent or a handle");
    }
    const auto declared = DeclaredOf(
        *subgraph_->tensors()->Get(static_cast<uint32_t>(places[i])));
    if (!declared.ok() || declared->type != inputs[i].type) {
      return node->Refuse(StrCat("input ", i), Describe(inputs[i]),
                          " is not of the subgraph's type");
    }
    Known& known = tensors_[static_cast<size_t>(places[i])];
    if (known.state != Known::State::kNo) {
      return node->Refuse("inputs", "the subgraph has one of them twice");
    }
    known.value = inputs[i];
    known.state = Known::State::kYes;
  }
  if (subgraph_->operators() != nullptr) {
    int number = 0;
    for (const fbs::Operator* table : *subgraph_->operators()) {
      if (--operators_left_ < 0) return TooMany(node);
      TIM_RETURN_IF_ERROR(AddOperator(*table, number++));
    }
  }
  reads_lost_ = false;
  std::vector<Value> made;
  for (const int32_t tensor : Items(subgraph_->outputs())) {
    TIM_ASSIGN_OR_RETURN(Value value, ValueOf(tensor));
    if (value.IsAbsent()) {
      return node->Refuse("outputs", "'", NameOf(tensor), "' is a handle");
    }
    made.push_back(std::move(value));
  }
  return made;
}

Result<std::vector<Value>> Importer::Inline(Node* node, int64_t subgraph,
                                            const std::vector<Value>& inputs) {
  const auto& subgraphs = *file_.model().subgraphs();
  if (subgraph < 0 || subgraph >= static_cast<int64_t>(subgraphs.size())) {
    return node->Refuse("subgraph", "number ", subgraph, " of ",
                        subgraphs.size());
  }
  if (depth_ == kMostDepth) {
    return node->Refuse("subgraph", "calls are more than ", kMostDepth,
                        " deep");
  }
  const fbs::Subgraph* const caller =
      std::exchange(subgraph_, subgraphs.Get(static_cast<uint32_t>(subgraph)));
  std::vector<Known> callers_tensors = std::exchange(tensors_, {});
  std::string callers_path = std::exchange(path_, StrCat(node->name, "/"));
  if (subgraph_->tensors() != nullptr) {
    operators_left_ -= 1 + subgraph_->tensors()->size() / kTensorsOfOperator;
    tensors_.resize(operators_left_ < 0 ? 0 : subgraph_->tensors()->size());
  }
  ++depth_;
  auto made = Walk(node, inputs);
  --depth_;
  counted_.insert(subgraph_);
  subgraph_ = caller;
  tensors_ = std::move(callers_tensors);
  path_ = std::move(callers_path);
  workspace_.builder().SetNode(StrCat(node->op, " ", node->name));
  return made;
}

Status Importer::Branch(Node* node) {
  TIM_ASSIGN_OR_RETURN(const auto* options, node->Options<fbs::If>());
  if (!node->Has(0)) return node->Refuse("input 0", "it is absent");
  const Value condition = node->inputs[0];
  const std::vector<Value> inputs(node->inputs.begin() + 1, node->inputs.end());
  if (condition.constant != nullptr) {
    TIM_ASSIGN_OR_RETURN(const bool is_so, Truth(node, "input 0", condition));
    TIM_ASSIGN_OR_RETURN(node->outputs, Inline(node,
                                               is_so ? options->then_subgraph()
                                                     : options->else_subgraph(),
                                               inputs));
    return OkStatus();
  }
  if (condition.ElementCount() != 1 || condition.type != vx::DataType::BOOL8) {
    return node->Refuse("input 0", Describe(condition), ", not one truth");
  }
  TIM_ASSIGN_OR_RETURN(const Value is_so,
                       workspace_.builder().Reshape(condition, {1}));
  const size_t work = std::max(OperatorsOf(options->then_subgraph()),
                               OperatorsOf(options->else_subgraph()));
  if (workspace_.builder().TakesInner() && work > kFewOperators) {
    return RunOneBranch(node, *options, is_so, inputs);
  }
  return RunBothBranches(node, *options, is_so, inputs);
}

size_t Importer::OperatorsOf(int64_t subgraph) const {
  const auto& subgraphs = *file_.model().subgraphs();
  if (subgraph < 0 || subgraph >= static_cast<int64_t>(subgraphs.size())) {
    return 0;
  }
  const auto* operators =
      subgraphs.Get(static_cast<uint32_t>(subgraph))->operators();
  return operators == nullptr ? 0 : operators->size();
}

Status Importer::RunBothBranches(Node* node, const fbs::If& options,
                                 const Value& is_so,
                                 const std::vector<Value>& inputs) {
  const bool outer = std::exchange(workspace_.is_conditional, true);
  auto then_values = Inline(node, options.then_subgraph(), inputs);
  auto else_values = Inline(node, options.else_subgraph(), inputs);
  workspace_.is_conditional = outer;
  TIM_RETURN_IF_ERROR(then_values.status());
  TIM_RETURN_IF_ERROR(else_values.status());
  TIM_RETURN_IF_ERROR(CheckBranches(node, *then_values, *else_values));
  node->outputs.clear();
  for (size_t i = 0; i < then_values->size(); ++i) {
    const Value& a = (*then_values)[i];
    TIM_ASSIGN_OR_RETURN(Value chosen,
                         workspace_.builder().Add<vx::ops::Select>(
                             {is_so, a, (*else_values)[i]},
                             Wanted::Of(a.type, a.dims, a.quantization)));
    node->outputs.push_back(std::move(chosen));
  }
  return OkStatus();
}

Status Importer::RunOneBranch(Node* node, const fbs::If& options,
                              const Value& is_so,
                              const std::vector<Value>& inputs) {
  GraphBuilder& builder = workspace_.builder();
  TIM_ASSIGN_OR_RETURN(GraphBuilder then_graph, builder.Inner());
  TIM_ASSIGN_OR_RETURN(GraphBuilder else_graph, builder.Inner());
  const size_t refusals = model_->refusals.size();
  TIM_ASSIGN_OR_RETURN(
      const std::vector<Value> then_values,
      Build(node, options.then_subgraph(), inputs, &then_graph));
  TIM_RETURN_IF_ERROR(else_graph.AddOperandsOf(then_graph));
  TIM_ASSIGN_OR_RETURN(
      const std::vector<Value> else_values,
      Build(node, options.else_subgraph(), inputs, &else_graph));
  TIM_RETURN_IF_ERROR(CheckBranches(node, then_values, else_values));
  node->outputs = then_values;
  if (model_->refusals.size() != refusals) return OkStatus();
  TIM_ASSIGN_OR_RETURN(
      node->outputs,
      builder.AddIf(is_so, &then_graph, then_values, &else_graph, else_values));
  return OkStatus();
}

Status Importer::Loop(Node* node) {
  TIM_ASSIGN_OR_RETURN(const auto* options, node->Options<fbs::While>());
  std::vector<Value> values = node->inputs;
  for (int64_t trip = 0;; ++trip) {
    const size_t refusals = model_->refusals.size();
    TIM_ASSIGN_OR_RETURN(const auto condition,
                         Inline(node, options->condition_subgraph(), values));
    if (condition.size() != 1) {
      return node->Refuse("cond_subgraph_index", "it has ", condition.size(),
                          " outputs, not 1");
    }
    if (condition[0].constant == nullptr) {
      return Repeat(node, *options, values);
    }
    TIM_ASSIGN_OR_RETURN(const bool goes_on,
                         Truth(node, "cond_subgraph_index", condition[0]));
    if (!goes_on) break;
    if (trip >= options_.most_trips) {
      return node->Refuse("", "it has more than ", options_.most_trips,
                          " trips; see ImportOptions::most_trips");
    }
    TIM_ASSIGN_OR_RETURN(values,
                         Inline(node, options->body_subgraph(), values));
    // Every trip would say the same.
    if (model_->refusals.size() != refusals) break;
  }
  node->outputs = std::move(values);
  return OkStatus();
}

Result<std::vector<Value>> Importer::Build(Node* node, int64_t number,
                                           const std::vector<Value>& inputs,
                                           GraphBuilder* builder) {
  GraphBuilder* const outer = workspace_.SetBuilder(builder);
  const bool conditional = std::exchange(workspace_.is_conditional, true);
  auto made = Inline(node, number, inputs);
  workspace_.is_conditional = conditional;
  workspace_.SetBuilder(outer);
  return made;
}

Status Importer::Repeat(Node* node, const fbs::While& options,
                        const std::vector<Value>& state) {
  TIM_ASSIGN_OR_RETURN(GraphBuilder body, workspace_.builder().Inner());
  TIM_ASSIGN_OR_RETURN(GraphBuilder condition, workspace_.builder().Inner());
  for (const Value& value : state) {
    TIM_RETURN_IF_ERROR(body.AddOperand(value).status());
  }
  const size_t count = state.size();
  const size_t refusals = model_->refusals.size();
  TIM_ASSIGN_OR_RETURN(const auto after, Build(node, options.body_subgraph(),
                                               InsidesOf(body, count), &body));
  TIM_RETURN_IF_ERROR(condition.AddOperandsOf(body));
  TIM_ASSIGN_OR_RETURN(const auto truth,
                       Build(node, options.condition_subgraph(),
                             InsidesOf(condition, count), &condition));
  TIM_RETURN_IF_ERROR(body.AddOperandsOf(condition));
  node->outputs = state;
  if (model_->refusals.size() != refusals) return OkStatus();
  if (truth.size() != 1 || truth[0].type != vx::DataType::BOOL8 ||
      truth[0].ElementCount() != 1 || after.size() != count) {
    return node->Refuse("cond_subgraph_index",
                        "it makes no truth, or the body has ", after.size(),
                        " outputs, not ", count);
  }
  for (size_t i = 0; i < count; ++i) {
    if (after[i].dims != state[i].dims || after[i].type != state[i].type ||
        !(after[i].quantization == state[i].quantization)) {
      return node->Refuse(StrCat("output ", i), "a trip makes ",
                          Describe(after[i]), " of ", Describe(state[i]),
                          "; the trips are known when the model runs, which "
                          "takes values of equal types and extents");
    }
    TIM_RETURN_IF_ERROR(body.AddResult(after[i]));
  }
  TIM_RETURN_IF_ERROR(condition.AddResult(truth[0]));
  std::vector<Value> inputs;
  std::vector<Wanted> wanted;
  for (size_t i = 0; i < body.operands().size(); ++i) {
    const auto& operand = body.operands()[i];
    if (i >= count) TIM_RETURN_IF_ERROR(body.AddResult(operand.inside));
    inputs.push_back(operand.outside);
    wanted.push_back(Wanted::Of(operand.inside.type, operand.inside.dims,
                                operand.inside.quantization));
  }
  GraphBuilder& builder = workspace_.builder();
  const auto operation = builder.graph()->CreateOperation<vx::ops::While>(
      condition.graph(), body.graph());
  TIM_ASSIGN_OR_RETURN(node->outputs,
                       builder.AddMade(operation, inputs, wanted));
  node->outputs.resize(count);
  return OkStatus();
}

Status Importer::ConvertControlFlow(Node* node) {
  TIM_RETURN_IF_ERROR(ReadOperands(node));
  const size_t wanted = node->declared.size();
  if (node->op == "IF") {
    TIM_RETURN_IF_ERROR(Branch(node));
  } else if (node->op == "WHILE") {
    TIM_RETURN_IF_ERROR(Loop(node));
  } else if (node->op == "CALL") {
    TIM_ASSIGN_OR_RETURN(const auto* options, node->Options<fbs::Call>());
    TIM_ASSIGN_OR_RETURN(node->outputs,
                         Inline(node, options->subgraph(), node->inputs));
  } else {
    const auto* options = node->table->more_options_as_Composite();
    if (options == nullptr) {
      return node->Refuse("options", "they are absent or another operator's");
    }
    TIM_ASSIGN_OR_RETURN(node->outputs,
                         Inline(node, options->decomposition(), node->inputs));
  }
  reads_lost_ = false;
  if (node->outputs.size() != wanted) {
    return node->Refuse("outputs", "there are ", wanted,
                        ", the subgraph makes ", node->outputs.size());
  }
  for (size_t i = 0; i < wanted; ++i) {
    node->outputs[i].name = node->declared[i].name;
  }
  return OkStatus();
}

}  // namespace tim::models::tflite
