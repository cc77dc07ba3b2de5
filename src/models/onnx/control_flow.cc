// Nodes If, Loop and Scan of ONNX, whose course is known when the model is
// read, and those If whose condition is not: graphs inside of an operation, or
// both branches and a choice between their results where they are short.
#include <algorithm>
#include <utility>

#include "models/onnx/importer.h"

namespace tim::models::onnx {
namespace {

// The single element of a constant condition.
Result<bool> ConditionOf(const Known& known, const char* what) {
  if (known.value.constant == nullptr) {
    return Unimplemented(
        what,
        " must be known when the model is loaded, but follows from "
        "inputs; give the content of those as ImportOptions::values");
  }
  TIM_ASSIGN_OR_RETURN(const std::vector<int64_t> values,
                       Integers(*known.value.constant));
  if (values.size() != 1) {
    return InvalidArgument(what, " has ", values.size(),
                           " elements, expected 1");
  }
  return values[0] != 0;
}

// Known only when the model runs.
bool IsOpen(const Value& value) {
  return !value.IsAbsent() && value.constant == nullptr;
}

// Nodes of which both branches are better run than one behind a wait.
constexpr size_t kFewNodes = 8;

size_t WorkOf(const GraphMessage& body) {
  return static_cast<size_t>(std::count_if(
      body.nodes.begin(), body.nodes.end(),
      [](const NodeMessage& node) { return node.op != "Constant"; }));
}

Status CheckBranches(const std::vector<Known>& first,
                     const std::vector<Known>& second) {
  if (first.size() != second.size()) {
    return InvalidArgument("its branches have ", first.size(), " and ",
                           second.size(), " outputs");
  }
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i].is_refused || second[i].is_refused) continue;
    const Value& a = first[i].value;
    const Value& b = second[i].value;
    if (a.IsAbsent() || b.IsAbsent() || a.type != b.type || a.dims != b.dims) {
      return Unimplemented(
          "operand 0, its condition, must be known when the model is loaded, ",
          "but follows from inputs, and output ", i,
          " of its branches is no tensor of the same type and extents; give ",
          "the content of those inputs as ImportOptions::values");
    }
  }
  return OkStatus();
}

bool AnyRefused(const std::vector<Known>& results) {
  return std::any_of(results.begin(), results.end(),
                     [](const Known& known) { return known.is_refused; });
}

}  // namespace

Importer::Special Importer::FindSpecial(const NodeMessage& node) {
  if (!node.domain.empty()) return nullptr;
  if (node.op == "If") return &Importer::RunIf;
  if (node.op == "Loop") return &Importer::RunLoop;
  if (node.op == "Scan") return &Importer::RunScan;
  return FindSequence(node.op);
}

Result<const GraphMessage*> Importer::BodyOf(const Call& call,
                                             const char* attribute) {
  for (const AttributeMessage& given : call.message.attributes) {
    if (given.name != attribute) continue;
    if (given.kind != static_cast<int64_t>(AttributeKind::kGraph)) break;
    return subgraphs_.Read(given);
  }
  return InvalidArgument("attribute '", attribute, "' is no graph");
}

Result<Importer::Results> Importer::RunIf(const Call& call) {
  if (call.operands.size() != 1) {
    return InvalidArgument("it has ", call.operands.size(),
                           " operands, expected 1");
  }
  const Value& condition = call.operands[0].value;
  if (condition.constant == nullptr && !condition.IsAbsent()) {
    return ChooseBranch(call, condition);
  }
  TIM_ASSIGN_OR_RETURN(
      const bool first,
      ConditionOf(call.operands[0], "operand 0, its condition,"));
  const char* branch = first ? "then_branch" : "else_branch";
  TIM_ASSIGN_OR_RETURN(const GraphMessage* graph, BodyOf(call, branch));
  return RunBody(*graph, {}, call, "");
}

Result<Importer::Results> Importer::ChooseBranch(const Call& call,
                                                 const Value& condition) {
  TIM_ASSIGN_OR_RETURN(const GraphMessage* first, BodyOf(call, "then_branch"));
  TIM_ASSIGN_OR_RETURN(const GraphMessage* second, BodyOf(call, "else_branch"));
  TIM_ASSIGN_OR_RETURN(const Value chosen, builder_->Reshape(condition, {}));
  if (builder_->TakesInner() &&
      std::max(WorkOf(*first), WorkOf(*second)) > kFewNodes) {
    return RunOneBranch(call, *first, *second, chosen);
  }
  return RunBothBranches(call, *first, *second, chosen);
}

Result<Importer::Results> Importer::RunBothBranches(const Call& call,
                                                    const GraphMessage& first,
                                                    const GraphMessage& second,
                                                    const Value& chosen) {
  TIM_ASSIGN_OR_RETURN(Results made, RunBody(first, {}, call, "then/"));
  TIM_ASSIGN_OR_RETURN(const Results others,
                       RunBody(second, {}, call, "else/"));
  TIM_RETURN_IF_ERROR(CheckBranches(made, others));
  for (size_t i = 0; i < made.size(); ++i) {
    if (made[i].is_refused || others[i].is_refused) {
      made[i] = Known::Refused();
      continue;
    }
    TIM_ASSIGN_OR_RETURN(
        made[i].value,
        Make("Where", {chosen, made[i].value, others[i].value}, {}));
  }
  return made;
}

Result<Importer::Results> Importer::RunOneBranch(const Call& call,
                                                 const GraphMessage& first,
                                                 const GraphMessage& second,
                                                 const Value& chosen) {
  TIM_ASSIGN_OR_RETURN(GraphBuilder then_graph, builder_->Inner());
  TIM_ASSIGN_OR_RETURN(GraphBuilder else_graph, builder_->Inner());
  const auto run = [&](GraphBuilder* inside, const GraphMessage& body,
                       const char* path) {
    GraphBuilder* const outer = std::exchange(builder_, inside);
    auto made = RunBody(body, {}, call, path);
    builder_ = outer;
    return made;
  };
  TIM_ASSIGN_OR_RETURN(Results made, run(&then_graph, first, "then/"));
  TIM_RETURN_IF_ERROR(else_graph.AddOperandsOf(then_graph));
  TIM_ASSIGN_OR_RETURN(const Results others, run(&else_graph, second, "else/"));
  if (AnyRefused(made) || AnyRefused(others)) {
    return Results(made.size(), Known::Refused());
  }
  TIM_RETURN_IF_ERROR(CheckBranches(made, others));
  std::vector<Value> then_values;
  std::vector<Value> else_values;
  for (size_t i = 0; i < made.size(); ++i) {
    then_values.push_back(made[i].value);
    else_values.push_back(others[i].value);
    if (!(then_values[i].quantization == else_values[i].quantization)) {
      return RunBothBranches(call, first, second, chosen);
    }
  }
  TIM_ASSIGN_OR_RETURN(const std::vector<Value> values,
                       builder_->AddIf(chosen, &then_graph, then_values,
                                       &else_graph, else_values));
  for (size_t i = 0; i < made.size(); ++i) made[i].value = values[i];
  return made;
}

Result<Value> Importer::Stack(const std::vector<Value>& values, int64_t axis) {
  std::vector<Value> parts;
  for (const Value& value : values) {
    Dims dims = value.dims;
    if (axis < 0) axis += value.rank() + 1;
    if (axis < 0 || axis > value.rank() || value.dims != values[0].dims) {
      return Unimplemented("the trips make results of different shapes, or ",
                           "axis ", axis, " is outside of their rank");
    }
    dims.insert(dims.begin() + axis, 1);
    TIM_ASSIGN_OR_RETURN(Value part, builder_->Reshape(value, dims));
    parts.push_back(std::move(part));
  }
  if (parts.size() == 1) return parts[0];
  return Make("Concat", std::move(parts), {{"axis", axis}});
}

Status Importer::StackScans(const Call& call,
                            const std::vector<std::vector<Value>>& stacked,
                            Results* results) {
  const size_t carried = results->size();
  for (size_t i = 0; i < stacked.size(); ++i) {
    const size_t output = carried + i;
    if (output >= call.message.outputs.size() ||
        call.message.outputs[output].empty()) {
      results->emplace_back();
      continue;
    }
    if (stacked[i].empty()) {
      results->push_back(Known::Missing(
          StrCat("loop '", call.label, "' has no trip, so that it is empty")));
      continue;
    }
    TIM_ASSIGN_OR_RETURN(Value stack, Stack(stacked[i], 0));
    results->push_back(Known{std::move(stack)});
  }
  return OkStatus();
}

Result<Importer::Results> Importer::RunLoop(const Call& call) {
  const auto& operands = call.operands;
  if (operands.size() < 2) {
    return InvalidArgument("it has ", operands.size(),
                           " operands, expected 2 or more");
  }
  TIM_ASSIGN_OR_RETURN(const GraphMessage* body, BodyOf(call, "body"));
  const size_t carried = operands.size() - 2;
  if (body->outputs.size() < carried + 1 ||
      call.message.outputs.size() > body->outputs.size() - 1) {
    return InvalidArgument("its body has ", body->outputs.size(),
                           " outputs, which do not fit the node");
  }
  const size_t scans = body->outputs.size() - 1 - carried;
  LoopState state{.goes_on = operands[1],
                  .carried = {operands.begin() + 2, operands.end()},
                  .stacked = std::vector<std::vector<Value>>(scans)};
  if (IsOpen(operands[0].value) || IsOpen(operands[1].value)) {
    return Repeat(call, *body, state);
  }
  int64_t trips = options_.most_trips + 1;
  if (!operands[0].value.IsAbsent()) {
    TIM_ASSIGN_OR_RETURN(const auto counts,
                         Integers(*operands[0].value.constant));
    if (counts.size() != 1) {
      return InvalidArgument("operand 0, the trip count, has ", counts.size(),
                             " elements");
    }
    trips = counts[0];
  }
  bool goes_on = true;
  if (!operands[1].value.IsAbsent()) {
    TIM_ASSIGN_OR_RETURN(goes_on,
                         ConditionOf(operands[1], "operand 1, its condition,"));
  }
  for (int64_t trip = 0; trip < trips && goes_on; ++trip) {
    if (trip >= options_.most_trips) {
      return Unimplemented("it has more than ", options_.most_trips,
                           " trips; see ImportOptions::most_trips");
    }
    Results inputs = {
        Known{builder_->ConstantOf<int64_t>({trip}, {})},
        Known{builder_->Constant(HostArray{
            vx::DataType::BOOL8, {}, 1, std::make_shared<const uint8_t>(1)})}};
    inputs.insert(inputs.end(), state.carried.begin(), state.carried.end());
    TIM_ASSIGN_OR_RETURN(Results made, RunBody(*body, std::move(inputs), call,
                                               StrCat(trip, "/")));
    if (AnyRefused(made)) return Results();
    state.trip = trip + 1;
    state.goes_on = made[0];
    state.carried.assign(made.begin() + 1, made.begin() + 1 + carried);
    for (size_t i = 0; i < scans; ++i) {
      state.stacked[i].push_back(made[1 + carried + i].value);
    }
    if (IsOpen(made[0].value)) return Repeat(call, *body, state);
    TIM_ASSIGN_OR_RETURN(goes_on, ConditionOf(made[0], "its body's condition"));
  }
  TIM_RETURN_IF_ERROR(StackScans(call, state.stacked, &state.carried));
  return state.carried;
}

}  // namespace tim::models::onnx
