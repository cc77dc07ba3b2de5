// Reads what a chain must know of a kernel text.
#include "kernels/text/text_facts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/status.h"
#include "kernels/text/c_tokens.h"
#include "kernels/text/file_scope_names.h"
#include "kernels/text/include_directive.h"

namespace tim::kernels {
namespace {

constexpr std::string_view kLine = "#line ";
constexpr std::string_view kOnceGuard = "#ifndef TIM_ONCE_";

// What a work-item knows of its work-group is lost in a chain, and a program
// has its variables once.
constexpr std::string_view kForeign[] = {
    "barrier",        "get_local_id",    "get_local_size", "get_group_id",
    "get_num_groups", "get_global_size", "get_work_dim",   "get_global_offset",
    "__local",        "local",           "__constant",     "constant",
    "include"};
constexpr std::string_view kForeignStarts[] = {
    "sub_group", "work_group", "async_work_group", "get_local_linear",
    "get_global_linear"};

// The name in "#line 1 "ops/normalization/softmax.cl"".
std::string_view FileOfLine(std::string_view directive) {
  const size_t begin = directive.find('"') + 1;
  return directive.substr(begin, directive.find('"', begin) - begin);
}

// `text` without the headers that a program has once.
std::string OwnText(std::string_view text) {
  std::map<std::string_view, std::string> files;
  std::vector<std::string_view> order;
  std::string_view file;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    if (line.starts_with(kLine)) {
      file = FileOfLine(line);
    } else {
      if (!files.contains(file)) order.push_back(file);
      files[file] += line;
    }
  }
  std::string own;
  for (const std::string_view name : order) {
    const std::string& part = files[name];
    if (part.find(kOnceGuard) == std::string::npos) own += part;
  }
  return own;
}

bool IsForeign(std::string_view token) {
  if (std::find(std::begin(kForeign), std::end(kForeign), token) !=
      std::end(kForeign)) {
    return true;
  }
  return std::any_of(
      std::begin(kForeignStarts), std::end(kForeignStarts),
      [&](std::string_view start) { return token.starts_with(start); });
}

Status CheckTokens(std::string_view text, Directives directives) {
  CTokens tokens(text, directives);
  for (std::string_view token = tokens.Next(); !token.empty();
       token = tokens.Next()) {
    if (directives == Directives::kGiven && token.starts_with('#')) {
      TIM_RETURN_IF_ERROR(CheckTokens(token.substr(1), Directives::kSkipped));
    } else if (IsForeign(token)) {
      return Unimplemented("'", token, "'");
    }
  }
  return OkStatus();
}

// Kernels alone are told their work-item.
Status CheckFunctions(std::string_view text) {
  CTokens tokens(text);
  int braces = 0;
  bool in_kernel = false;
  for (std::string_view token = tokens.Next(); !token.empty();
       token = tokens.Next()) {
    if (token == "{") ++braces;
    if (token == "}") --braces;
    if (braces == 0 && (token == "}" || token == ";")) in_kernel = false;
    if (braces == 0 && (token == "__kernel" || token == "kernel")) {
      in_kernel = true;
    }
    if (token == "get_global_id" && !in_kernel) {
      return Unimplemented("'get_global_id' out of a kernel");
    }
  }
  return OkStatus();
}

// The heads of kernels, and a failure for those that cannot be functions.
Status FindKernels(std::string_view text, std::vector<KernelPlace>* kernels) {
  const auto place = [&](std::string_view token) {
    return static_cast<int>(token.data() - text.data());
  };
  CTokens tokens(text);
  for (std::string_view token = tokens.Next(); !token.empty();
       token = tokens.Next()) {
    if (token != "__kernel" && token != "kernel") continue;
    KernelPlace kernel{.begin = place(token)};
    const std::string_view next = tokens.Next();
    if (next != "void") {
      // "kernel" may be a name like others.
      if (token == "kernel" && next != "__attribute__") continue;
      return Unimplemented("a kernel with attributes");
    }
    kernel.name = place(tokens.Next());
    const std::string_view open = tokens.Next();
    if (open != "(") return Unimplemented("a kernel without parameters");
    kernel.parameters = place(open) + 1;
    const std::string_view first = tokens.Next();
    if (first == ")" || first == "void") {
      return Unimplemented("a kernel without parameters");
    }
    kernels->push_back(kernel);
  }
  return OkStatus();
}

Status ReadFacts(std::string_view text, TextFacts* facts) {
  if (IncludesFiles(text, "")) return Unimplemented("'#include'");
  TIM_RETURN_IF_ERROR(CheckTokens(text, Directives::kGiven));
  TIM_RETURN_IF_ERROR(CheckFunctions(text));
  TIM_RETURN_IF_ERROR(FindKernels(text, &facts->kernels));
  const std::string own = OwnText(text);
  facts->macros = StrJoin(MacroNames(own), " ");
  TIM_ASSIGN_OR_RETURN(const auto names, FileScopeNames(own));
  facts->names = StrJoin(names, " ");
  return OkStatus();
}

}  // namespace

TextFacts FactsOf(std::string_view text) {
  TextFacts facts;
  facts.contracts = text.find("FP_CONTRACT OFF") == std::string_view::npos;
  facts.refusal = ReadFacts(text, &facts).message();
  return facts;
}

}  // namespace tim::kernels
