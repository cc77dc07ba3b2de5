#include "ir/attribute.h"

#include <atomic>

#include "base/fork/keep_one.h"
#include "ir/constant.h"

namespace tim::ir {
namespace {

struct Printer {
  std::string operator()(bool value) const { return StrCat(value); }
  std::string operator()(int64_t value) const { return StrCat(value); }
  std::string operator()(double value) const { return StrCat(value); }
  std::string operator()(const std::string& value) const {
    return StrCat("\"", value, "\"");
  }
  template <typename T>
  std::string operator()(const std::vector<T>& values) const {
    return StrCat("[", StrJoin(values, ", "), "]");
  }
  std::string operator()(
      const std::shared_ptr<const ConstantData>& data) const {
    return data ? StrCat("tensor ", data->hash.ToString()) : "no tensor";
  }
  std::string operator()(const std::shared_ptr<const Graph>& graph) const {
    return graph ? "graph" : "no graph";
  }
};

// A missing or mistyped attribute cannot pass verification; the fallback only
// keeps a broken invariant from becoming undefined behaviour.
template <typename T>
const T& Get(const AttributeMap& map, std::string_view name) {
  static constinit std::atomic<const T*> fallback = nullptr;
  const Attribute* attribute = map.Find(name);
  TIM_DCHECK(attribute != nullptr && std::holds_alternative<T>(*attribute));
  const T* value = attribute != nullptr ? std::get_if<T>(attribute) : nullptr;
  return value != nullptr ? *value : KeepOne(fallback, [] { return T{}; });
}

}  // namespace

const char* ToString(AttributeType type) {
  static constexpr const char* kNames[] = {"bool",    "int",    "float",
                                           "string",  "ints",   "floats",
                                           "strings", "tensor", "graph"};
  static_assert(std::size(kNames) == std::variant_size_v<Attribute>);
  return kNames[static_cast<int>(type)];
}

std::string ToString(const Attribute& attribute) {
  return std::visit(Printer(), attribute);
}

AttributeMap::AttributeMap() = default;
AttributeMap::AttributeMap(
    std::initializer_list<std::pair<const std::string, Attribute>> entries)
    : entries_(entries) {}
AttributeMap::AttributeMap(const AttributeMap& other) = default;
AttributeMap::AttributeMap(AttributeMap&& other) noexcept = default;
AttributeMap& AttributeMap::operator=(const AttributeMap& other) = default;
AttributeMap& AttributeMap::operator=(AttributeMap&& other) noexcept = default;
AttributeMap::~AttributeMap() = default;
bool AttributeMap::operator==(const AttributeMap& other) const = default;

void AttributeMap::Set(std::string name, Attribute value) {
  entries_.insert_or_assign(std::move(name), std::move(value));
}

const Attribute* AttributeMap::Find(std::string_view name) const {
  const auto it = entries_.find(name);
  return it != entries_.end() ? &it->second : nullptr;
}

bool AttributeMap::Bool(std::string_view name) const {
  return Get<bool>(*this, name);
}
int64_t AttributeMap::Int(std::string_view name) const {
  return Get<int64_t>(*this, name);
}
float AttributeMap::Float(std::string_view name) const {
  return static_cast<float>(Get<double>(*this, name));
}
const std::string& AttributeMap::String(std::string_view name) const {
  return Get<std::string>(*this, name);
}
const std::vector<int64_t>& AttributeMap::Ints(std::string_view name) const {
  return Get<std::vector<int64_t>>(*this, name);
}

std::string AttributeMap::ToString() const {
  std::string out = "{";
  for (const auto& [name, value] : entries_) {
    if (out.size() > 1) out += ", ";
    out += StrCat(name, ": ", ir::ToString(value));
  }
  return out + "}";
}

}  // namespace tim::ir
