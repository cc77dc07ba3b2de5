// Functions of each element of small constants, their casts, and where elements
// are that are not 0.
#include <cmath>
#include <utility>

#include "models/onnx/element_type.h"
#include "models/onnx/exact.h"
#include "models/onnx/exact_elements.h"
#include "models/onnx/messages.h"

namespace tim::models::onnx {
namespace {

using vx::DataType;

int64_t Negated(int64_t value) {
  return static_cast<int64_t>(-static_cast<uint64_t>(value));
}

bool Not(Node* node) {
  auto a = LoadElements(*node, 0);
  if (!a || a->type != DataType::BOOL8) return false;
  for (int64_t& value : a->ints) value = value == 0;
  return StoreElements(node, *a);
}

bool Neg(Node* node) {
  auto a = LoadElements(*node, 0);
  if (!a || a->type == DataType::BOOL8) return false;
  for (int64_t& value : a->ints) value = Negated(value);
  for (double& value : a->floats) value = -value;
  return StoreElements(node, *a);
}

bool Abs(Node* node) {
  auto a = LoadElements(*node, 0);
  if (!a || a->type == DataType::BOOL8) return false;
  for (int64_t& value : a->ints) value = value < 0 ? Negated(value) : value;
  for (double& value : a->floats) value = std::fabs(value);
  return StoreElements(node, *a);
}

// Functions that are exact in 32 bits too, where they are computed in 64.
bool OfFloats(Node* node, double (*function)(double value)) {
  auto a = LoadElements(*node, 0);
  if (!a || !a->is_float()) return false;
  for (double& value : a->floats) value = function(value);
  return StoreElements(node, *a);
}
bool Floor(Node* node) {
  return OfFloats(node, [](double value) { return std::floor(value); });
}
bool Ceil(Node* node) {
  return OfFloats(node, [](double value) { return std::ceil(value); });
}
bool Round(Node* node) {
  return OfFloats(node, [](double value) {
    const double below = std::floor(value);
    const double part = value - below;
    const bool up = part > 0.5 || (part == 0.5 && std::fmod(below, 2) != 0);
    return up ? below + 1 : below;
  });
}
bool Sqrt(Node* node) {
  return OfFloats(node, [](double value) { return std::sqrt(value); });
}
bool Reciprocal(Node* node) {
  return OfFloats(node, [](double value) { return 1 / value; });
}

// Functions of FLOAT64 alone.
bool OfDoubles(Node* node, double (*function)(double value)) {
  const auto a = LoadElements(*node, 0);
  return a && a->is_wide && OfFloats(node, function);
}
bool Exp(Node* node) {
  return OfDoubles(node, [](double value) { return std::exp(value); });
}
bool Log(Node* node) {
  return OfDoubles(node, [](double value) { return std::log(value); });
}
bool Pow(Node* node) {
  const auto a = LoadElements(*node, 0);
  auto b = LoadElements(*node, 1);
  if (!a || !b || !a->is_wide) return false;
  // An exponent may have another type.
  b->floats.insert(b->floats.end(), b->ints.begin(), b->ints.end());
  b->type = a->type;
  b->is_wide = true;
  Elements made;
  return Combine(
             *a, *b, a->type, nullptr,
             [](double x, double y) { return std::pow(x, y); }, nullptr,
             &made) &&
         StoreElements(node, made);
}

// Floats as integers of `type`; false where one does not fit.
bool Truncate(const std::vector<double>& floats, DataType type,
              std::vector<int64_t>* ints) {
  const double limit = type == DataType::INT64 ? 0x1p63 : 0x1p31;
  for (const double value : floats) {
    const double whole = std::trunc(value);
    if (!(whole >= -limit && whole < limit)) return false;
    ints->push_back(static_cast<int64_t>(whole));
  }
  return true;
}

bool Cast(Node* node) {
  const auto a = LoadElements(*node, 0);
  const auto to = node->Int("to", 0);
  if (!a || !to.ok()) return false;
  const bool is_wide = *to == static_cast<int64_t>(ElementType::kDouble);
  const auto type = is_wide ? DataType::FLOAT32 : DataTypeOf(*to);
  if (!type.ok()) return false;
  Elements made = {*type, a->dims, {}, {}, is_wide};
  if (*type == DataType::BOOL8) {
    for (const int64_t value : a->ints) made.ints.push_back(value != 0);
    for (const double value : a->floats) made.ints.push_back(value != 0);
  } else if (*type == DataType::FLOAT32) {
    made.floats.assign(a->ints.begin(), a->ints.end());
    if (a->is_float()) made.floats = a->floats;
  } else {
    made.ints = a->ints;
    if (!Truncate(a->floats, *type, &made.ints)) return false;
  }
  return StoreElements(node, made);
}

bool NonZero(Node* node) {
  const HostArray* from = SmallConstant(*node, 0);
  if (from == nullptr || from->dims.empty()) return false;
  const auto values = Floats(*from);
  if (!values.ok()) return false;
  const size_t rank = from->dims.size();
  std::vector<std::vector<int64_t>> found(rank);
  for (size_t i = 0; i < values->size(); ++i) {
    if ((*values)[i] == 0) continue;
    auto place = static_cast<int64_t>(i);
    for (size_t axis = rank; axis-- > 0;) {
      found[axis].push_back(place % from->dims[axis]);
      place /= from->dims[axis];
    }
  }
  std::vector<int64_t> all;
  for (const auto& indices : found) {
    all.insert(all.end(), indices.begin(), indices.end());
  }
  return SetConstant(node,
                     ArrayOf(all, {static_cast<int64_t>(rank),
                                   static_cast<int64_t>(found[0].size())}));
}

}  // namespace

void AddExactFunctions(ExactTable* table) {
  table->insert({{"Abs", &Abs},
                 {"Cast", &Cast},
                 {"Ceil", &Ceil},
                 {"Exp", &Exp},
                 {"Floor", &Floor},
                 {"Log", &Log},
                 {"Neg", &Neg},
                 {"NonZero", &NonZero},
                 {"Not", &Not},
                 {"Pow", &Pow},
                 {"Reciprocal", &Reciprocal},
                 {"Round", &Round},
                 {"Sqrt", &Sqrt}});
}

}  // namespace tim::models::onnx
