// Arithmetic and comparisons of small constants, in 64 bits for
// integers.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "models/onnx/exact.h"
#include "models/onnx/exact_elements.h"

namespace tim::models::onnx {
namespace {

using vx::DataType;

bool IsInteger(DataType type) {
  return type == DataType::INT64 || type == DataType::INT32;
}

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

bool Arithmetic(Node* node, IntFunction of_ints, FloatFunction of_floats) {
  const auto a = LoadElements(*node, 0);
  const auto b = LoadElements(*node, 1);
  if (!a || !b || a->type == DataType::BOOL8 || node->inputs.size() != 2) {
    return false;
  }
  if (!a->is_float() && (of_ints == IntDiv || of_ints == IntMod) &&
      !Divides(*a, *b)) {
    return false;
  }
  Elements made;
  return Combine(*a, *b, a->type, of_ints, of_floats, nullptr, &made) &&
         StoreElements(node, made);
}

bool Add(Node* node) {
  return Arithmetic(node, IntAdd, [](double a, double b) { return a + b; });
}
bool Sub(Node* node) {
  return Arithmetic(node, IntSub, [](double a, double b) { return a - b; });
}
bool Mul(Node* node) {
  return Arithmetic(node, IntMul, [](double a, double b) { return a * b; });
}
bool Div(Node* node) {
  return Arithmetic(node, IntDiv, [](double a, double b) { return a / b; });
}
bool Mod(Node* node) {
  const auto fmod = node->Int("fmod", 0);
  if (!fmod.ok() || *fmod != 0) return false;
  return Arithmetic(node, IntMod, nullptr);
}

// Min and Max of any number of operands, integers or of FLOAT64.
bool Extreme(Node* node, IntFunction choose, FloatFunction choose_float) {
  auto made = LoadElements(*node, 0);
  if (!made || !(IsInteger(made->type) || made->is_wide)) return false;
  for (size_t i = 1; i < node->inputs.size(); ++i) {
    const auto next = LoadElements(*node, i);
    Elements chosen;
    if (!next || !Combine(*made, *next, made->type, choose, choose_float,
                          nullptr, &chosen)) {
      return false;
    }
    made = std::move(chosen);
  }
  return StoreElements(node, *made);
}

bool Min(Node* node) {
  return Extreme(
      node, [](int64_t a, int64_t b) { return std::min(a, b); },
      [](double a, double b) { return std::isnan(a) || a < b ? a : b; });
}
bool Max(Node* node) {
  return Extreme(
      node, [](int64_t a, int64_t b) { return std::max(a, b); },
      [](double a, double b) { return std::isnan(a) || a > b ? a : b; });
}

bool Compare(Node* node, IntFunction of_ints, FloatTest of_floats) {
  const auto a = LoadElements(*node, 0);
  const auto b = LoadElements(*node, 1);
  Elements made;
  return a && b && node->inputs.size() == 2 &&
         Combine(*a, *b, DataType::BOOL8, of_ints, nullptr, of_floats, &made) &&
         StoreElements(node, made);
}

template <typename Test>
bool CompareBy(Node* node) {
  return Compare(
      node, [](int64_t a, int64_t b) -> int64_t { return Test()(a, b); },
      [](double a, double b) { return Test()(a, b); });
}

bool Logic(Node* node, IntFunction function) {
  const auto a = LoadElements(*node, 0);
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

bool Where(Node* node) {
  const auto condition = LoadElements(*node, 0);
  const auto a = LoadElements(*node, 1);
  const auto b = LoadElements(*node, 2);
  if (!condition || !a || !b || a->type != b->type ||
      a->is_wide != b->is_wide || condition->type != DataType::BOOL8) {
    return false;
  }
  auto dims = BroadcastDims(condition->dims, a->dims);
  if (dims.ok()) dims = BroadcastDims(*dims, b->dims);
  if (!dims.ok() || !AreFew(*dims)) return false;
  const auto which = BroadcastPlaces(condition->dims, *dims);
  const auto left = BroadcastPlaces(a->dims, *dims);
  const auto right = BroadcastPlaces(b->dims, *dims);
  Elements made = {a->type, *dims, {}, {}, a->is_wide};
  for (size_t i = 0; i < which.size(); ++i) {
    const bool first = condition->ints[which[i]] != 0;
    if (a->is_float()) {
      made.floats.push_back(first ? a->floats[left[i]] : b->floats[right[i]]);
    } else {
      made.ints.push_back(first ? a->ints[left[i]] : b->ints[right[i]]);
    }
  }
  return StoreElements(node, made);
}

// start, start + step, ... of FLOAT64.
bool RangeOfDoubles(Node* node, const Elements& start, const Elements& limit,
                    const Elements& step) {
  if (!limit.is_wide || !step.is_wide || start.floats.size() != 1 ||
      limit.floats.size() != 1 || step.floats.size() != 1) {
    return false;
  }
  const double by = step.floats[0];
  const double count = std::ceil((limit.floats[0] - start.floats[0]) / by);
  if (!(count <= static_cast<double>(kMostFoldedElements))) return false;
  Elements made = {DataType::FLOAT32, {}, {}, {}, true};
  for (double i = 0; i < count; ++i) {
    made.floats.push_back(start.floats[0] + i * by);
  }
  made.dims = {static_cast<int64_t>(made.floats.size())};
  return StoreElements(node, made);
}

bool Range(Node* node) {
  const auto start = LoadElements(*node, 0);
  const auto limit = LoadElements(*node, 1);
  const auto step = LoadElements(*node, 2);
  if (start && limit && step && start->is_wide) {
    return RangeOfDoubles(node, *start, *limit, *step);
  }
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
  return StoreElements(node, made);
}

// Reductions of integers.
bool Reduce(Node* node, int axes_since, IntFunction combine) {
  const auto a = LoadElements(*node, 0);
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
  return StoreElements(node, made);
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
  table->insert({{"Add", &Add},
                 {"And", &And},
                 {"Div", &Div},
                 {"Equal", &CompareBy<std::equal_to<>>},
                 {"Greater", &CompareBy<std::greater<>>},
                 {"GreaterOrEqual", &CompareBy<std::greater_equal<>>},
                 {"Less", &CompareBy<std::less<>>},
                 {"LessOrEqual", &CompareBy<std::less_equal<>>},
                 {"Max", &Max},
                 {"Min", &Min},
                 {"Mod", &Mod},
                 {"Mul", &Mul},
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
