// Starts programs and reads what they print.
#include "tools/timcl/child_process.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

extern char** environ;

namespace tim::tool {
namespace {

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

}  // namespace

std::vector<std::string> Environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
  return variables;
}

Result<ProcessResult> RunProgram(const std::string& program,
                                 std::vector<std::string> words,
                                 std::vector<std::string> variables) {
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
      posix_spawnp(&child, program.c_str(), &actions, nullptr,
                   Pointers(words).data(), Pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  ProcessResult result;
  if (failure == 0) result.output = ReadToEnd(ends[0]);
  close(ends[0]);
  if (failure == ENOENT || failure == EACCES) {
    return NotFound("'", program,
                    "' cannot be started: ", std::strerror(failure));
  }
  if (failure != 0) {
    return FailedPrecondition("'", program,
                              "' cannot be started: ", std::strerror(failure));
  }
  int state = 0;
  while (waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(state)) result.exit_status = WEXITSTATUS(state);
  return result;
}

}  // namespace tim::tool
