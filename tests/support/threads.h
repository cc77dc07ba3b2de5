// Threads of the test's process.
#ifndef TIM_TESTS_SUPPORT_THREADS_H_
#define TIM_TESTS_SUPPORT_THREADS_H_

#include <filesystem>
#include <iterator>

namespace tim::testing {

/// How many there are now, this one too.
inline int CountThreads() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return static_cast<int>(std::distance(begin(threads), end(threads)));
}

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_THREADS_H_
