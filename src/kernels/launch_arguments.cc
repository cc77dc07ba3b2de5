// Compares arguments with parameters, which follow from a kernel's signature
// and the options.
#include "kernels/launch_arguments.h"

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
  kOther
};

// What a parameter takes, or an argument gives it.
struct Slot {
  Kind kind = Kind::kOther;
  int bytes = 0;  // Of a tensor's element.
  std::string_view name = {};
  std::string_view suffix = {};  // Of the name.

  std::string ToString() const {
    static constexpr const char* kKinds[] = {
        "tensor", "local", "int", "uint", "long", "float", "other type"};
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

Parameter ParameterOf(std::vector<std::string_view> tokens,
                      const TypedefNames& types) {
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
    parameters.push_back(ParameterOf(tokens, types));
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
};

// Takes arguments for parameters, in their order.
class Comparison {
 public:
  explicit Comparison(const Parameters& parameters) : parameters_(parameters) {}

  Status Give(const Slot& given) {
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
    return OkStatus();
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

Status Compare(const ir::KernelLaunch& launch) {
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
    const ir::KernelArg& argument = launch.arguments[i];
    const std::string_view name = launch.names[i];
    TIM_RETURN_IF_ERROR(comparison.Give(std::visit(SlotOf{name}, argument)));
    if (std::holds_alternative<ir::TensorArg>(argument)) {
      TIM_RETURN_IF_ERROR(comparison.Give({Kind::kInt, 0, name, "_offset"}));
    }
  }
  return comparison.End();
}

}  // namespace

Status CheckArguments(const ir::KernelLaunch& launch) {
  const Status status = Compare(launch);
  if (status.ok()) return status;
  return Status(StatusCode::kInternal,
                StrCat("kernel '", launch.function, "' of ", launch.source,
                       ", options '", launch.options, "': ", status.message()));
}

}  // namespace tim::kernels
