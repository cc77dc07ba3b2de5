// Processes that a test forks off itself.
#ifndef TIM_TESTS_SUPPORT_FORKED_PROCESS_H_
#define TIM_TESTS_SUPPORT_FORKED_PROCESS_H_

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

namespace tim::testing {

struct Forked {
  int exit_status = -1;  ///< 0: nothing in the body has failed.
  int signal = 0;        ///< That ended it; SIGALRM after too long a time.
  std::string output;    ///< Standard output and standard error.
};

/// Forks a process that runs `body`, whose expectations count, and ends by
/// exit(), with all handlers and destructors.  It has 20 seconds.
inline Forked Fork(const std::function<void()>& body) {
  std::fflush(nullptr);
  std::array<int, 2> ends = {};
  Forked forked;
  if (pipe(ends.data()) != 0) return forked;
  const pid_t process = fork();
  if (process == 0) {
    alarm(20);
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    body();
    std::exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  close(ends[1]);
  std::array<char, 4096> buffer = {};
  for (ssize_t n; (n = read(ends[0], buffer.data(), buffer.size())) > 0;) {
    forked.output.append(buffer.data(), static_cast<size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  if (process < 0 || waitpid(process, &status, 0) != process) return forked;
  if (WIFEXITED(status)) forked.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) forked.signal = WTERMSIG(status);
  return forked;
}

/// It came to its end, and everything held there.
#define EXPECT_PASSES(...)                                     \
  do {                                                         \
    const ::tim::testing::Forked tim_forked = (__VA_ARGS__);   \
    EXPECT_EQ(tim_forked.signal, 0) << tim_forked.output;      \
    EXPECT_EQ(tim_forked.exit_status, 0) << tim_forked.output; \
  } while (false)

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_FORKED_PROCESS_H_
