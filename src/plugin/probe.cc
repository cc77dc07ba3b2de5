// Starts a program and waits for its end.  A process that was forked off would
// have locks of threads that it does not have.
#include "plugin/probe.h"

#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace tim::plugin {

Status ProbeFile(const std::string& path, char** environment) {
  std::vector<std::string> words = {"timcl", "plugin-check", "--probe", path};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  char* none[] = {nullptr};
  pid_t process = 0;
  const int error =
      posix_spawnp(&process, arguments[0], nullptr, nullptr, arguments.data(),
                   environment != nullptr ? environment : none);
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
