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

Status CheckState(const std::vector<Known>& state) {
  for (size_t i = 0; i < state.size(); ++i) {
    if (state[i].sequence == nullptr && state[i].missing.empty() &&
        !state[i].value.IsAbsent()) {
      continue;
    }
    return Unimplemented("operand ", i + kBeforeState,
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
                                             size_t carried) {
  Results inputs;
  for (size_t i = 0; i < kBeforeState + carried; ++i) {
    inputs.push_back(Known{builder_->operands()[i].inside});
  }
  const Value counter = inputs[kCounter].value;
  const Value goes_on = inputs[kGoesOn].value;
  TIM_ASSIGN_OR_RETURN(Results made,
                       RunBody(body, std::move(inputs), call, "trip/"));
  made.resize(1 + carried);
  const bool refused =
      std::any_of(made.begin(), made.end(),
                  [](const Known& known) { return known.is_refused; });
  if (refused) return made;
  TIM_RETURN_IF_ERROR(CheckState({made.begin() + 1, made.end()}));
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
    TIM_RETURN_IF_ERROR(
        CheckSame(i, builder_->operands()[i].inside, made[i].value));
    TIM_RETURN_IF_ERROR(builder_->AddResult(made[i].value));
  }
  return made;
}

// goes_on && counter < count
Status Importer::MakeTest(const Value& count) {
  TIM_ASSIGN_OR_RETURN(
      Value truth, builder_->Reshape(builder_->operands()[kGoesOn].inside, {}));
  if (!count.IsAbsent()) {
    TIM_ASSIGN_OR_RETURN(const Value most, builder_->Reshape(count, {}));
    TIM_ASSIGN_OR_RETURN(
        const Value is_below,
        Make("Less", {builder_->operands()[kCounter].inside, most}, {}));
    TIM_ASSIGN_OR_RETURN(truth, Make("And", {truth, is_below}, {}));
  }
  return builder_->AddResult(truth);
}

Result<Importer::Results> Importer::Repeat(const Call& call,
                                           const GraphMessage& body,
                                           int64_t first, const Known& goes_on,
                                           const Results& state) {
  const size_t carried = state.size();
  TIM_RETURN_IF_ERROR(CheckState(state));
  TIM_ASSIGN_OR_RETURN(GraphBuilder trip, builder_->Inner());
  TIM_ASSIGN_OR_RETURN(GraphBuilder test, builder_->Inner());
  std::vector<Value> operands = {
      builder_->ConstantOf<int64_t>({first}, {}),
      goes_on.value.IsAbsent()
          ? builder_->Constant(HostArray{
                vx::DataType::BOOL8, {}, 1, std::make_shared<const uint8_t>(1)})
          : goes_on.value};
  for (const Known& known : state) operands.push_back(known.value);
  for (const Value& value : operands) {
    TIM_RETURN_IF_ERROR(trip.AddOperand(value).status());
  }
  GraphBuilder* const outer = std::exchange(builder_, &trip);
  const auto made = MakeTrip(call, body, carried);
  builder_ = outer;
  TIM_RETURN_IF_ERROR(made.status());
  if (made->size() != kBeforeState + carried) return Results();
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
  const auto operation = builder_->graph()->CreateOperation<vx::ops::While>(
      test.graph(), trip.graph());
  TIM_ASSIGN_OR_RETURN(const std::vector<Value> values,
                       builder_->AddMade(operation, inputs, wanted));
  Results results;
  for (size_t i = 0; i < carried; ++i) {
    results.push_back(Known{values[kBeforeState + i]});
  }
  while (results.size() < call.message.outputs.size()) {
    results.push_back(Known::Missing(StrCat(
        "the trips of loop '", call.label,
        "' must be known when the model is loaded, since what it stacks has "
        "their extent, but follow from inputs; give the content of those as "
        "ImportOptions::values")));
  }
  return results;
}

}  // namespace tim::models::onnx
