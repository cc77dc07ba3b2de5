// If, Loop and Scan of ONNX, whose course is known when the model is read, and
// If as a choice between the results of both branches.
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
  TIM_ASSIGN_OR_RETURN(Results made, RunBody(*first, {}, call, "then/"));
  TIM_ASSIGN_OR_RETURN(const Results others,
                       RunBody(*second, {}, call, "else/"));
  if (made.size() != others.size()) {
    return InvalidArgument("its branches have ", made.size(), " and ",
                           others.size(), " outputs");
  }
  for (size_t i = 0; i < made.size(); ++i) {
    if (made[i].is_refused || others[i].is_refused) {
      made[i] = Known::Refused();
      continue;
    }
    const Value& a = made[i].value;
    const Value& b = others[i].value;
    if (a.IsAbsent() || b.IsAbsent() || a.type != b.type || a.dims != b.dims) {
      return Unimplemented(
          "operand 0, its condition, must be known when the model is loaded, ",
          "but follows from inputs, and output ", i,
          " of its branches is no tensor of the same type and extents; give ",
          "the content of those inputs as ImportOptions::values");
    }
    TIM_ASSIGN_OR_RETURN(made[i].value, Make("Where", {chosen, a, b}, {}));
  }
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
  Results state(operands.begin() + 2, operands.end());
  if (IsOpen(operands[0].value) || IsOpen(operands[1].value)) {
    return Repeat(call, *body, 0, operands[1], state);
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
  const size_t scans = body->outputs.size() - 1 - carried;
  std::vector<std::vector<Value>> stacked(scans);
  for (int64_t trip = 0; trip < trips && goes_on; ++trip) {
    if (trip >= options_.most_trips) {
      return Unimplemented("it has more than ", options_.most_trips,
                           " trips; see ImportOptions::most_trips");
    }
    Results inputs = {
        Known{builder_->ConstantOf<int64_t>({trip}, {})},
        Known{builder_->Constant(HostArray{
            vx::DataType::BOOL8, {}, 1, std::make_shared<const uint8_t>(1)})}};
    inputs.insert(inputs.end(), state.begin(), state.end());
    TIM_ASSIGN_OR_RETURN(Results made, RunBody(*body, std::move(inputs), call,
                                               StrCat(trip, "/")));
    if (AnyRefused(made)) return Results();
    state.assign(made.begin() + 1, made.begin() + 1 + carried);
    if (IsOpen(made[0].value)) {
      return Repeat(call, *body, trip + 1, made[0], state);
    }
    TIM_ASSIGN_OR_RETURN(goes_on, ConditionOf(made[0], "its body's condition"));
    for (size_t i = 0; i < scans; ++i) {
      stacked[i].push_back(made[1 + carried + i].value);
    }
  }
  TIM_RETURN_IF_ERROR(StackScans(call, stacked, &state));
  return state;
}

}  // namespace tim::models::onnx
