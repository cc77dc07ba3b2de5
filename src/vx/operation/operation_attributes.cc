// Operation::GetAttribute.
#include "tim/vx/operation.h"
#include "vx/operation/op_impl.h"

namespace tim::vx {
namespace {

// The attribute given, else the operator's default; null without either.
const ir::Attribute* FindAttribute(const OpImpl& operation, const char* name) {
  if (name == nullptr) return nullptr;
  const ir::Attribute* given = operation.attributes.Find(name);
  if (given != nullptr) return given;
  for (const ir::AttributeSpec& spec : ir::ReservedAttributes()) {
    if (spec.name == name) return &*spec.default_value;
  }
  const ir::OpSchema* schema = operation.Schema();
  if (schema == nullptr) return nullptr;
  for (const ir::AttributeSpec& spec : schema->attributes) {
    if (spec.name == name && spec.default_value) return &*spec.default_value;
  }
  return nullptr;
}

template <typename T>
bool Read(const OpImpl& operation, const char* name, T* value) {
  const ir::Attribute* found = FindAttribute(operation, name);
  const T* held = found != nullptr ? std::get_if<T>(found) : nullptr;
  if (held != nullptr) *value = *held;
  return held != nullptr;
}

}  // namespace

bool Operation::ReadAttribute(const char* name, bool* value) const {
  return Read(*impl_, name, value);
}
bool Operation::ReadAttribute(const char* name, int64_t* value) const {
  return Read(*impl_, name, value);
}
bool Operation::ReadAttribute(const char* name, double* value) const {
  return Read(*impl_, name, value);
}
bool Operation::ReadAttribute(const char* name, std::string* value) const {
  return Read(*impl_, name, value);
}
bool Operation::ReadAttribute(const char* name,
                              std::vector<int64_t>* value) const {
  return Read(*impl_, name, value);
}
bool Operation::ReadAttribute(const char* name,
                              std::vector<double>* value) const {
  return Read(*impl_, name, value);
}
bool Operation::ReadAttribute(const char* name,
                              std::vector<std::string>* value) const {
  return Read(*impl_, name, value);
}

}  // namespace tim::vx
