// Operators of the registry by their names.
#include "named_operation.h"

#include <array>
#include <utility>

#include "python_call.h"
#include "tim/vx/builtin_op.h"
#include "tim/vx/operators.h"

namespace timcl {
namespace {

namespace vx = tim::vx;
using Attributes = std::initializer_list<vx::NamedAttribute>;

class NamedOperation : public vx::BuiltinOp {
 public:
  NamedOperation(vx::Graph* graph, const char* name, Attributes attributes)
      : BuiltinOp(graph, name, attributes) {}
  NamedOperation(const NamedOperation&) = default;

  std::shared_ptr<vx::Operation> Clone(
      std::shared_ptr<vx::Graph>& graph) const override {
    return AddClone(graph, std::make_shared<NamedOperation>(*this));
  }
};

// More attributes than any operator has.
constexpr size_t kMostAttributes = 40;

using Create = std::shared_ptr<vx::Operation> (*)(
    vx::Graph*, const char*, const std::vector<vx::NamedAttribute>&);

template <size_t... I>
std::shared_ptr<vx::Operation> CreateOf(
    vx::Graph* graph, const char* name,
    const std::vector<vx::NamedAttribute>& all, std::index_sequence<I...>) {
  return graph->CreateOperation<NamedOperation>(name, Attributes{all[I]...});
}

template <size_t N>
std::shared_ptr<vx::Operation> CreateWith(
    vx::Graph* graph, const char* name,
    const std::vector<vx::NamedAttribute>& all) {
  return CreateOf(graph, name, all, std::make_index_sequence<N>());
}

template <size_t... N>
constexpr std::array<Create, sizeof...(N)> Table(std::index_sequence<N...>) {
  return {&CreateWith<N>...};
}

// BuiltinOp takes a list whose length is known when this is compiled.
constexpr auto kCreate = Table(std::make_index_sequence<kMostAttributes + 1>());

constexpr std::pair<vx::NamedAttribute::Type, const char*> kKinds[] = {
    {vx::NamedAttribute::Type::kBool, "bool"},
    {vx::NamedAttribute::Type::kInt, "int"},
    {vx::NamedAttribute::Type::kFloat, "float"},
    {vx::NamedAttribute::Type::kString, "text"},
    {vx::NamedAttribute::Type::kInts, "ints"},
    {vx::NamedAttribute::Type::kFloats, "floats"},
    {vx::NamedAttribute::Type::kStrings, "texts"},
};

const char* KindName(vx::NamedAttribute::Type type) {
  for (const auto& [known, name] : kKinds) {
    if (known == type) return name;
  }
  return "";
}

vx::NamedAttribute Convert(const char* name, const std::string& kind,
                           nb::handle value) {
  if (kind == "bool") return {name, nb::cast<bool>(value)};
  if (kind == "int") return {name, nb::cast<int64_t>(value)};
  if (kind == "float") return {name, nb::cast<double>(value)};
  if (kind == "text") return {name, nb::cast<std::string>(value)};
  if (kind == "ints") return {name, nb::cast<std::vector<int64_t>>(value)};
  if (kind == "floats") return {name, nb::cast<std::vector<double>>(value)};
  if (kind == "texts") {
    return {name, nb::cast<std::vector<std::string>>(value)};
  }
  Raise("ArgumentError", std::string("attribute '") + name + "' has no kind");
}

}  // namespace

NamedAttributes AttributesOf(nb::list attributes) {
  NamedAttributes named;
  for (const nb::handle entry : attributes) {
    named.names.push_back(
        std::make_unique<const std::string>(nb::cast<std::string>(entry[0])));
    named.attributes.push_back(Convert(named.names.back()->c_str(),
                                       nb::cast<std::string>(entry[1]),
                                       nb::object(entry[2])));
  }
  if (named.attributes.size() > kMostAttributes) {
    Raise("ArgumentError", "more than 40 attributes are given");
  }
  return named;
}

std::shared_ptr<vx::Operation> AddNamedOperation(
    vx::Graph* graph, const std::string& name,
    const NamedAttributes& attributes) {
  const auto& all = attributes.attributes;
  return kCreate[all.size()](graph, name.c_str(), all);
}

nb::list ListOperators() {
  const auto all = InLibrary([] { return vx::Operators(); });
  nb::list operators;
  for (const vx::OperatorInfo& info : all) {
    nb::list attributes;
    for (const vx::AttributeInfo& attribute : info.attributes) {
      nb::dict values;
      for (const auto& [name, number] : attribute.values) {
        values[name.c_str()] = number;
      }
      attributes.append(nb::make_tuple(attribute.name, KindName(attribute.type),
                                       attribute.required,
                                       Text(attribute.default_value), values));
    }
    operators.append(nb::make_tuple(info.name, info.least_inputs,
                                    info.most_inputs, info.least_outputs,
                                    info.most_outputs, attributes));
  }
  return operators;
}

}  // namespace timcl
