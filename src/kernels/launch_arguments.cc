// Compares arguments with parameters, which follow from a kernel's signature
// and the options.
#include "kernels/launch_arguments.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/ascii.h"
#include "kernels/chain_rule.h"
#include "kernels/kernel_sources.h"
#include "kernels/known_values.h"
#include "kernels/text/c_type.h"
#include "kernels/text/kernel_text.h"
#include "kernels/text/preprocess.h"
#include "kernels/text/struct_fields.h"
#include "kernels/text/typedef_names.h"

namespace tim::kernels {
namespace {

enum class Kind : uint8_t {
  kTensor,
  kLocal,
  kInt,
  kUint,
  kLong,
  kFloat,
  kStruct,
  kOther
};

// What a parameter takes, or an argument gives it.
struct Slot {
  Kind kind = Kind::kOther;
  int bytes = 0;  // Of a tensor's element.
  std::string_view name = {};
  std::string_view suffix = {};  // Of the name.

  std::string ToString() const {
    static constexpr const char* kKinds[] = {"tensor", "local",     "int",
                                             "uint",   "long",      "float",
                                             "struct", "other type"};
    const char* const kind_name = kKinds[static_cast<int>(kind)];
    return kind == Kind::kTensor
               ? StrCat(kind_name, " ", name, suffix, " of ", bytes, " bytes")
               : StrCat(kind_name, " ", name, suffix);
  }
};

struct Parameter {
  Kind kind = Kind::kOther;
  int bytes = 0;
  std::string name = {};
  std::string type = {};  // The name of a struct.
  std::vector<StructField> fields = {};

  Slot slot() const { return {kind, bytes, name}; }
  bool Takes(const Slot& given) const {
    const std::string_view all = name;
    return kind == given.kind && bytes == given.bytes &&
           all.size() == given.name.size() + given.suffix.size() &&
           all.starts_with(given.name) && all.ends_with(given.suffix);
  }
};
using Parameters = std::vector<Parameter>;

constinit KnownValues<Result<Parameters>> g_parameters(1024);

// Whether a list with spaces between its words has the word.
bool ListHas(std::string_view list, std::string_view word) {
  for (std::string_view next = TakeWord(&list); !next.empty();
       next = TakeWord(&list)) {
    if (next == word) return true;
  }
  return false;
}

// Bytes of a plain type; 0 where it is not known.
int BytesOf(std::string_view type) {
  const std::string_view element = ElementOfVector(type);
  const CType* const known = FindCType(element);
  if (known == nullptr) return 0;
  int lanes = 0;
  for (const char digit : type.substr(element.size())) {
    lanes = lanes * 10 + (digit - '0');
  }
  if (lanes == 3) lanes = 4;
  return known->bytes * (lanes == 0 ? 1 : lanes);
}

Kind ValueKind(std::string_view type) {
  if (type == "int") return Kind::kInt;
  if (type == "uint") return Kind::kUint;
  if (type == "long") return Kind::kLong;
  return type == "float" ? Kind::kFloat : Kind::kOther;
}

Result<Parameter> ParameterOf(std::vector<std::string_view> tokens,
                              const TypedefNames& types,
                              std::string_view text) {
  Parameter parameter;
  if (tokens.empty()) return parameter;
  parameter.name = tokens.back();
  tokens.pop_back();
  std::string spelled;
  bool points = false;
  bool local = false;
  for (const std::string_view token : tokens) {
    points |= token == "*";
    local |= token == "__local";
    if (token != "*" && !token.starts_with("__")) spelled += StrCat(token, " ");
  }
  const std::string type = types.Resolve(PlainTypeName(spelled));
  if (local) {
    parameter.kind = Kind::kLocal;
  } else if (points) {
    parameter.kind = Kind::kTensor;
    parameter.bytes = BytesOf(type);
  } else {
    parameter.kind = ValueKind(type);
    TIM_ASSIGN_OR_RETURN(parameter.fields, FieldsOf(type, text));
    if (!parameter.fields.empty()) {
      parameter.kind = Kind::kStruct;
      parameter.type = type;
    }
  }
  return parameter;
}

Result<Parameters> ReadParameters(const KernelSource& file,
                                  const std::string& function,
                                  const std::string& options) {
  MacroTable macros;
  std::string_view rest = options;
  for (std::string_view word = TakeWord(&rest); !word.empty();
       word = TakeWord(&rest)) {
    if (!word.starts_with("-D")) continue;
    const auto macro = MacrosOf(word);
    TIM_RETURN_IF_ERROR(macro.status());
    const auto& [name, value] = macro->front();
    if (!ListHas(file.options, name)) {
      return Unimplemented("it reads no option ", name);
    }
    macros.Define(name, value);
  }
  TIM_ASSIGN_OR_RETURN(const std::string text,
                       Preprocess(file.signatures, std::move(macros)));
  const auto definitions = DefinitionsOf(function, text);
  if (definitions.size() != 1) {
    return Unimplemented("it has ", definitions.size(),
                         " kernels of that name");
  }
  const TypedefNames types(text);
  Parameters parameters;
  for (const auto& tokens : definitions[0].parameters) {
    TIM_ASSIGN_OR_RETURN(parameters.emplace_back(),
                         ParameterOf(tokens, types, text));
  }
  return parameters;
}

struct SlotOf {
  std::string_view name;

  Slot operator()(const ir::TensorArg& tensor) const {
    return {Kind::kTensor, tensor.element_bytes, name};
  }
  Slot operator()(const ir::LocalArg&) const { return {Kind::kLocal, 0, name}; }
  Slot operator()(int32_t) const { return {Kind::kInt, 0, name}; }
  Slot operator()(uint32_t) const { return {Kind::kUint, 0, name}; }
  Slot operator()(int64_t) const { return {Kind::kLong, 0, name}; }
  Slot operator()(float) const { return {Kind::kFloat, 0, name}; }
  Slot operator()(const ir::StructArg&) const {
    return {Kind::kStruct, 0, name};
  }
};

// "int sizes.in_w"
std::string FieldText(std::string_view type, std::string_view argument,
                      std::string_view field) {
  return StrCat(type, " ", argument, ".", field);
}

const char* TypeOf(const ir::StructArg::Field& field) {
  return std::holds_alternative<float>(field.value) ? "float" : "int";
}

// Finds the given field for one of a parameter.
Result<ir::StructArg::Field> FieldFor(const StructField& wanted,
                                      std::string_view argument,
                                      const ir::StructArg& given) {
  const ir::StructArg::Field* found = nullptr;
  for (const ir::StructArg::Field& field : given.fields) {
    if (field.name != wanted.name) continue;
    if (found != nullptr) {
      return Unimplemented(FieldText(wanted.type, argument, wanted.name),
                           " is given twice");
    }
    found = &field;
  }
  if (found == nullptr) {
    return Unimplemented("nothing is given for ",
                         FieldText(wanted.type, argument, wanted.name));
  }
  if (wanted.type == TypeOf(*found)) return *found;
  return Unimplemented("the field is ",
                       FieldText(wanted.type, argument, wanted.name),
                       ", but it is given ", TypeOf(*found));
}

// The given fields, all of which the parameter has, in its order.
Result<ir::StructArg> Placed(const Parameter& parameter,
                             const ir::StructArg& given) {
  ir::StructArg placed{.type = parameter.type, .fields = {}};
  for (const StructField& wanted : parameter.fields) {
    TIM_ASSIGN_OR_RETURN(placed.fields.emplace_back(),
                         FieldFor(wanted, parameter.name, given));
  }
  for (const ir::StructArg::Field& field : given.fields) {
    const auto same = [&](const StructField& wanted) {
      return wanted.name == field.name;
    };
    if (std::ranges::any_of(parameter.fields, same)) continue;
    return Unimplemented("struct ", parameter.type, " has no field for ",
                         FieldText(TypeOf(field), parameter.name, field.name));
  }
  return placed;
}

// Takes arguments for parameters, in their order.
class Comparison {
 public:
  explicit Comparison(const Parameters& parameters) : parameters_(parameters) {}

  // The parameter that is given something.
  Result<const Parameter*> Give(const Slot& given) {
    if (next_ >= parameters_.size()) {
      return Unimplemented("no parameter is left for ", given.ToString());
    }
    const Parameter& parameter = parameters_[next_];
    if (!parameter.Takes(given)) {
      return Unimplemented("parameter ", next_, " is ",
                           parameter.slot().ToString(), ", but it is given ",
                           given.ToString());
    }
    ++next_;
    return &parameter;
  }
  Status End() const {
    if (next_ == parameters_.size()) return OkStatus();
    return Unimplemented("nothing is given for ",
                         parameters_[next_].slot().ToString());
  }

 private:
  const Parameters& parameters_;
  size_t next_ = 0;
};

Status Place(const Parameter& parameter, ir::KernelArg* argument) {
  auto* const fields = std::get_if<ir::StructArg>(argument);
  if (fields == nullptr) return OkStatus();
  TIM_ASSIGN_OR_RETURN(*fields, Placed(parameter, *fields));
  return OkStatus();
}

Status Bind(ir::KernelLaunch& launch) {
  const KernelSource* const file = FindKernelSource(launch.source);
  if (file == nullptr) return Unimplemented("there is no such file");
  if (launch.names.size() != launch.arguments.size()) {
    return Unimplemented(launch.arguments.size(), " arguments have ",
                         launch.names.size(), " names");
  }
  const auto parameters = g_parameters.Get(
      StrCat(launch.source, "|", launch.function, "|", launch.options),
      [&] { return ReadParameters(*file, launch.function, launch.options); });
  TIM_RETURN_IF_ERROR(parameters->status());
  Comparison comparison(**parameters);
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    ir::KernelArg& argument = launch.arguments[i];
    const std::string_view name = launch.names[i];
    TIM_ASSIGN_OR_RETURN(const Parameter* const parameter,
                         comparison.Give(std::visit(SlotOf{name}, argument)));
    TIM_RETURN_IF_ERROR(Place(*parameter, &argument));
    if (std::holds_alternative<ir::TensorArg>(argument)) {
      TIM_RETURN_IF_ERROR(
          comparison.Give({Kind::kInt, 0, name, "_offset"}).status());
    }
  }
  return comparison.End();
}

}  // namespace

Status BindArguments(ir::KernelLaunch* launch) {
  const Status status = Bind(*launch);
  if (status.ok()) return status;
  return Status(
      StatusCode::kInternal,
      StrCat("kernel '", launch->function, "' of ", launch->source,
             ", options '", launch->options, "': ", status.message()));
}

}  // namespace tim::kernels
