// Attributes and operands of nodes, checked where they are read, and the table
// of operators.
#include "models/onnx/node.h"

#include <utility>

namespace tim::models::onnx {
namespace {

const char* KindName(const Attribute& attribute) {
  constexpr const char* kNames[] = {
      "an integer",      "a number",        "a text",  "a list of integers",
      "list of numbers", "a list of texts", "a tensor"};
  return kNames[attribute.index()];
}

template <typename T>
Result<T> Read(const Node& node, const std::string& name, const T& otherwise,
               const char* wanted) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return otherwise;
  if (const T* value = std::get_if<T>(&found->second)) return *value;
  return InvalidArgument("attribute '", name, "' is ", KindName(found->second),
                         ", expected ", wanted);
}

Status NotConstant(const Node& node, size_t input) {
  if (!node.Has(input)) {
    return InvalidArgument("operand ", input, " is absent, but is needed");
  }
  return Unimplemented(
      "operand ", input, " ('", node.inputs[input].name,
      "') must be known when the model is loaded, but follows from inputs; "
      "where it is an input, or follows from few of them, give their content "
      "as ImportOptions::values");
}

}  // namespace

Result<int64_t> Node::Int(const std::string& attribute,
                          int64_t otherwise) const {
  return Read<int64_t>(*this, attribute, otherwise, "an integer");
}

Result<float> Node::Float(const std::string& attribute, float otherwise) const {
  return Read<float>(*this, attribute, otherwise, "a number");
}

Result<std::string> Node::Text(const std::string& attribute,
                               const std::string& otherwise) const {
  return Read<std::string>(*this, attribute, otherwise, "a text");
}

Result<std::vector<int64_t>> Node::Ints(
    const std::string& attribute, const std::vector<int64_t>& otherwise) const {
  return Read(*this, attribute, otherwise, "a list of integers");
}

Result<std::vector<float>> Node::FloatList(
    const std::string& attribute, const std::vector<float>& otherwise) const {
  return Read(*this, attribute, otherwise, "a list of numbers");
}

Result<std::vector<std::string>> Node::Texts(
    const std::string& attribute) const {
  return Read(*this, attribute, std::vector<std::string>(), "a list of texts");
}

Result<std::vector<int64_t>> Node::ConstantInts(size_t input) const {
  if (!Has(input) || inputs[input].constant == nullptr) {
    return NotConstant(*this, input);
  }
  auto values = Integers(*inputs[input].constant);
  if (values.ok()) return values;
  return values.status().WithContext(StrCat("operand ", input));
}

Result<std::vector<float>> Node::ConstantFloats(size_t input) const {
  if (!Has(input) || inputs[input].constant == nullptr) {
    return NotConstant(*this, input);
  }
  auto values = Floats(*inputs[input].constant);
  if (values.ok()) return values;
  return values.status().WithContext(StrCat("operand ", input));
}

Result<std::vector<int64_t>> Node::IntsSince(
    int since, size_t input, const std::string& attribute,
    const std::vector<int64_t>& otherwise) const {
  if (opset < since) return Ints(attribute, otherwise);
  if (HasAttribute(attribute)) {
    return InvalidArgument("attribute '", attribute, "' is operand ", input,
                           " since opset ", since, "; the model has opset ",
                           opset);
  }
  if (!Has(input)) return otherwise;
  return ConstantInts(input);
}

Result<int> Node::Axis(const std::string& attribute, int64_t otherwise,
                       int rank) const {
  TIM_ASSIGN_OR_RETURN(const int64_t axis, Int(attribute, otherwise));
  auto positive = PositiveAxis(axis, rank);
  if (positive.ok()) return positive;
  return positive.status().WithContext(StrCat("attribute '", attribute, "'"));
}

Status Node::SetOutput(size_t index, Result<Value> made) {
  if (!made.ok()) return made.status();
  if (outputs.size() <= index) outputs.resize(index + 1);
  outputs[index] = *std::move(made);
  return OkStatus();
}

void OperatorTable::Add(const std::string& domain, const std::string& op,
                        int first, NodeFunction function) {
  entries_[StrCat(domain, ".", op)] = {first, function};
}

const OperatorTable::Entry* OperatorTable::Find(const std::string& domain,
                                                const std::string& op) const {
  const auto found = entries_.find(StrCat(domain, ".", op));
  return found == entries_.end() ? nullptr : &found->second;
}

}  // namespace tim::models::onnx
