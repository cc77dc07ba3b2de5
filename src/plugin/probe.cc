// Starts a program and waits for its end.  A process that was forked off would
// have locks of threads that it does not have.
#include "plugin/probe.h"

#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace tim::plugin {
namespace {

// Pointers to the words, and a null, as programs get their words.
std::vector<char*> PointersTo(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

bool LoadsPlugins(const std::string& variable) {
  return variable.starts_with("TIMCL_PLUGINS=") ||
         variable.starts_with("TIMCL_PLUGIN_PROBE=");
}

}  // namespace

Status ProbeFile(const std::string& path, const PluginOptionList& options,
                 const std::vector<std::string>& environment) {
  std::vector<std::string> words = {"timcl", "plugin-check", "--probe"};
  for (const auto& [key, value] : options) {
    words.push_back("--option");
    words.push_back(StrCat(key, "=", value));
  }
  words.push_back(path);
  std::vector<std::string> variables = environment;
  std::erase_if(variables, LoadsPlugins);
  pid_t process = 0;
  const int error =
      posix_spawnp(&process, words[0].c_str(), nullptr, nullptr,
                   PointersTo(words).data(), PointersTo(variables).data());
  if (error != 0) {
    return FailedPrecondition(
        "TIMCL_PLUGIN_PROBE needs the program timcl in "
        "PATH: ",
        std::strerror(error));
  }
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno == EINTR) continue;
    return FailedPrecondition("the probe of ", path, ": ",
                              std::strerror(errno));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return OkStatus();
  return FailedPrecondition(
      "another process could not load ", path, ": ",
      WIFSIGNALED(status) ? "signal " : "exit status ",
      WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

}  // namespace tim::plugin
