// Values, and functions of values, that bytes choose.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "tests/fuzz/values_session.h"

namespace tim::testing {
namespace {

using values::Attributes;
using values::Call;
using values::Outputs;
using values::Plain;
using values::Shape;
using values::Spec;
using values::Type;
using values::Value;

constexpr size_t kMostElements = 512;

int64_t Extent(ByteReader& bytes) {
  constexpr int64_t kExtents[] = {2, 1, 3, 4, 2, 3, 5, 7};
  constexpr int64_t kWild[] = {0, -1, -2, INT64_MAX};
  const uint8_t byte = bytes.Next();
  return byte < 250 ? kExtents[byte % std::size(kExtents)]
                    : kWild[byte % std::size(kWild)];
}

std::vector<int64_t> Extents(ByteReader& bytes) {
  std::vector<int64_t> extents(bytes.Next(4));
  for (int64_t& extent : extents) extent = Extent(bytes);
  return extents;
}

// An axis, or what is none.
int64_t Axis(ByteReader& bytes) {
  return static_cast<int64_t>(bytes.Next(5)) - 1;
}

Value Unary(ByteReader& bytes, const Value& x) {
  constexpr const char* kOps[] = {
      "tim.Relu", "tim.Tanh",       "tim.Sigmoid", "tim.Exp",
      "tim.Abs",  "tim.LogicalNot", "tim.Square",  "tim.Floor",
      "tim.Erf",  "tim.HardSwish",  "tim.No",      "tim.Neg"};
  const size_t what = bytes.Next(std::size(kOps) + 1);
  if (what == std::size(kOps)) return Softmax(x, 1, Axis(bytes));
  return Call(kOps[what], {x});
}

Value Binary(ByteReader& bytes, const Value& a, const Value& b) {
  switch (bytes.Next(9)) {
    case 0:
      return a - b;
    case 1:
      return a * b;
    case 2:
      return Maximum(a, b);
    case 3:
      return Greater(a, b);
    case 4:
      return Matmul(a, b);
    case 5:
      return values::Concat({a, b}, Axis(bytes));
    case 6:
      return Select(Greater(a, b), a, b);
    case 7:
      return Matmul(a, b, bytes.Next(2) == 1, true);
    default:
      return a + b;
  }
}

Value Move(ByteReader& bytes, const Value& x) {
  switch (bytes.Next(6)) {
    case 0:
      return Reshape(x, Extents(bytes));
    case 1:
      return Transpose(x, {Axis(bytes), Axis(bytes)});
    case 2:
      return Tile(x, {2, Extent(bytes)});
    case 3: {
      const Outputs parts =
          Split(x, Axis(bytes), {Extent(bytes), Extent(bytes)});
      return parts[bytes.Next(3)];
    }
    case 4:
      return Pad(x, {0, 1}, {1, 0});
    default:
      return ReduceSum(x, {Axis(bytes)}, bytes.Next(2) == 1);
  }
}

Value Changed(ByteReader& bytes, const Value& x) {
  constexpr const char* kTypes[] = {"float32", "int32",   "float16",
                                    "uint8",   "float33", "bool8"};
  switch (bytes.Next(5)) {
    case 0:
      return Cast(x, kTypes[bytes.Next(std::size(kTypes))]);
    case 1:
      return Cast(Cast(x, "int32"), "float32");
    case 2:
      return x.Named("named");
    case 3:
      return StopGradient(x);
    default:
      return Call("tim.DataConvert", {x},
                  {{"output_type", "uint8"},
                   {"output_scale", 0.5},
                   {"output_zero_point", static_cast<int>(bytes.Next(200))}});
  }
}

// Attributes that operators do not have, or not with these values.
Value Odd(ByteReader& bytes, const Value& a, const Value& b) {
  const Attributes attributes[] = {
      {{"axis", Axis(bytes)}},
      {{"axis", "x"}, {"beta", 1}},
      {{"axis", std::vector<int64_t>{Axis(bytes), 0}}},
      {{"output_count", Axis(bytes)}},
      {{"output_shape", Extents(bytes)}},
      {{"keep_dims", true}, {"type", "max"}},
      {{"perm", std::vector<double>{0, 1}}},
      {{"slices", std::vector<int64_t>{1, 1}}, {"axis", 0}},
  };
  constexpr const char* kOps[] = {
      "tim.Softmax", "tim.ArgMax",  "tim.Split",  "tim.Transpose",
      "tim.Gather",  "tim.Pool2d",  "tim.Conv2d", "tim.Unstack",
      "tim.TopK",    "tim.Reverse", "tim.Stack",  "tim.LayerNormalization",
      "tim.If",      "tim.OneHot",  "tim.Tile",   "tim.EmbeddingLookup"};
  const Attributes& chosen = attributes[bytes.Next(std::size(attributes))];
  const char* const op = kOps[bytes.Next(std::size(kOps))];
  const Outputs outputs =
      bytes.Next(2) == 0 ? Call(op, {a}, chosen) : Call(op, {a, b}, chosen);
  return outputs[bytes.Next(2)];
}

// The operand, doubled; fails, throws, or gives too much for some bytes of
// calls that may fail when they are made.
Value Held(ByteReader& bytes, const Value& x, Failing failing) {
  if (failing == Failing::kWhenRecorded && x.spec().type != Type::kFloat32) {
    return x;
  }
  const uint8_t how =
      failing == Failing::kAnyTime ? bytes.Next() : bytes.Next() % 250;
  values::Effects effects;
  effects.ordered = how % 4 == 3 && how < 250;
  return values::Holder(
      "fuzz.Twice", {x}, {x.ok() ? x.spec() : Spec()},
      [how](const std::vector<Plain>& in, std::vector<Plain>* out,
            std::string* error) -> bool {
        if (how == 250) throw std::runtime_error("thrown");
        if (how == 251) return false;
        if (how == 252) return true;
        if (how == 253) out->clear();
        if (how == 253) return true;
        if (how % 8 == 5) {
          const Value y = Value::FromHost(in[0].spec, in[0].data.get());
          (*out)[0] = (y + y).ToPlain();
          return static_cast<bool>((*out)[0]);
        }
        *error = "float32 only";
        const float* data = in[0].As<float>();
        if (data == nullptr) return false;
        std::vector<float> twice(data, data + in[0].bytes / sizeof(float));
        for (float& element : twice) element *= 2;
        (*out)[0] = values::MakePlain(in[0].spec, twice.data());
        return true;
      },
      effects);
}

// A loop whose body grows nothing, and a decision.  A body that makes no trip
// fails when it is recorded alone: one that cannot is of floats.
Value Controlled(ByteReader& bytes, const Value& a, const Value& b,
                 Failing failing) {
  ByteReader part = bytes.Take(bytes.Next(12));
  ByteReader other = bytes.Take(bytes.Next(12));
  const auto by = [](const ByteReader& text) -> values::Function {
    return [text](const Values& in) { return CallFunction(text, in); };
  };
  if (bytes.Next(2) == 0) {
    const Value condition =
        bytes.Next(8) == 0 ? b : Greater(ReduceSum(a, {0}), 0.0f);
    return values::If(condition, {a, b}, by(part), by(other));
  }
  if (failing == Failing::kWhenRecorded && a.spec().type != Type::kFloat32) {
    return a;
  }
  const Outputs end = values::While(
      {a, Value(0.0f)},
      [](const Values& state) { return Less(state[1], 3.0f); },
      [](const Values& state) -> Values {
        return {state[0] * 0.5f + state[1], state[1] + 1.0f};
      },
      static_cast<int64_t>(bytes.Next(6)) - 1);
  return end[0];
}

}  // namespace

uint8_t ByteReader::Next() {
  if (bytes_.empty()) return 0;
  const uint8_t byte = bytes_.front();
  bytes_ = bytes_.subspan(1);
  return byte;
}

bool IsSmall(const Value& value) {
  const Shape shape = value.spec().shape;
  const int64_t count = shape.NumElements();
  return count < 0 ? !shape.IsStatic()
                   : count <= static_cast<int64_t>(kMostElements);
}

Value MakeAnyValue(ByteReader& bytes) {
  const uint8_t how = bytes.Next();
  if (how % 16 == 1) return Value(static_cast<float>(how) / 16 - 4);
  if (how % 16 == 2) return Value();
  constexpr Type kTypes[] = {Type::kInt32, Type::kUint8,  Type::kFloat16,
                             Type::kBool8, Type::kInt4,   Type::kUnknown,
                             Type::kInt64, Type::kFloat64};
  const Type type =
      how % 16 == 3 ? kTypes[bytes.Next(std::size(kTypes))] : Type::kFloat32;
  Spec spec(type, Shape(Extents(bytes)));
  if (how % 16 == 4) {
    spec.quantization.kind = static_cast<int>(bytes.Next(5));
    spec.quantization.scales = {0.25f};
    spec.quantization.zero_points = {3};
    spec.quantization.axis = static_cast<int>(bytes.Next(3));
  }
  std::vector<float> data(2 * kMostElements);
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<float>((i * 7 + how) % 19) / 4 - 2;
  }
  if (type != Type::kFloat32) {
    std::vector<uint8_t> codes(data.size() * sizeof(float));
    for (size_t i = 0; i < codes.size(); ++i) codes[i] = (i * 7 + how) % 2;
    std::memcpy(data.data(), codes.data(), codes.size());
  }
  const int64_t count = spec.shape.NumElements();
  if (count > static_cast<int64_t>(kMostElements)) return Value();
  return how % 3 == 0 ? Value::Constant(spec, data.data())
                      : Value::FromHost(spec, data.data());
}

Value CallAny(ByteReader& bytes, const Values& operands, Failing failing) {
  const Value& a = operands[bytes.Next(operands.size())];
  const Value& b = operands[bytes.Next(operands.size())];
  if (!IsSmall(a) || !IsSmall(b)) return a;
  const uint8_t what = bytes.Next();
  if (what >= 250) return Odd(bytes, a, b);
  switch (what % 10) {
    case 0:
    case 1:
      return Unary(bytes, a);
    case 2:
    case 3:
    case 4:
      return Binary(bytes, a, b);
    case 5:
      return Move(bytes, a);
    case 6:
      return Changed(bytes, a);
    case 7:
      return Held(bytes, a, failing);
    case 8:
      return Controlled(bytes, a, b, failing);
    default:
      return a * (static_cast<float>(bytes.Next()) / 64 - 2);
  }
}

Values CallFunction(ByteReader bytes, Values operands) {
  constexpr size_t kMostCalls = 12;
  if (operands.empty()) operands.push_back(Value(1.0f));
  for (size_t i = 0; i < kMostCalls && !bytes.empty(); ++i) {
    Value made = CallAny(bytes, operands, Failing::kWhenRecorded);
    // There may be no memory for more.
    if (made.ok() && IsSmall(made)) operands.push_back(std::move(made));
  }
  return {operands.back(), operands[operands.size() / 2]};
}

}  // namespace tim::testing
