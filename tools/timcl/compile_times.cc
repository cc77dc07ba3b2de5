// Measures Compile in new processes, whose caches are empty or filled.
#include "tools/timcl/compile_times.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/timcl/terminal.h"

extern char** environ;

namespace tim::tool {
namespace {

namespace fs = std::filesystem;

// Variables that name folders of caches: the library's, and drivers' own.
constexpr const char* kFolders[] = {"TIMCL_CACHE_DIR",       "POCL_CACHE_DIR",
                                    "CUDA_CACHE_PATH",       "NEO_CACHE_DIR",
                                    "MESA_SHADER_CACHE_DIR", "XDG_CACHE_HOME"};

// A folder that is removed at the end.
class TemporaryFolder {
 public:
  static Result<std::unique_ptr<TemporaryFolder>> Create() {
    std::error_code error;
    std::string path =
        (fs::temp_directory_path(error) / "timcl-XXXXXX").string();
    if (error || mkdtemp(path.data()) == nullptr) {
      return FailedPrecondition(
          "no folder for empty caches can be made: ", std::strerror(errno),
          "; TMPDIR says where they go");
    }
    return std::unique_ptr<TemporaryFolder>(new TemporaryFolder(path));
  }
  ~TemporaryFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}

  const std::string path_;
};

// The environment with caches in `folder`, which are made.
std::vector<std::string> EnvironmentIn(const std::string& folder) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
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

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string ReadToEnd(int pipe) {
  std::string text;
  char buffer[4096];
  while (true) {
    const ssize_t count = read(pipe, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer, static_cast<size_t>(count));
  }
}

// The text that this program prints when it is started with these arguments.
Result<std::string> OutputOf(std::vector<std::string> arguments,
                             std::vector<std::string> environment) {
  int ends[2];
  if (pipe(ends) != 0) {
    return FailedPrecondition("no pipe: ", std::strerror(errno));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t child = -1;
  const int failure =
      posix_spawn(&child, "/proc/self/exe", &actions, nullptr,
                  Pointers(arguments).data(), Pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  const std::string text = failure == 0 ? ReadToEnd(ends[0]) : "";
  close(ends[0]);
  if (failure != 0) {
    return FailedPrecondition("timcl cannot be started anew: ",
                              std::strerror(failure));
  }
  int state = 0;
  while (waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(state) && WEXITSTATUS(state) == 0) return text;
  return FailedPrecondition("compiling in a new process failed");
}

Result<double> CompileOnce(const Arguments& arguments,
                           const std::string& folder) {
  std::vector<std::string> words = {"timcl",     "run",    arguments.file,
                                    "--anew",    "--runs", "0",
                                    "--warm-up", "0",      "--json"};
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
  TIM_ASSIGN_OR_RETURN(const auto folder, TemporaryFolder::Create());
  CompileTimes times;
  ShowProgress("compiling with empty caches");
  TIM_ASSIGN_OR_RETURN(times.cold_ms, CompileOnce(arguments, folder->path()));
  ShowProgress("compiling with the programs built before");
  TIM_ASSIGN_OR_RETURN(times.cached_ms, CompileOnce(arguments, folder->path()));
  ClearProgress();
  return times;
}

}  // namespace tim::tool
