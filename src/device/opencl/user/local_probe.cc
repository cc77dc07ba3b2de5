#include "device/opencl/user/local_probe.h"

#include <algorithm>
#include <string_view>

#include "device/opencl/driver/cl_status.h"
#include "kernels/text/c_tokens.h"
#include "kernels/text/kernel_text.h"
#include "kernels/text/user_macros.h"

namespace tim::device {
namespace {

constexpr std::string_view kLocal[] = {"__local", "local"};
constexpr std::string_view kKeptDirectives[] = {
    "if", "ifdef", "ifndef", "elif", "else", "endif", "define", "undef"};

template <size_t N>
bool IsOneOf(std::string_view word, const std::string_view (&words)[N]) {
  return std::find(words, words + N, word) != words + N;
}

// A statement of the outermost scope of a kernel.
struct Statement {
  void Add(std::string_view token, const kernels::UserMacros& macros) {
    text += StrCat(token.data() == end ? "" : " ", token);  // "<<" is one
    end = token.data() + token.size();
    if (token == "(" || token == "[" || token == "{") ++depth;
    if (token == ")" || token == "]" || token == "}") --depth;
    if (depth > 0) return;
    local |= macros.Means(token, kLocal);
    array |= token == "]";
    pointer |= token == "*";
    initialized |= token == "=";
  }
  // A pointer to local memory is none itself, nor is what has a value.
  bool DeclaresMemory() const {
    return local && !initialized && (array || !pointer);
  }

  std::string text;
  const char* end = nullptr;  // of the last token
  int depth = 0;              // of parentheses, brackets and braces
  bool local = false;
  bool array = false;
  bool pointer = false;
  bool initialized = false;
};

// The token after the block that a "{" has begun is the next of `tokens`.
void SkipBlock(kernels::CTokens& tokens) {
  int depth = 1;
  for (std::string_view token = tokens.Next(); !token.empty();
       token = tokens.Next()) {
    if (token == "{") ++depth;
    if (token == "}" && --depth == 0) return;
  }
}

// The declarations of __local memory in a kernel, which are in its outermost
// scope, with the preprocessor's choices between them; "" where there are none.
std::string LocalDeclarations(std::string_view body,
                              const kernels::UserMacros& macros) {
  std::string declarations;
  bool any = false;
  kernels::CTokens tokens(body, kernels::Directives::kGiven);
  Statement statement;
  for (std::string_view token = tokens.Next(); !token.empty();
       token = tokens.Next()) {
    if (token.starts_with('#')) {
      kernels::CTokens line(token.substr(1));
      if (IsOneOf(line.Next(), kKeptDirectives)) {
        declarations += StrCat(token, "\n");
      }
    } else if (token == "{" && statement.depth == 0 && !statement.local) {
      SkipBlock(tokens);
      statement = Statement();
    } else if (token == ";" && statement.depth == 0) {
      if (statement.DeclaresMemory()) {
        declarations += StrCat(statement.text, ";\n");
        any = true;
      }
      statement = Statement();
    } else {
      statement.Add(token, macros);
    }
  }
  return any ? declarations : "";
}

// Three sizes of a work-group, each at least 1, hold a number of 48 bits.
std::string ProbeOf(const std::string& declarations) {
  return StrCat(
      "\n#pragma push_macro(\"__local\")\n"
      "#pragma push_macro(\"local\")\n"
      "#undef __local\n"
      "#undef local\n"
      "#define __local\n"
      "#define local\n"
      "typedef struct {\n",
      declarations,
      "} tim_local_memory;\n"
      "#pragma pop_macro(\"local\")\n"
      "#pragma pop_macro(\"__local\")\n"
      "__kernel __attribute__((reqd_work_group_size(\n"
      "    1 + sizeof(tim_local_memory) % 65536,\n"
      "    1 + (sizeof(tim_local_memory) >> 16) % 65536,\n"
      "    1 + (sizeof(tim_local_memory) >> 32))))\n"
      "void ",
      kLocalProbe, "(void) { }\n");
}

}  // namespace

std::string LocalProbeText(const ir::UserLaunch& launch) {
  const kernels::UserMacros macros(launch.text, launch.options);
  const std::string_view text = launch.text;
  std::string probe;
  size_t copied = 0;
  for (const kernels::KernelText& kernel :
       kernels::DefinitionsOf(launch.function, text)) {
    const std::string declarations = LocalDeclarations(kernel.body, macros);
    if (declarations.empty()) continue;
    const size_t end =
        kernel.body.data() + kernel.body.size() + 1 - text.data();
    probe += StrCat(text.substr(copied, end - copied), ProbeOf(declarations));
    copied = end;
  }
  if (probe.empty()) return probe;
  return probe + std::string(text.substr(copied));
}

Result<int64_t> ProbedLocalBytes(const cl::Program& program,
                                 const cl::Device& device) {
  int code = CL_SUCCESS;
  const cl::Kernel kernel(program, kLocalProbe, &code);
  TIM_RETURN_IF_CL_ERROR(code, "kernel '", kLocalProbe, "'");
  const auto sizes =
      kernel.getWorkGroupInfo<CL_KERNEL_COMPILE_WORK_GROUP_SIZE>(device, &code);
  TIM_RETURN_IF_CL_ERROR(code, "asking for its work-group size");
  int64_t bytes = 0;
  for (int i = 2; i >= 0; --i) {
    bytes = (bytes << 16) + static_cast<int64_t>(sizes[i]) - 1;
  }
  return bytes;
}

}  // namespace tim::device
