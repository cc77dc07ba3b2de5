// Forks, and passes lines from the new process to this one.
#include "tools/timcl/forked_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tim::tool {
namespace {

// Nobody reads any more where it fails: SIGPIPE ends this process.
void WriteAll(int pipe, const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = write(pipe, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) std::_Exit(EXIT_FAILURE);
    done += static_cast<size_t>(count);
  }
}

[[noreturn]] void Work(int pipe, pid_t parent,
                       const std::function<void(const SendLine&)>& work) {
  // This process ends with the other one, which may have ended before.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) std::_Exit(EXIT_FAILURE);
  work([pipe](const std::string& line) { WriteAll(pipe, line + "\n"); });
  std::exit(EXIT_SUCCESS);
}

void ReadLines(int pipe,
               const std::function<bool(const std::string&)>& receive) {
  std::string text;
  char buffer[4096];
  while (true) {
    const ssize_t count = read(pipe, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.append(buffer, static_cast<size_t>(count));
    for (size_t end = text.find('\n'); end != std::string::npos;
         end = text.find('\n')) {
      if (!receive(text.substr(0, end))) return;
      text.erase(0, end + 1);
    }
  }
}

}  // namespace

std::string ProcessEnd::ToString() const {
  if (signal == 0) return StrCat("exit status ", exit_status);
  const char* const name = strsignal(signal);
  return StrCat("signal ", signal, " (", name == nullptr ? "?" : name, ")");
}

Result<ProcessEnd> RunForked(
    const std::function<void(const SendLine& send)>& work,
    const std::function<bool(const std::string& line)>& receive) {
  int ends[2];
  if (pipe(ends) != 0) {
    return FailedPrecondition("no pipe: ", std::strerror(errno));
  }
  std::fflush(nullptr);  // else both processes write what is kept
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    Work(ends[1], parent, work);
  }
  close(ends[1]);
  if (child > 0) ReadLines(ends[0], receive);
  close(ends[0]);
  if (child < 0) {
    return FailedPrecondition("no process: ", std::strerror(errno));
  }
  int state = 0;
  while (waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  ProcessEnd end;
  if (WIFEXITED(state)) end.exit_status = WEXITSTATUS(state);
  if (WIFSIGNALED(state)) end.signal = WTERMSIG(state);
  return end;
}

}  // namespace tim::tool
