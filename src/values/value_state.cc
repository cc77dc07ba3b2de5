// Brings the bytes of values to where they are asked for, once per device.
#include "values/value_state.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ops/builtin.h"
#include "values/access.h"
#include "values/failure.h"
#include "values/graph_state.h"
#include "values/lazy.h"

namespace tim::values::internal {

std::shared_ptr<ValueState> ValueState::Failed(std::string text) {
  auto made = std::make_shared<ValueState>();
  made->found_->status = InvalidArgument(text);
  return made;
}

std::shared_ptr<ValueState> ValueState::Placed(TensorSpec spec, Place place) {
  auto made = std::make_shared<ValueState>();
  spec.desc.layout = ir::Layout::Dense();
  made->spec_ = std::move(spec);
  made->found_->places.push_back(std::move(place));
  return made;
}

std::shared_ptr<ValueState> ValueState::Placed(runtime::NodeResult result) {
  Place place{std::move(result.memory), result.desc.layout};
  return Placed({std::move(result.desc), result.is_scalar}, std::move(place));
}

std::shared_ptr<ValueState> ValueState::Constant(
    TensorSpec spec, std::shared_ptr<const ir::ConstantData> data) {
  auto made = std::make_shared<ValueState>();
  made->spec_ = std::move(spec);
  made->constant_ = std::move(data);
  return made;
}

std::shared_ptr<ValueState> ValueState::Symbolic(
    TensorSpec spec, std::shared_ptr<GraphState> graph, ir::ValueId id) {
  auto made = std::make_shared<ValueState>();
  made->spec_ = std::move(spec);
  made->graph_ = std::move(graph);
  made->id_ = id;
  return made;
}

std::shared_ptr<ValueState> ValueState::Pending(TensorSpec spec,
                                                std::shared_ptr<LazyNode> node,
                                                size_t index) {
  auto made = std::make_shared<ValueState>();
  made->spec_ = std::move(spec);
  made->lazy_ = std::move(node);
  made->lazy_index_ = index;
  return made;
}

Status ValueState::status() const {
  const std::lock_guard lock(found_->mutex);
  return found_->status;
}

TensorSpec ValueState::spec() const { return spec_; }

std::shared_ptr<ValueState> ValueState::Named(const std::string& name) const {
  auto named = std::make_shared<ValueState>(*this);
  named->name_ = name;
  if (lazy_ != nullptr && !resolved()) {
    named->found_ = std::make_shared<Found>();
    AddHandle(*lazy_, lazy_index_, named);
  }
  return named;
}

bool ValueState::resolved() const {
  const std::lock_guard lock(found_->mutex);
  return found_->forced || !found_->status.ok();
}

void ValueState::Resolve(Result<Place> place) const {
  const std::lock_guard lock(found_->mutex);
  if (found_->forced) return;
  found_->forced = true;
  if (place.ok()) {
    found_->places.push_back(*std::move(place));
  } else {
    found_->status = place.status();
  }
}

void ValueState::KeepFailure() const {
  const runtime::Completion work = completion();
  if (!work.Ready()) return;
  const Status status = work.Wait();
  const std::lock_guard lock(found_->mutex);
  if (found_->status.ok()) found_->status = status;
}

Status ValueState::Force() const {
  TIM_RETURN_IF_ERROR(status());
  if (graph_ != nullptr) return ForceSymbolic(*this);
  if (lazy_ != nullptr && !resolved()) {
    TIM_RETURN_IF_ERROR(FlushFor(*this, "a value was asked for"));
  }
  return status();
}

Place ValueState::home() const {
  const std::lock_guard lock(found_->mutex);
  return found_->places.empty() ? Place() : found_->places.front();
}

std::shared_ptr<DeviceState> ValueState::device() const {
  const Place place = home();
  if (place.memory == nullptr) {
    return constant_ != nullptr ? DeviceState::Host() : nullptr;
  }
  auto device = DeviceState::Of(*place.memory->stream());
  if (device == nullptr || !device->is_lost()) return device;
  // A copy outlives what it was made of.
  const std::lock_guard lock(found_->mutex);
  const bool on_host = std::any_of(
      found_->places.begin(), found_->places.end(),
      [](const Place& copy) { return copy.memory->stream()->is_host(); });
  return on_host ? DeviceState::Host() : device;
}

runtime::Completion ValueState::completion() const {
  const Place place = home();
  return place.memory != nullptr ? place.memory->completion()
                                 : runtime::Completion();
}

// A copy through the layouts of the device where it is.
Result<Place> ValueState::DenseOn(const DeviceState& device,
                                  const Place& place) const {
  if (place.layout.dense()) return place;
  runtime::NodeOperand operand{
      .desc = spec_.desc, .is_scalar = spec_.is_scalar, .memory = place.memory};
  operand.desc.layout = place.layout;
  ir::AttributeMap attributes;
  const ir::OpSchema* schema = ops::BuiltinOperators().Find("tim.DataConvert");
  if (schema == nullptr) return TIM_INTERNAL("no tim.DataConvert");
  TIM_RETURN_IF_ERROR(ir::CompleteAttributes(*schema, &attributes));
  const ir::TensorDesc output = spec_.desc;
  TIM_ASSIGN_OR_RETURN(auto run,
                       device.runner().Call({.name = "to dense",
                                             .schema = schema,
                                             .attributes = &attributes,
                                             .inputs = {&operand, 1},
                                             .outputs = {&output, 1},
                                             .dense = true}));
  return Place{std::move(run.results[0].memory), ir::Layout::Dense()};
}

Result<Place> ValueState::DenseHome() const {
  Place place = home();
  if (place.memory == nullptr) return place;
  const auto device = DeviceState::Of(*place.memory->stream());
  return DenseOn(*device, place);
}

std::vector<Place> ValueState::Places() const {
  const std::lock_guard lock(found_->mutex);
  return found_->places;
}

Result<Place> ValueState::On(const DeviceState& device) const {
  for (const Place& place : Places()) {
    if (place.memory->stream().get() == &device.stream()) return place;
  }
  TIM_ASSIGN_OR_RETURN(const auto bytes, Bytes());
  TIM_ASSIGN_OR_RETURN(const int64_t size, ir::ByteSize(spec_.desc));
  TIM_ASSIGN_OR_RETURN(auto memory,
                       device.stream().FromHost(bytes.get(), size, bytes));
  Place place{std::move(memory), ir::Layout::Dense()};
  const std::lock_guard lock(found_->mutex);
  found_->places.push_back(place);
  return place;
}

Place ValueState::TakeFromHost(const DeviceState& device) const {
  const std::vector<Place> places = Places();
  if (places.empty() || device.is_host() || !places[0].layout.dense() ||
      !places[0].memory->stream()->is_host()) {
    return {};
  }
  for (const Place& place : places) {
    if (place.memory->stream().get() == &device.stream()) return {};
  }
  const auto& run = places[0].memory->completion().run;
  if (run == nullptr) return {};
  const bool ended = run->Ready();
  if (ended && !run->Wait().ok()) return {};
  const std::lock_guard lock(found_->mutex);
  if (std::exchange(found_->taken_from_host, true) && ended) return {};
  return places[0];
}

Result<std::shared_ptr<const std::byte>> ValueState::Bytes() const {
  if (constant_ != nullptr) {
    return std::shared_ptr<const std::byte>(constant_, constant_->bytes.data());
  }
  const std::vector<Place> places = Places();
  const auto bytes_of = [](std::shared_ptr<runtime::SharedMemory> memory) {
    const auto* address = static_cast<const std::byte*>(memory->host_address());
    return std::shared_ptr<const std::byte>(std::move(memory), address);
  };
  for (const Place& place : places) {
    if (!place.memory->stream()->is_host()) continue;
    TIM_RETURN_IF_ERROR(place.memory->completion().Wait());
    return bytes_of(place.memory);
  }
  if (places.empty()) return TIM_INTERNAL("a value without bytes");
  const auto device = DeviceState::Of(*places[0].memory->stream());
  TIM_ASSIGN_OR_RETURN(const Place dense, DenseOn(*device, places[0]));
  runtime::WorkStream& host = *device->runner().streams()[0];
  TIM_ASSIGN_OR_RETURN(auto memory,
                       device->stream().ToHost(*dense.memory, host));
  const std::lock_guard lock(found_->mutex);
  found_->places.push_back({memory, ir::Layout::Dense()});
  return bytes_of(std::move(memory));
}

Result<std::shared_ptr<const ir::ConstantData>> ValueState::Content() const {
  if (constant_ != nullptr) return constant_;
  TIM_ASSIGN_OR_RETURN(const auto bytes, Bytes());
  TIM_ASSIGN_OR_RETURN(const int64_t size, ir::ByteSize(spec_.desc));
  return ir::MakeConstant(bytes.get(), static_cast<size_t>(size));
}

Value FailedValue(const Status& status) {
  return MakeValue(ValueState::Failed(Fail(status)));
}

Value MakeValue(std::shared_ptr<ValueState> state) {
  return Access::Make<Value>(std::move(state));
}

std::shared_ptr<ValueState> StateOf(const Value& value) {
  const auto& state = Access::StateOf(value);
  return state != nullptr ? state : ValueState::Failed("no value");
}

bool IsAbsent(const Value& value) { return Access::StateOf(value) == nullptr; }

}  // namespace tim::values::internal
