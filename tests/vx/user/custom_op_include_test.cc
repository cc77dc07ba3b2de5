// Custom operators whose source includes a header that changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/child_process.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

constexpr char kFolder[] = "TIM_TEST_FOLDER";
constexpr char kFactor[] = "TIM_TEST_FACTOR";

// A folder with the header "factor.h" and the caches of a child.
class Folder {
 public:
  Folder() {
    std::string pattern = ::testing::TempDir() + "timcl_include_XXXXXX";
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
  }
  ~Folder() { fs::remove_all(path_); }

  void WriteHeader(int factor) const {
    std::ofstream(path_ / "factor.h") << "#define FACTOR " << factor << "\n";
  }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

OpPlan TimesFactor(const std::string& folder) {
  OpPlan plan;
  plan.source =
      "#include \"factor.h\"\n"
      "__kernel void f(__global const float* x, __global float* y) {\n"
      "  y[get_global_id(0)] = x[get_global_id(0)] * FACTOR;\n"
      "}\n";
  plan.options = "-I " + folder;
  return plan;
}

TEST(CustomOpIncludes, TheNextGraphSeesAnEditedHeader) {
  const Folder folder;
  for (const int factor : {2, 3, 2}) {
    folder.WriteHeader(factor);
    TestOpGraph g(TimesFactor(folder.path()));
    EXPECT_THAT(g.Run({1, 2, 3, 4}),
                ElementsAre(factor, 2 * factor, 3 * factor, 4 * factor));
  }
}

TEST(CustomOpIncludes, TheNextProcessSeesAnEditedHeader) {
  if (IsChild()) {
    const int factor = std::atoi(std::getenv(kFactor));
    TestOpGraph g(TimesFactor(std::getenv(kFolder)));
    EXPECT_THAT(g.Run({1, 2, 3, 4}),
                ElementsAre(factor, 2 * factor, 3 * factor, 4 * factor));
    return;
  }
  const Folder folder;
  for (const int factor : {2, 3, 2}) {
    folder.WriteHeader(factor);
    const ChildResult child =
        RunAsChild({{kFolder, folder.path()},
                    {kFactor, std::to_string(factor)},
                    {"TIMCL_CACHE_DIR", folder.path() + "/programs"},
                    {"POCL_CACHE_DIR", folder.path() + "/pocl"}});
    EXPECT_EQ(child.exit_status, 0) << child.output;
  }
}

TEST(CustomOpIncludes, AGraphKeepsWhatItWasCompiledWith) {
  const Folder folder;
  folder.WriteHeader(2);
  TestOpGraph g(TimesFactor(folder.path()));
  EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(2, 4, 6, 8));
  folder.WriteHeader(3);
  EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(2, 4, 6, 8));
}

}  // namespace
}  // namespace tim::testing
