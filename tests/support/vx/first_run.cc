// The files of PoCL's kernel cache tell what was built, however busy the
// machine is.
#include "tests/support/vx/first_run.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/support/child_process.h"
#include "tests/support/kernels/test_launcher.h"
#include "tim/vx/context.h"

namespace tim::testing {
namespace {

constexpr char kFolder[] = "POCL_CACHE_DIR";

}  // namespace

void WithNothingBuilt(const std::function<void()>& test,
                      std::map<std::string, std::string> variables) {
  if (IsChild()) return test();
  std::string folder = ::testing::TempDir() + "timcl_first_run_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  variables[kFolder] = folder;
  variables["TIMCL_CACHE_DIR"] = "off";
  const ChildResult child = RunAsChild(variables);
  EXPECT_EQ(child.exit_status, 0) << child.output;
  std::filesystem::remove_all(folder);
}

std::set<std::string> BuiltKernels() {
  namespace fs = std::filesystem;
  std::set<std::string> files;
  const char* folder = std::getenv(kFolder);
  if (folder == nullptr || !fs::exists(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".so") files.insert(entry.path());
  }
  return files;
}

bool BuildsKernelsEarly() {
  const ir::DeviceInfo& device = TestDevice();
  return device.name.starts_with("pthread-") &&
         device.driver.starts_with("3.1");
}

void ExpectBuiltByCompile(vx::Graph& graph) {
  const std::set<std::string> before = BuiltKernels();
  ASSERT_TRUE(graph.Compile()) << vx::LastError();
  const std::set<std::string> compiled = BuiltKernels();
  if (BuildsKernelsEarly()) {
    EXPECT_NE(compiled, before);
  }
  ASSERT_TRUE(graph.Run()) << vx::LastError();
  EXPECT_EQ(BuiltKernels(), compiled);
}

}  // namespace tim::testing
