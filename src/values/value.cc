// Values as the public header has them.
#include "tim/values/value.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/guarded.h"
#include "base/half.h"
#include "ir/data_type.h"
#include "values/access.h"
#include "values/event_state.h"
#include "values/failure.h"
#include "values/graph_state.h"
#include "values/value_state.h"

namespace tim::values {
namespace internal {
namespace {

constexpr size_t kShown = 8;  // elements of ToString()

// A spec with known bytes, and the bytes.
struct SizedSpec {
  TensorSpec spec;
  int64_t bytes = 0;
};

Result<SizedSpec> SizeOf(const Spec& spec, const void* data) {
  SizedSpec sized;
  TIM_ASSIGN_OR_RETURN(sized.spec, ToTensorSpec(spec));
  TIM_ASSIGN_OR_RETURN(sized.bytes, BytesOf(sized.spec.desc));
  if (data == nullptr) return InvalidArgument("the data is null");
  return sized;
}

Result<Value> CopyFromHost(const Spec& spec, const void* data) {
  TIM_ASSIGN_OR_RETURN(SizedSpec sized, SizeOf(spec, data));
  TIM_ASSIGN_OR_RETURN(auto memory,
                       DeviceState::Host()->stream().Allocate(sized.bytes));
  std::memcpy(memory->host_address(), data, static_cast<size_t>(sized.bytes));
  return MakeValue(ValueState::Placed(std::move(sized.spec),
                                      {std::move(memory), ir::Layout()}));
}

Result<Value> ConstantOf(const Spec& spec, const void* data) {
  TIM_ASSIGN_OR_RETURN(SizedSpec sized, SizeOf(spec, data));
  return MakeValue(ValueState::Constant(
      std::move(sized.spec),
      ir::MakeConstant(data, static_cast<size_t>(sized.bytes))));
}

Result<Value> WrapMemory(const Spec& spec, void* data,
                         std::function<void()> release) {
  TIM_ASSIGN_OR_RETURN(SizedSpec sized, SizeOf(spec, data));
  std::shared_ptr<const void> keeper(
      data, [release = std::move(release)](const void*) {
        if (release) release();
      });
  TIM_ASSIGN_OR_RETURN(auto memory, DeviceState::Host()->stream().FromHost(
                                        data, sized.bytes, std::move(keeper)));
  return MakeValue(ValueState::Placed(std::move(sized.spec),
                                      {std::move(memory), ir::Layout()}));
}

Value ValueOr(Result<Value> result) {
  return result.ok() ? *std::move(result) : FailedValue(result.status());
}

Result<Plain> PlainOf(const ValueState& state) {
  TIM_RETURN_IF_ERROR(state.Force());
  const TensorSpec spec = state.spec();
  TIM_ASSIGN_OR_RETURN(const int64_t size, BytesOf(spec.desc));
  auto bytes = state.Bytes();
  if (!bytes.ok()) {
    state.KeepFailure();
    return bytes.status();
  }
  return Plain{.spec = ToSpec(spec.desc, spec.is_scalar),
               .data = std::shared_ptr<const void>(*std::move(bytes)),
               .bytes = static_cast<size_t>(size)};
}

template <typename T>
std::string TextOfElements(const T* data, size_t count) {
  std::string text;
  for (size_t i = 0; i < std::min(count, kShown); ++i) {
    text += StrCat(i == 0 ? "" : ", ", data[i]);
  }
  return StrCat(text, count > kShown ? ", ..." : "");
}

std::string TextOfElements(const Plain& plain) {
  if (const auto* data = plain.As<float>()) {
    return TextOfElements(data, plain.bytes / sizeof(float));
  }
  if (const auto* data = plain.As<double>()) {
    return TextOfElements(data, plain.bytes / sizeof(double));
  }
  if (const auto* data = plain.As<int8_t>()) {
    std::vector<int> wide(data, data + plain.bytes);
    return TextOfElements(wide.data(), wide.size());
  }
  if (const auto* data = plain.As<uint8_t>()) {
    std::vector<int> wide(data, data + plain.bytes);
    return TextOfElements(wide.data(), wide.size());
  }
  if (const auto* data = plain.As<int16_t>()) {
    return TextOfElements(data, plain.bytes / sizeof(int16_t));
  }
  if (plain.spec.type == Type::kFloat16) {
    std::vector<float> wide;
    const auto* data = plain.As<uint16_t>();
    for (size_t i = 0; i < plain.bytes / 2 && i <= kShown; ++i) {
      wide.push_back(HalfToFloat(data[i]));
    }
    return TextOfElements(wide.data(), wide.size());
  }
  if (const auto* data = plain.As<uint16_t>()) {
    return TextOfElements(data, plain.bytes / sizeof(uint16_t));
  }
  if (const auto* data = plain.As<int32_t>()) {
    return TextOfElements(data, plain.bytes / sizeof(int32_t));
  }
  if (const auto* data = plain.As<uint32_t>()) {
    return TextOfElements(data, plain.bytes / sizeof(uint32_t));
  }
  if (const auto* data = plain.As<int64_t>()) {
    return TextOfElements(data, plain.bytes / sizeof(int64_t));
  }
  if (const auto* data = plain.As<uint64_t>()) {
    return TextOfElements(data, plain.bytes / sizeof(uint64_t));
  }
  return StrCat(plain.bytes, " bytes");
}

}  // namespace

bool Holds(Type type, size_t bytes, bool floating, bool is_signed) {
  if (static_cast<int>(type) >= ir::kDataTypeCount) return false;
  const ir::DataTypeInfo& info = ir::Info(static_cast<ir::DataType>(type));
  if (info.kind == ir::NumberKind::kNone) return false;
  if (info.bits < 8) return bytes == 1 && !floating && !is_signed;
  if (static_cast<size_t>(info.bits) != 8 * bytes) return false;
  switch (info.kind) {
    case ir::NumberKind::kFloat:
      return bytes == 2 ? !floating && !is_signed : floating;
    case ir::NumberKind::kSigned:
      return !floating && is_signed;
    default:
      return !floating && !is_signed;
  }
}

}  // namespace internal

Plain MakePlain(const Spec& spec, const void* data) {
  auto sized = internal::SizeOf(spec, data);
  if (!sized.ok()) {
    internal::Fail(sized.status());
    return {.spec = spec};
  }
  const auto bytes = static_cast<size_t>(sized->bytes);
  const auto* begin = static_cast<const std::byte*>(data);
  auto memory = std::make_shared<std::vector<std::byte>>(begin, begin + bytes);
  return {.spec = spec,
          .data = std::shared_ptr<const void>(memory, memory->data()),
          .bytes = bytes};
}

Value::Value() = default;

Value::Value(float scalar)
    : Value(FromHost(Spec(Type::kFloat32, Shape::Scalar()), &scalar)) {
  state_->set_literal();
}

Value Value::FromHost(const Spec& spec, const void* data) {
  return internal::ValueOr(
      GuardedCall([&] { return internal::CopyFromHost(spec, data); }));
}

Value Value::Constant(const Spec& spec, const void* data) {
  return internal::ValueOr(
      GuardedCall([&] { return internal::ConstantOf(spec, data); }));
}

Value Value::Wrap(const Spec& spec, void* data, std::function<void()> release) {
  return internal::ValueOr(GuardedCall(
      [&] { return internal::WrapMemory(spec, data, std::move(release)); }));
}

Value Value::FromElements(const Spec& spec, const void* data, size_t count) {
  const int64_t wanted = spec.shape.NumElements();
  if (wanted < 0 || static_cast<size_t>(wanted) != count) {
    return internal::FailedValue(InvalidArgument(
        "shape ", spec.shape.ToString(), " has ",
        wanted < 0 ? "unknown extents" : StrCat(wanted, " elements"), ", and ",
        count, " are given"));
  }
  return FromHost(spec, data);
}

Value Value::FromElements(const Spec& spec, const std::vector<bool>& data) {
  const std::vector<uint8_t> bytes(data.begin(), data.end());
  return FromElements(spec, bytes.data(), bytes.size());
}

bool Value::ok() const { return state_ != nullptr && state_->status().ok(); }

std::string Value::error() const {
  return internal::StateOf(*this)->status().message();
}

Spec Value::spec() const {
  if (state_ == nullptr) return Spec(Type::kUnknown, Shape());
  const internal::TensorSpec spec = state_->spec();
  return internal::ToSpec(spec.desc, spec.is_scalar);
}

Device Value::device() const {
  auto state = state_ != nullptr ? state_->device() : nullptr;
  if (state == nullptr) return Device();
  return internal::Access::MakeDevice(std::move(state));
}

bool Value::symbolic() const {
  return state_ != nullptr && state_->graph() != nullptr;
}

bool Value::pending() const {
  return state_ != nullptr && state_->lazy() != nullptr && !state_->resolved();
}

bool Value::ready() const {
  return ok() && !symbolic() && !pending() && state_->completion().Ready();
}

Plain Value::ToPlain() const {
  const auto state = internal::StateOf(*this);
  auto plain = GuardedCall([&] { return internal::PlainOf(*state); });
  if (plain.ok()) return *std::move(plain);
  internal::Fail(plain.status());
  return {};
}

bool Value::CopyTo(void* data, size_t bytes) const {
  const Plain plain = ToPlain();
  if (!plain) return false;
  if (data == nullptr) {
    internal::Fail("CopyTo() needs memory, not null");
    return false;
  }
  if (bytes != plain.bytes) {
    internal::Fail(
        StrCat("the value has ", plain.bytes, " bytes, not ", bytes));
    return false;
  }
  std::memcpy(data, plain.data.get(), bytes);
  return true;
}

void Value::FailElements(size_t bytes) const {
  const internal::TensorSpec spec = state_->spec();
  internal::Fail(StrCat("elements of ", ir::ToString(spec.desc.type),
                        " were asked for as another type of ", bytes,
                        " bytes"));
}

Event Value::event() const {
  const auto state = internal::StateOf(*this);
  const Status status = state->Force();
  if (!status.ok()) return internal::MakeEvent(status, {});
  return internal::MakeEvent(OkStatus(), {state->completion()});
}

bool Value::Wait() const {
  const auto state = internal::StateOf(*this);
  Status status = state->Force();
  if (status.ok()) {
    status = state->completion().Wait();
    if (!status.ok()) state->KeepFailure();
  }
  if (!status.ok()) internal::Fail(status);
  return status.ok();
}

Value Value::Named(const std::string& name) const {
  const auto state = internal::StateOf(*this);
  if (state->graph() != nullptr) internal::NameInGraph(*state, name);
  return internal::MakeValue(state->Named(name));
}

std::string Value::ToString() const {
  const Plain plain = ToPlain();
  if (!plain) return StrCat("failed: ", LastError());
  const internal::TensorSpec spec = state_->spec();
  return StrCat(internal::TextOf(spec.desc, spec.is_scalar), " {",
                internal::TextOfElements(plain), "}");
}

}  // namespace tim::values
