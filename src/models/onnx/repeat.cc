// Loop of ONNX whose trips are known when the model runs: its body becomes a
// graph inside of a While.
#include <algorithm>
#include <utility>

#include "models/onnx/importer.h"
#include "tim/vx/ops/control.h"

namespace tim::models::onnx {
namespace {

constexpr size_t kCounter = 0;  // of the operands
constexpr size_t kGoesOn = 1;   // before the state
constexpr size_t kBeforeState = 2;

// Values that the loop carries, and behind them slices that it stacks.
Status CheckState(const std::vector<Known>& state, size_t carried) {
  for (size_t i = 0; i < state.size(); ++i) {
    if (state[i].sequence == nullptr && state[i].missing.empty() &&
        !state[i].value.IsAbsent()) {
      continue;
    }
    const std::string about = i < carried
                                  ? StrCat("operand ", i + kBeforeState)
                                  : StrCat("output ", i, " that is stacked");
    return Unimplemented(about,
                         " is no tensor; its trips are known when the model "
                         "runs, which takes tensors");
  }
  return OkStatus();
}

Status CheckSame(size_t operand, const Value& before, const Value& after) {
  if (before.type == after.type && before.dims == after.dims &&
      before.quantization == after.quantization) {
    return OkStatus();
  }
  return Unimplemented("operand ", operand, " is ", Describe(before),
                       " before a trip and ", Describe(after),
                       " after it; its trips are known when the model runs, "
                       "which takes equal types and extents");
}

Wanted WantedOf(const Value& value) {
  return Wanted::Of(value.type, value.dims, value.quantization);
}

}  // namespace

Result<Importer::Results> Importer::MakeTrip(const Call& call,
                                             const GraphMessage& body,
                                             size_t carried, size_t scans) {
  Results inputs;
  for (size_t i = 0; i < kBeforeState + carried; ++i) {
    inputs.push_back(Known{builder_->operands()[i].inside});
  }
  const Value counter = inputs[kCounter].value;
  const Value goes_on = inputs[kGoesOn].value;
  TIM_ASSIGN_OR_RETURN(Results made,
                       RunBody(body, std::move(inputs), call, "trip/"));
  made.resize(1 + carried + scans);
  const bool refused =
      std::any_of(made.begin(), made.end(),
                  [](const Known& known) { return known.is_refused; });
  if (refused) return Results();
  TIM_RETURN_IF_ERROR(CheckState({made.begin() + 1, made.end()}, carried));
  if (made[0].value.IsAbsent()) {
    return InvalidArgument("its body makes no condition");
  }
  TIM_ASSIGN_OR_RETURN(
      const Value next,
      Make("Add", {counter, builder_->ConstantOf<int64_t>({1}, {})}, {}));
  TIM_ASSIGN_OR_RETURN(made[0].value,
                       builder_->Reshape(made[0].value, goes_on.dims));
  made.insert(made.begin(), Known{next});
  for (size_t i = 0; i < made.size(); ++i) {
    if (i >= kBeforeState + carried) {
      // Values of the graph around become operands now.
      TIM_RETURN_IF_ERROR(builder_->TensorOf(made[i].value).status());
      continue;
    }
    TIM_RETURN_IF_ERROR(
        CheckSame(i, builder_->operands()[i].inside, made[i].value));
    TIM_RETURN_IF_ERROR(builder_->AddResult(made[i].value));
  }
  return made;
}

Result<Value> Importer::GoesOn(const Value& counter, const Value& goes_on,
                               const Value& count) {
  TIM_ASSIGN_OR_RETURN(const Value truth, builder_->Reshape(goes_on, {}));
  if (count.IsAbsent()) return truth;
  TIM_ASSIGN_OR_RETURN(const Value most, builder_->Reshape(count, {}));
  TIM_ASSIGN_OR_RETURN(const Value is_below, Make("Less", {counter, most}, {}));
  return Make("And", {truth, is_below}, {});
}

Status Importer::MakeTest(const Value& count) {
  // Copies: reading `count` may add an operand.
  const Value counter = builder_->operands()[kCounter].inside;
  const Value goes_on = builder_->operands()[kGoesOn].inside;
  TIM_ASSIGN_OR_RETURN(const Value truth, GoesOn(counter, goes_on, count));
  return builder_->AddResult(truth);
}

Result<Value> Importer::JoinStacks(const std::vector<Value>& before,
                                   const Value& scanned) {
  if (before.empty()) return scanned;
  TIM_ASSIGN_OR_RETURN(const Value stack, Stack(before, 0));
  return Make("Concat", {stack, scanned}, {{"axis", int64_t{0}}});
}

Status Importer::AddTrips(const Call& call, const Value& counter,
                          const Value& goes_on) {
  TIM_ASSIGN_OR_RETURN(const Value truth,
                       GoesOn(counter, goes_on, call.operands[0].value));
  TIM_ASSIGN_OR_RETURN(const Value more,
                       builder_->Cast(truth, vx::DataType::INT64));
  TIM_ASSIGN_OR_RETURN(Value trips, Make("Add", {counter, more}, {}));
  trips_.emplace_back(StrCat(call.label, "/trips"), std::move(trips));
  return OkStatus();
}

Result<Importer::Results> Importer::Repeat(const Call& call,
                                           const GraphMessage& body,
                                           const LoopState& state) {
  const size_t carried = state.carried.size();
  const size_t outputs = call.message.outputs.size();
  // A graph inside of an operation has no outputs of the model.
  const int64_t rows = options_.stacked_rows - state.trip;
  const bool stacks = outputs > carried && rows > 0 && !builder_->is_inner();
  const size_t scans = stacks ? outputs - carried : 0;
  TIM_RETURN_IF_ERROR(CheckState(state.carried, carried));
  TIM_ASSIGN_OR_RETURN(GraphBuilder trip, builder_->Inner());
  TIM_ASSIGN_OR_RETURN(GraphBuilder test, builder_->Inner());
  std::vector<Value> operands = {
      builder_->ConstantOf<int64_t>({state.trip}, {}),
      state.goes_on.value.IsAbsent()
          ? builder_->Constant(HostArray{
                vx::DataType::BOOL8, {}, 1, std::make_shared<const uint8_t>(1)})
          : state.goes_on.value};
  for (const Known& known : state.carried) operands.push_back(known.value);
  for (const Value& value : operands) {
    TIM_RETURN_IF_ERROR(trip.AddOperand(value).status());
  }
  GraphBuilder* const outer = std::exchange(builder_, &trip);
  const auto made = MakeTrip(call, body, carried, scans);
  builder_ = outer;
  TIM_RETURN_IF_ERROR(made.status());
  if (made->empty()) return Results();
  TIM_RETURN_IF_ERROR(test.AddOperandsOf(trip));
  builder_ = &test;
  const Status tested = MakeTest(call.operands[0].value);
  builder_ = outer;
  TIM_RETURN_IF_ERROR(tested);
  TIM_RETURN_IF_ERROR(trip.AddOperandsOf(test));
  std::vector<Value> inputs;
  std::vector<Wanted> wanted;
  for (size_t i = 0; i < trip.operands().size(); ++i) {
    const GraphBuilder::Operand& operand = trip.operands()[i];
    // What only the graphs read stays as it is.
    if (i >= operands.size()) {
      TIM_RETURN_IF_ERROR(trip.AddResult(operand.inside));
    }
    inputs.push_back(operand.outside);
    wanted.push_back(WantedOf(operand.inside));
  }
  for (size_t i = 0; i < scans; ++i) {
    const Value& slice = (*made)[operands.size() + i].value;
    TIM_RETURN_IF_ERROR(trip.AddResult(slice));
    wanted.push_back(WantedOf(slice));
    wanted.back().dims.insert(wanted.back().dims.begin(), rows);
  }
  const auto operation = builder_->graph()->CreateOperation<vx::ops::While>(
      test.graph(), trip.graph(), stacks ? rows : int64_t{-1},
      static_cast<int32_t>(scans));
  TIM_ASSIGN_OR_RETURN(const std::vector<Value> values,
                       builder_->AddMade(operation, inputs, wanted));
  Results results;
  for (size_t i = 0; i < carried; ++i) {
    results.push_back(Known{values[kBeforeState + i]});
  }
  for (size_t i = 0; i < scans; ++i) {
    TIM_ASSIGN_OR_RETURN(
        Value stack, JoinStacks(state.stacked[i], values[inputs.size() + i]));
    results.push_back(Known{std::move(stack)});
  }
  if (stacks) TIM_RETURN_IF_ERROR(AddTrips(call, values[0], values[1]));
  while (results.size() < outputs) {
    results.push_back(Known::Missing(StrCat(
        "the trips of loop '", call.label, "' must be known when the model is ",
        "loaded, since what it stacks has that extent; give the content of "
        "the ",
        "inputs that they follow from as ImportOptions::values, or rows for ",
        "the most trips, for a loop in no other one, as ",
        "ImportOptions::stacked_rows")));
  }
  return results;
}

}  // namespace tim::models::onnx
