// Keeps what names of a program stand for.
#include "expr/scope.h"

#include <utility>

namespace tim::expr {

const char* ToString(NameKind kind) {
  constexpr const char* kNames[] = {"an unknown name", "the index variable",
                                    "the dimension", "the attribute",
                                    "the tensor"};
  return kNames[static_cast<int>(kind)];
}

Status Scope::Define(const Name& name, NameKind kind, int index) {
  const auto [it, added] = symbols_.emplace(name.text, Symbol{kind, index});
  if (added) return OkStatus();
  return ErrorAt(name.offset, "a name that is not defined yet",
                 StrCat(ToString(it->second.kind), " '", name.text, "'"));
}

Status Scope::DeclareParam(const Param& param) {
  const int tensor = static_cast<int>(program_.tensors.size());
  TIM_RETURN_IF_ERROR(Define(param.name, NameKind::kTensor, tensor));
  program_.tensors.push_back(
      {.name = param.name,
       .rank = param.ranked ? static_cast<int>(param.extents.size()) : -1,
       .extents = param.extents,
       .types = param.types,
       .same_float = param.types.empty(),
       .input = static_cast<int>(program_.inputs.size())});
  program_.inputs.push_back(tensor);
  for (const Extent& extent : param.extents) {
    if (extent.name.empty() || extent.name == "_") continue;
    const Symbol* known = Find(extent.name);
    if (known != nullptr && known->kind == NameKind::kDimension) continue;
    TIM_RETURN_IF_ERROR(AddDimension({extent.name, extent.offset}));
  }
  return OkStatus();
}

Status Scope::Declare() {
  for (const Param& param : program_.syntax.params) {
    TIM_RETURN_IF_ERROR(DeclareParam(param));
  }
  for (const ResultDef& result : program_.syntax.results) {
    const int tensor = static_cast<int>(program_.tensors.size());
    TIM_RETURN_IF_ERROR(Define(result.name, NameKind::kTensor, tensor));
    TensorDef def{.name = result.name,
                  .output = static_cast<int>(program_.outputs.size())};
    if (result.type != ir::DataType::kUnknown) def.types = {result.type};
    program_.tensors.push_back(std::move(def));
    program_.outputs.push_back(tensor);
  }
  for (size_t i = 0; i < program_.syntax.attributes.size(); ++i) {
    TIM_RETURN_IF_ERROR(Define(program_.syntax.attributes[i].name,
                               NameKind::kAttribute, static_cast<int>(i)));
  }
  return OkStatus();
}

const Symbol* Scope::Find(const std::string& name) const {
  const auto it = symbols_.find(name);
  return it == symbols_.end() ? nullptr : &it->second;
}

int Scope::VariableOf(const StatementInfo& info, const std::string& name) {
  for (size_t i = 0; i < info.variables.size(); ++i) {
    if (info.variables[i].text == name) return static_cast<int>(i);
  }
  return -1;
}

Status Scope::AddDimension(const Name& name) {
  TIM_RETURN_IF_ERROR(Define(name, NameKind::kDimension,
                             static_cast<int>(program_.dimensions.size())));
  program_.dimensions.push_back(name.text);
  return OkStatus();
}

Result<int> Scope::AddVariable(const Name& name, StatementInfo* info) const {
  if (info->variables.size() == kMostVariables) {
    return ErrorAt(name.offset,
                   StrCat("at most ", kMostVariables, " index variables"),
                   StrCat("'", name.text, "'"));
  }
  info->variables.push_back(name);
  return static_cast<int>(info->variables.size()) - 1;
}

int Scope::AddInput(const Name& name) {
  const int tensor = static_cast<int>(program_.tensors.size());
  symbols_.emplace(name.text, Symbol{NameKind::kTensor, tensor});
  program_.tensors.push_back(
      {.name = name,
       .same_float = true,
       .input = static_cast<int>(program_.inputs.size())});
  program_.inputs.push_back(tensor);
  return tensor;
}

}  // namespace tim::expr
