#include "tests/support/child_process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace tim::testing {
namespace {

constexpr char kChild[] = "TIM_TEST_CHILD";

// For the shell: 'it'\''s'.
std::string Quote(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string OwnPath() {
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
  return size > 0 ? std::string(path, size) : "";
}

}  // namespace

bool IsChild() { return std::getenv(kChild) != nullptr; }

ChildResult RunAsChild(const std::map<std::string, std::string>& variables) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  // Without Bazel's variables: the child must not write the parent's report.
  std::string command =
      "env -u XML_OUTPUT_FILE -u GTEST_OUTPUT -u TEST_TOTAL_SHARDS "
      "-u TEST_SHARD_INDEX -u TEST_SHARD_STATUS_FILE " +
      std::string(kChild) + "=1";
  for (const auto& [name, value] : variables) {
    command += " " + name + "=" + Quote(value);
  }
  command += " " + Quote(OwnPath()) + " --gtest_filter=" +
             Quote(std::string(test->test_suite_name()) + "." + test->name()) +
             " 2>&1";
  ChildResult result;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return result;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    result.output.append(buffer, n);
  }
  const int status = pclose(pipe);
  result.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

}  // namespace tim::testing
