#include "device/opencl/program/program_build.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/trace.h"
#include "device/opencl/driver/cl_status.h"
#include "device/opencl/driver/opencl_info.h"
#include "device/opencl/fork/opencl_process.h"
#include "device/opencl/program/build_log.h"
#include "device/opencl/program/builtin_functions.h"
#include "device/opencl/program/option_words.h"

namespace tim::device {
namespace {

std::string LogOf(const cl::Program& program, const cl::Device& device,
                  const ProgramSource& source) {
  std::string log = program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device);
  while (!log.empty() && (log.back() == '\n' || log.back() == '\0')) {
    log.pop_back();
  }
  return source.user ? InUsersWords(std::move(log)) : log;
}

// Some drivers lose the types of parameters with the source; without them a
// user's kernel cannot be checked.
int ArgumentInfoCode(cl::Program& program) {
  std::vector<cl::Kernel> kernels;
  int code = program.createKernels(&kernels);
  for (const cl::Kernel& kernel : kernels) {
    if (kernel.getInfo<CL_KERNEL_NUM_ARGS>() == 0) continue;
    kernel.getArgInfo<CL_KERNEL_ARG_TYPE_NAME>(0, &code);
    break;
  }
  return code;
}

std::optional<cl::Program> FromBinary(const cl::Context& context,
                                      const cl::Device& device,
                                      const ProgramSource& source,
                                      const std::string& bytes) {
  const cl::Program::Binaries binaries = {{bytes.begin(), bytes.end()}};
  int code = CL_SUCCESS;
  cl::Program program(context, {device}, binaries, nullptr, &code);
  if (code == CL_SUCCESS) {
    code = program.build({device}, source.options.c_str());
  }
  if (code == CL_SUCCESS && source.user) code = ArgumentInfoCode(program);
  if (code == CL_SUCCESS) return program;
  TIM_LOG(kInfo, "the stored binary of ", source.name, " is not usable (",
          ClErrorName(code), "): building from source");
  return std::nullopt;
}

Status ExplainFailure(int code, const cl::Program& program,
                      const cl::Device& device, const ProgramSource& source) {
  const Status status = ClStatus(
      code, StrCat("building ", source.name, " with options '", source.options,
                   "' for ", device.getInfo<CL_DEVICE_NAME>()));
  std::string text = status.message();
  const std::string log = LogOf(program, device, source);
  if (!log.empty()) text += StrCat("\n", log);
  if (source.user) {
    const std::string hint = HintOnSpaces(source.options);
    if (!hint.empty()) text += StrCat("\n", hint);
  }
  return Status(status.code(), std::move(text));
}

bool Pastes(std::string_view text) {
  return text.find("##") != std::string_view::npos;
}

// Nothing where the driver does not read clang's header of all builtin
// functions, or the program may need the whole of it.
std::optional<std::string> BuiltinsOf(const cl::Device& device,
                                      const ProgramSource& source) {
  const cl::Platform platform(device.getInfo<CL_DEVICE_PLATFORM>());
  if (!IsPocl(platform) || !source.complete) return std::nullopt;
  if (source.options.find(kDefaultStandard) == std::string::npos) {
    return std::nullopt;
  }
  // Names that a user's text makes are not seen, nor those of what stands
  // before it where it has images.
  if (source.user && (Pastes(source.head) || Pastes(source.text))) {
    return std::nullopt;
  }
  return DeclareBuiltins({source.head, source.text, source.options});
}

Result<cl::Program> FromText(const cl::Context& context,
                             const cl::Device& device,
                             const ProgramSource& source,
                             const std::string& text,
                             const std::string& options) {
  int code = CL_SUCCESS;
  cl::Program program(context, text, false, &code);
  TIM_RETURN_IF_CL_ERROR(code, "creating the program of ", source.name);
  code = program.build({device}, options.c_str());
  if (code != CL_SUCCESS) return ExplainFailure(code, program, device, source);
  if (const std::string log = LogOf(program, device, source); !log.empty()) {
    TIM_LOG(kDebug, "building ", source.name, ":\n", log);
  }
  return program;
}

Result<cl::Program> FromSource(const cl::Context& context,
                               const cl::Device& device,
                               const ProgramSource& source) {
  const std::string text = StrCat(source.head, source.text);
  if (const auto builtins = BuiltinsOf(device, source)) {
    auto program = FromText(context, device, source, StrCat(*builtins, text),
                            StrCat(source.options, kWithoutBuiltinHeader));
    if (program.ok()) return program;
    // It builds with the whole header, or that tells what is wrong.
    TIM_LOG(kDebug, "with declarations of its builtin functions alone: ",
            program.status().message());
  }
  return FromText(context, device, source, text, source.options);
}

std::optional<std::string> BinaryOf(const cl::Program& program,
                                    const std::string& name) {
  if (!CheckOpenClProcess().ok()) return std::nullopt;
  int code = CL_SUCCESS;
  auto binaries = program.getInfo<CL_PROGRAM_BINARIES>(&code);
  // Programs are built for one of the devices of their context.
  std::erase_if(binaries, [](const auto& binary) { return binary.empty(); });
  if (code != CL_SUCCESS || binaries.size() != 1) {
    TIM_LOG(kDebug, name, ": the driver gives no binary");
    return std::nullopt;
  }
  return std::string(binaries[0].begin(), binaries[0].end());
}

}  // namespace

void TellOfUse(const cl::Program& program, const ProgramSource& source,
               BinaryStore& store) {
  if (!source.complete) return;
  store.Use(source.key,
            [program, name = source.name] { return BinaryOf(program, name); });
}

Result<cl::Program> BuildProgram(const cl::Context& context,
                                 const cl::Device& device,
                                 const ProgramSource& source,
                                 BinaryStore& store) {
  TraceSpan span("build", "program", source.name);
  span.Add("options", source.options);
  const auto bytes = source.complete ? store.Load(source.key) : std::nullopt;
  if (bytes) {
    auto program = FromBinary(context, device, source, *bytes);
    if (program) {
      span.Add("from", "binary");
      return *std::move(program);
    }
  }
  span.Add("from", "source");
  store.CountBuild();
  TIM_ASSIGN_OR_RETURN(cl::Program program,
                       FromSource(context, device, source));
  if (!source.complete || !store.keeps()) return program;
  // A binary makes PoCL build all kernels of the program once more, for sizes
  // that nothing launches.
  if (!bytes && KeepsPrograms(device)) return program;
  if (const auto made = BinaryOf(program, source.name)) {
    store.Store(source.key, *made);
  }
  return program;
}

}  // namespace tim::device
