#include "device/opencl/program/program_source.h"

#include <atomic>

#include "base/hash.h"
#include "kernels/kernel_sources.h"
#include "kernels/text/include_directive.h"

namespace tim::device {
namespace {

// Without it some compilers take no parameter of type half.
constexpr std::string_view kHalves =
    "#ifdef cl_khr_fp16\n"
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    "#endif\n";

// Argument info checks signatures.
std::string CompleteOptions(const std::string& options) {
  const bool has_standard = options.find("-cl-std") != std::string::npos;
  const std::string standard =
      has_standard ? "" : StrCat(kDefaultStandard, " ");
  return StrCat(standard, "-cl-kernel-arg-info", options.empty() ? "" : " ",
                options);
}

// Lengths keep ("ab", "c") apart from ("a", "bc").
std::string KeyOf(std::string_view prelude, const ProgramSource& source,
                  std::string_view identity) {
  return HashText(StrCat(kernels::kPreamble, prelude.size(), ":", prelude,
                         source.text.size(), ":", source.text,
                         source.options.size(), ":", source.options, identity))
      .ToString();
}

bool Mentions(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

// What a user's program needs before it: the text that lowers images to memory
// only where it has any.
std::string Prelude(const ir::UserLaunch& launch) {
  for (const std::string_view text : {launch.text, launch.options}) {
    if (Mentions(text, "image2d_t") || Mentions(text, "image2d_array_t")) {
      return StrCat(kHalves, kernels::FindSource("kernels/custom_images.cl"));
    }
  }
  return std::string(kHalves);
}

// What has no edition is built each time.
std::string EditionText(uint64_t edition) {
  static constinit std::atomic<uint64_t> next = 1;
  if (edition != 0) return StrCat("-edition-", edition);
  return StrCat("-once-", next.fetch_add(1, std::memory_order_relaxed));
}

// The headers that stand before an embedded text.
Result<std::string> HeadersOf(const ir::KernelLaunch& launch) {
  std::string out;
  for (const std::string& name : launch.headers) {
    const char* text = kernels::FindHeader(name);
    if (text == nullptr) return TIM_INTERNAL("no embedded header '", name, "'");
    out += text;
  }
  return out;
}

std::string LineDirective(std::string_view name) {
  std::string quoted;
  for (const char c : name) {
    const bool plain = c != '"' && c != '\\' && c != '\n' && c != '\r';
    quoted += plain ? c : '_';
  }
  return StrCat("#line 1 \"", quoted, "\"\n");
}

std::string NameOr(const std::string& name, const std::string& function) {
  return name.empty() ? StrCat("kernel '", function, "'") : name;
}

}  // namespace

Result<ProgramSource> SourceOf(const ir::KernelLaunch& launch,
                               std::string_view identity) {
  ProgramSource source;
  std::string headers;
  std::string line;
  if (launch.text.empty()) {
    const char* text = kernels::FindSource(launch.source);
    if (text == nullptr) {
      return TIM_INTERNAL("no embedded source '", launch.source, "'");
    }
    source.name = launch.source;
    source.text = text;
    TIM_ASSIGN_OR_RETURN(headers, HeadersOf(launch));
  } else {
    source.name = NameOr(launch.source, launch.function);
    source.text = launch.text;
    line = LineDirective(source.name);
  }
  source.head = StrCat(kernels::kPreamble, headers, line);
  source.options = CompleteOptions(launch.options);
  source.key = KeyOf(headers, source, identity);
  return source;
}

ProgramSource SourceOf(const ir::UserLaunch& launch,
                       std::string_view identity) {
  ProgramSource source;
  std::string prelude = Prelude(launch);
  for (const std::string& define : launch.defines) {
    prelude += StrCat("#define ", define, "\n");
  }
  source.name = NameOr(launch.name, launch.function);
  source.head = StrCat(kernels::kPreamble, prelude, LineDirective(source.name));
  source.text = launch.text;
  source.options = CompleteOptions(launch.options);
  source.key = KeyOf(prelude, source, identity);
  source.complete = !kernels::IncludesFiles(launch.text, launch.options);
  if (!source.complete) source.key += EditionText(launch.edition);
  source.user = true;
  return source;
}

ProgramSource SourceOfChain(std::string_view text, std::string_view identity) {
  ProgramSource source;
  source.name = "a chain of kernels";
  source.head = kernels::kPreamble;
  source.text = text;
  source.options = CompleteOptions("");
  source.key = KeyOf("", source, identity);
  return source;
}

}  // namespace tim::device
