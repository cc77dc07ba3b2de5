// Measures Compile in new processes, whose caches are empty or filled.
#include "tools/timcl/compile_times.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tools/timcl/child_process.h"
#include "tools/timcl/model_options.h"
#include "tools/timcl/temporary_folder.h"
#include "tools/timcl/terminal.h"

namespace tim::tool {
namespace {

namespace fs = std::filesystem;

// Variables that name folders of caches: the library's, and drivers' own.
constexpr const char* kFolders[] = {"TIMCL_CACHE_DIR",       "POCL_CACHE_DIR",
                                    "CUDA_CACHE_PATH",       "NEO_CACHE_DIR",
                                    "MESA_SHADER_CACHE_DIR", "XDG_CACHE_HOME"};

// The environment with caches in `folder`, which are made.
std::vector<std::string> EnvironmentIn(const std::string& folder) {
  std::vector<std::string> variables = Environment();
  for (const char* name : kFolders) {
    const std::string set = StrCat(name, "=");
    std::erase_if(variables, [&](const std::string& variable) {
      return variable.starts_with(set);
    });
    const std::string path = StrCat(folder, "/", name);
    std::error_code error;
    fs::create_directory(path, error);
    fs::permissions(path, fs::perms::owner_all, error);
    variables.push_back(set + path);
  }
  return variables;
}

// The text that this program prints when it is started with these arguments.
Result<std::string> OutputOf(std::vector<std::string> arguments,
                             std::vector<std::string> environment) {
  auto result = RunProgram("/proc/self/exe", std::move(arguments),
                           std::move(environment));
  if (!result.ok()) {
    return FailedPrecondition("timcl is not started anew: ",
                              result.status().message());
  }
  if (result->exit_status == 0) return std::move(result->output);
  return FailedPrecondition("compiling in a new process failed");
}

Result<double> CompileOnce(const Arguments& arguments,
                           const std::string& folder) {
  std::vector<std::string> words = {"timcl",     "run",    arguments.file,
                                    "--anew",    "--runs", "0",
                                    "--warm-up", "0",      "--json"};
  const std::vector<std::string> model = WordsOf(arguments.model);
  words.insert(words.end(), model.begin(), model.end());
  if (!arguments.device.empty()) {
    words.insert(words.end(), {"--device", arguments.device});
  }
  TIM_ASSIGN_OR_RETURN(const std::string text,
                       OutputOf(words, EnvironmentIn(folder)));
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_object() && json.contains("ready_ms") &&
      json["ready_ms"].is_number()) {
    return json["ready_ms"].get<double>();
  }
  return FailedPrecondition("compiling in a new process printed no time");
}

}  // namespace

Result<CompileTimes> MeasureCompile(const Arguments& arguments) {
  TIM_ASSIGN_OR_RETURN(const auto folder,
                       TemporaryFolder::Create("empty caches"));
  CompileTimes times;
  ShowProgress("compiling with empty caches");
  TIM_ASSIGN_OR_RETURN(times.cold_ms, CompileOnce(arguments, folder->path()));
  ShowProgress("compiling with the programs built before");
  TIM_ASSIGN_OR_RETURN(times.cached_ms, CompileOnce(arguments, folder->path()));
  ClearProgress();
  return times;
}

}  // namespace tim::tool
