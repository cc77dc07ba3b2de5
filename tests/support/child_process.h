// Runs the current test once more, in a new process with another environment.
#ifndef TIM_TESTS_SUPPORT_CHILD_PROCESS_H_
#define TIM_TESTS_SUPPORT_CHILD_PROCESS_H_

#include <map>
#include <string>

namespace tim::testing {

/// True in the process that RunAsChild started.
bool IsChild();

struct ChildResult {
  int exit_status = -1;  ///< 0: the test passed there.
  std::string output;    ///< Standard output and standard error.
};

/// Starts this program again with only the running test and the variables
/// given on top of the environment, and waits for it.
ChildResult RunAsChild(const std::map<std::string, std::string>& variables);

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_CHILD_PROCESS_H_
