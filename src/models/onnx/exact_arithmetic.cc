// Arithmetic, comparisons and casts of small constants, in 64 bits for
// integers.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "models/onnx/element_type.h"
#include "models/onnx/exact.h"

namespace tim::models::onnx {
namespace {

using vx::DataType;

bool IsInteger(DataType type) {
  return type == DataType::INT64 || type == DataType::INT32;
}

// Elements of a constant of INT64, INT32, BOOL8 or FLOAT32.
struct Elements {
  DataType type = DataType::UNKNOWN;
  Dims dims;
  std::vector<int64_t> ints;
  std::vector<float> floats;

  bool is_float() const { return type == DataType::FLOAT32; }
};

std::optional<Elements> Load(const Node& node, size_t input) {
  const HostArray* array = SmallConstant(node, input);
  if (array == nullptr) return std::nullopt;
  Elements elements = {array->type, array->dims, {}, {}};
  if (elements.is_float()) {
    auto values = Floats(*array);
    if (!values.ok()) return std::nullopt;
    elements.floats = *std::move(values);
    return elements;
  }
  if (!IsInteger(array->type) && array->type != DataType::BOOL8) {
    return std::nullopt;
  }
  auto values = Integers(*array);
  if (!values.ok()) return std::nullopt;
  elements.ints = *std::move(values);
  return elements;
}

template <typename T>
HostArray Packed(const std::vector<int64_t>& values, DataType type, Dims dims) {
  std::vector<T> narrow(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    narrow[i] = static_cast<T>(values[i]);
  }
  HostArray array = ArrayOf(narrow, std::move(dims));
  array.type = type;
  return array;
}

// Integers wrap as the type does.
bool Store(Node* node, const Elements& made) {
  switch (made.type) {
    case DataType::FLOAT32:
      return SetConstant(node, ArrayOf(made.floats, made.dims));
    case DataType::INT64:
      return SetConstant(node, ArrayOf(made.ints, made.dims));
    case DataType::INT32:
      return SetConstant(node,
                         Packed<int32_t>(made.ints, made.type, made.dims));
    case DataType::BOOL8:
      return SetConstant(node,
                         Packed<uint8_t>(made.ints, made.type, made.dims));
    default:
      return false;
  }
}

// For each element of `to` the number of the one of `from` that it is
// broadcast from.
std::vector<size_t> BroadcastPlaces(const Dims& from, const Dims& to) {
  std::vector<size_t> places(1, 0);
  const size_t skipped = to.size() - from.size();
  size_t stride = 1;
  std::vector<size_t> strides(to.size(), 0);
  for (size_t i = from.size(); i-- > 0;) {
    if (from[i] != 1) strides[skipped + i] = stride;
    stride *= static_cast<size_t>(from[i]);
  }
  for (size_t axis = 0; axis < to.size(); ++axis) {
    std::vector<size_t> next;
    next.reserve(places.size() * static_cast<size_t>(to[axis]));
    for (const size_t place : places) {
      for (int64_t i = 0; i < to[axis]; ++i) {
        next.push_back(place + strides[axis] * static_cast<size_t>(i));
      }
    }
    places = std::move(next);
  }
  return places;
}

using IntFunction = int64_t (*)(int64_t a, int64_t b);
using FloatFunction = float (*)(float a, float b);
using FloatTest = bool (*)(float a, float b);

int64_t Wrapped(uint64_t value) { return static_cast<int64_t>(value); }
int64_t IntAdd(int64_t a, int64_t b) {
  return Wrapped(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t IntSub(int64_t a, int64_t b) {
  return Wrapped(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t IntMul(int64_t a, int64_t b) {
  return Wrapped(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
// Division truncates; b is neither 0 nor, with the least integer, -1.
int64_t IntDiv(int64_t a, int64_t b) { return a / b; }
// The remainder with the sign of the divisor.
int64_t IntMod(int64_t a, int64_t b) {
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

bool Divides(const Elements& a, const Elements& b) {
  const auto least = std::numeric_limits<int64_t>::min();
  for (const int64_t divisor : b.ints) {
    if (divisor == 0) return false;
    if (divisor == -1 && std::count(a.ints.begin(), a.ints.end(), least) != 0) {
      return false;
    }
  }
  return true;
}

// `a` and `b` element by element as `type`; false where they do not fit.
bool Combine(const Elements& a, const Elements& b, DataType type,
             IntFunction of_ints, FloatFunction of_floats, FloatTest test,
             Elements* made) {
  if (a.type != b.type) return false;
  const auto dims = BroadcastDims(a.dims, b.dims);
  if (!dims.ok() || !AreFew(*dims)) return false;
  if (a.is_float() && of_floats == nullptr && test == nullptr) return false;
  if (!a.is_float() && of_ints == nullptr) return false;
  *made = {type, *dims, {}, {}};
  const std::vector<size_t> left = BroadcastPlaces(a.dims, *dims);
  const std::vector<size_t> right = BroadcastPlaces(b.dims, *dims);
  for (size_t i = 0; i < left.size(); ++i) {
    if (!a.is_float()) {
      made->ints.push_back(of_ints(a.ints[left[i]], b.ints[right[i]]));
    } else if (test != nullptr) {
      made->ints.push_back(test(a.floats[left[i]], b.floats[right[i]]));
    } else {
      made->floats.push_back(of_floats(a.floats[left[i]], b.floats[right[i]]));
    }
  }
  return true;
}

bool Arithmetic(Node* node, IntFunction of_ints, FloatFunction of_floats) {
  const auto a = Load(*node, 0);
  const auto b = Load(*node, 1);
  if (!a || !b || a->type == DataType::BOOL8 || node->inputs.size() != 2) {
    return false;
  }
  if (!a->is_float() && (of_ints == IntDiv || of_ints == IntMod) &&
      !Divides(*a, *b)) {
    return false;
  }
  Elements made;
  return Combine(*a, *b, a->type, of_ints, of_floats, nullptr, &made) &&
         Store(node, made);
}

bool Add(Node* node) {
  return Arithmetic(node, IntAdd, [](float a, float b) { return a + b; });
}
bool Sub(Node* node) {
  return Arithmetic(node, IntSub, [](float a, float b) { return a - b; });
}
bool Mul(Node* node) {
  return Arithmetic(node, IntMul, [](float a, float b) { return a * b; });
}
bool Div(Node* node) {
  return Arithmetic(node, IntDiv, [](float a, float b) { return a / b; });
}
bool Mod(Node* node) {
  const auto fmod = node->Int("fmod", 0);
  if (!fmod.ok() || *fmod != 0) return false;
  return Arithmetic(node, IntMod, nullptr);
}

// Min and Max of any number of integer operands.
bool Extreme(Node* node, IntFunction choose) {
  auto made = Load(*node, 0);
  if (!made || !IsInteger(made->type)) return false;
  for (size_t i = 1; i < node->inputs.size(); ++i) {
    const auto next = Load(*node, i);
    Elements chosen;
    if (!next ||
        !Combine(*made, *next, made->type, choose, nullptr, nullptr, &chosen)) {
      return false;
    }
    made = std::move(chosen);
  }
  return Store(node, *made);
}

bool Min(Node* node) {
  return Extreme(node, [](int64_t a, int64_t b) { return std::min(a, b); });
}
bool Max(Node* node) {
  return Extreme(node, [](int64_t a, int64_t b) { return std::max(a, b); });
}

bool Compare(Node* node, IntFunction of_ints, FloatTest of_floats) {
  const auto a = Load(*node, 0);
  const auto b = Load(*node, 1);
  Elements made;
  return a && b && node->inputs.size() == 2 &&
         Combine(*a, *b, DataType::BOOL8, of_ints, nullptr, of_floats, &made) &&
         Store(node, made);
}

template <typename Test>
bool CompareBy(Node* node) {
  return Compare(
      node, [](int64_t a, int64_t b) -> int64_t { return Test()(a, b); },
      [](float a, float b) { return Test()(a, b); });
}

bool Logic(Node* node, IntFunction function) {
  const auto a = Load(*node, 0);
  return a && a->type == DataType::BOOL8 && Compare(node, function, nullptr);
}
bool And(Node* node) {
  return Logic(node, [](int64_t a, int64_t b) { return a & b; });
}
bool Or(Node* node) {
  return Logic(node, [](int64_t a, int64_t b) { return a | b; });
}
bool Xor(Node* node) {
  return Logic(node, [](int64_t a, int64_t b) { return a ^ b; });
}

bool Not(Node* node) {
  auto a = Load(*node, 0);
  if (!a || a->type != DataType::BOOL8) return false;
  for (int64_t& value : a->ints) value = value == 0;
  return Store(node, *a);
}

bool Neg(Node* node) {
  auto a = Load(*node, 0);
  if (!a || a->type == DataType::BOOL8) return false;
  for (int64_t& value : a->ints) value = IntSub(0, value);
  for (float& value : a->floats) value = -value;
  return Store(node, *a);
}

bool Abs(Node* node) {
  auto a = Load(*node, 0);
  if (!a || a->type == DataType::BOOL8) return false;
  for (int64_t& value : a->ints) value = value < 0 ? IntSub(0, value) : value;
  for (float& value : a->floats) value = std::fabs(value);
  return Store(node, *a);
}

bool Rounded(Node* node, float (*round)(float value)) {
  auto a = Load(*node, 0);
  if (!a || !a->is_float()) return false;
  for (float& value : a->floats) value = round(value);
  return Store(node, *a);
}
bool Floor(Node* node) {
  return Rounded(node, [](float value) { return std::floor(value); });
}
bool Ceil(Node* node) {
  return Rounded(node, [](float value) { return std::ceil(value); });
}

bool Cast(Node* node) {
  const auto a = Load(*node, 0);
  const auto to = node->Int("to", 0);
  if (!a || !to.ok()) return false;
  const auto type = DataTypeOf(*to);
  if (!type.ok()) return false;
  Elements made = {*type, a->dims, {}, {}};
  if (*type == DataType::BOOL8) {
    for (const int64_t value : a->ints) made.ints.push_back(value != 0);
    for (const float value : a->floats) made.ints.push_back(value != 0);
  } else if (*type == DataType::FLOAT32) {
    for (const int64_t value : a->ints) {
      made.floats.push_back(static_cast<float>(value));
    }
    if (a->is_float()) made.floats = a->floats;
  } else {
    made.ints = a->ints;
    for (const float value : a->floats) {
      const bool fits = *type == DataType::INT64
                            ? value >= -0x1p63f && value < 0x1p63f
                            : value >= -0x1p31f && value < 0x1p31f;
      if (!fits) return false;
      made.ints.push_back(static_cast<int64_t>(value));
    }
  }
  return Store(node, made);
}

bool Where(Node* node) {
  const auto condition = Load(*node, 0);
  const auto a = Load(*node, 1);
  const auto b = Load(*node, 2);
  if (!condition || !a || !b || a->type != b->type ||
      condition->type != DataType::BOOL8) {
    return false;
  }
  auto dims = BroadcastDims(condition->dims, a->dims);
  if (dims.ok()) dims = BroadcastDims(*dims, b->dims);
  if (!dims.ok() || !AreFew(*dims)) return false;
  const auto which = BroadcastPlaces(condition->dims, *dims);
  const auto left = BroadcastPlaces(a->dims, *dims);
  const auto right = BroadcastPlaces(b->dims, *dims);
  Elements made = {a->type, *dims, {}, {}};
  for (size_t i = 0; i < which.size(); ++i) {
    const bool first = condition->ints[which[i]] != 0;
    if (a->is_float()) {
      made.floats.push_back(first ? a->floats[left[i]] : b->floats[right[i]]);
    } else {
      made.ints.push_back(first ? a->ints[left[i]] : b->ints[right[i]]);
    }
  }
  return Store(node, made);
}

bool Range(Node* node) {
  const auto start = Load(*node, 0);
  const auto limit = Load(*node, 1);
  const auto step = Load(*node, 2);
  if (!start || !limit || !step || !IsInteger(start->type) ||
      limit->type != start->type || step->type != start->type ||
      start->ints.size() != 1 || limit->ints.size() != 1 ||
      step->ints.size() != 1 || step->ints[0] == 0) {
    return false;
  }
  Elements made = {start->type, {}, {}, {}};
  const int64_t by = step->ints[0];
  int64_t at = start->ints[0];
  while (by > 0 ? at < limit->ints[0] : at > limit->ints[0]) {
    if (made.ints.size() >= static_cast<size_t>(kMostFoldedElements)) {
      return false;
    }
    made.ints.push_back(at);
    if (__builtin_add_overflow(at, by, &at)) break;
  }
  made.dims = {static_cast<int64_t>(made.ints.size())};
  return Store(node, made);
}

// Reductions of integers.
bool Reduce(Node* node, int axes_since, IntFunction combine) {
  const auto a = Load(*node, 0);
  const auto keeps = node->Int("keepdims", 1);
  const auto noop = node->Int("noop_with_empty_axes", 0);
  auto axes = node->IntsSince(axes_since, 1, "axes", {});
  if (!a || !IsInteger(a->type) || a->ints.empty() || !keeps.ok() ||
      !noop.ok() || !axes.ok() || (axes->empty() && *noop != 0)) {
    return false;
  }
  const int rank = static_cast<int>(a->dims.size());
  std::vector<bool> is_reduced(a->dims.size(), axes->empty());
  for (const int64_t axis : *axes) {
    const auto positive = PositiveAxis(axis, rank);
    if (!positive.ok()) return false;
    is_reduced[static_cast<size_t>(*positive)] = true;
  }
  Elements made = {a->type, {}, {}, {}};
  Dims kept;
  size_t count = 1;
  for (size_t i = 0; i < a->dims.size(); ++i) {
    kept.push_back(is_reduced[i] ? 1 : a->dims[i]);
    if (!is_reduced[i] || *keeps != 0) made.dims.push_back(kept.back());
    count *= static_cast<size_t>(kept.back());
  }
  std::vector<bool> is_set(count);
  made.ints.resize(count);
  const std::vector<size_t> places = BroadcastPlaces(kept, a->dims);
  for (size_t i = 0; i < places.size(); ++i) {
    const size_t to = places[i];
    made.ints[to] =
        is_set[to] ? combine(made.ints[to], a->ints[i]) : a->ints[i];
    is_set[to] = true;
  }
  return Store(node, made);
}

bool ReduceProd(Node* node) { return Reduce(node, 18, IntMul); }
bool ReduceSum(Node* node) { return Reduce(node, 13, IntAdd); }
bool ReduceMin(Node* node) {
  return Reduce(node, 18, [](int64_t a, int64_t b) { return std::min(a, b); });
}
bool ReduceMax(Node* node) {
  return Reduce(node, 18, [](int64_t a, int64_t b) { return std::max(a, b); });
}

}  // namespace

void AddExactArithmetic(ExactTable* table) {
  table->insert({{"Abs", &Abs},
                 {"Add", &Add},
                 {"And", &And},
                 {"Cast", &Cast},
                 {"Ceil", &Ceil},
                 {"Div", &Div},
                 {"Equal", &CompareBy<std::equal_to<>>},
                 {"Floor", &Floor},
                 {"Greater", &CompareBy<std::greater<>>},
                 {"GreaterOrEqual", &CompareBy<std::greater_equal<>>},
                 {"Less", &CompareBy<std::less<>>},
                 {"LessOrEqual", &CompareBy<std::less_equal<>>},
                 {"Max", &Max},
                 {"Min", &Min},
                 {"Mod", &Mod},
                 {"Mul", &Mul},
                 {"Neg", &Neg},
                 {"Not", &Not},
                 {"Or", &Or},
                 {"Range", &Range},
                 {"ReduceMax", &ReduceMax},
                 {"ReduceMin", &ReduceMin},
                 {"ReduceProd", &ReduceProd},
                 {"ReduceSum", &ReduceSum},
                 {"Sub", &Sub},
                 {"Where", &Where},
                 {"Xor", &Xor}});
}

}  // namespace tim::models::onnx
