// Custom operators whose source includes a header that changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "ir/plan.h"
#include "tests/support/child_process.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

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

TEST(CustomOpIncludes, OnlyADirectiveBringsTheMacros) {
  const Folder folder;
  std::ofstream(folder.path() + "/factor.h")
      << "#define FACTOR (TIM_SCALE_INPUT0 * TIM_SIZE_INPUT0_0)\n";
  const TestOpGraph directive(TimesFactor(folder.path()));
  ASSERT_TRUE(directive.graph->Compile()) << vx::LastError();
  EXPECT_THAT(
      ir::Dump(*vx::CompiledPlan(*directive.graph)),
      AllOf(HasSubstr("TIM_SCALE_INPUT0"), HasSubstr("TIM_SIZE_INPUT0_0")));
  OpPlan plan;
  plan.source = "// Edges are included.\n" + plan.source;
  plan.options = "-Dincluded_edges=1";
  const TestOpGraph word(plan);
  ASSERT_TRUE(word.graph->Compile()) << vx::LastError();
  EXPECT_THAT(ir::Dump(*vx::CompiledPlan(*word.graph)),
              AllOf(Not(HasSubstr("TIM_SCALE_")), Not(HasSubstr("TIM_SIZE_"))));
}

constexpr char kMark[] = "\xEF\xBB\xBF";

TEST(CustomOpIncludes, ByteOrderMarksAreNoPartOfTheSource) {
  const Folder folder;
  std::ofstream(folder.path() + "/factor.h") << kMark << "#define FACTOR 2\n";
  OpPlan plan = TimesFactor(folder.path());
  // As two files with a mark each, one behind the other.
  plan.source = kMark + std::string("#define UNUSED 1\n") + kMark + plan.source;
  EXPECT_THAT(TestOpGraph(plan).Run({1, 2, 3, 4}), ElementsAre(2, 4, 6, 8));
}

TEST(CustomOpIncludes, TextOfAnotherEncodingIsRefused) {
  OpPlan plan;
  plan.source = "\xFF\xFE_\n";
  const TestOpGraph g(plan);
  EXPECT_TRUE(CompileFailsWith(
      *g.graph,
      "kernel_resource_: the text begins with the byte-order mark of UTF-16"));
}

TEST(CustomOpIncludes, PathsWithSpacesAreExplained) {
  const Folder folder;
  const std::string spaced = folder.path() + "/a b";
  fs::create_directory(spaced);
  std::ofstream(spaced + "/factor.h") << "#define FACTOR 2\n";
  for (const std::string& path : {spaced, '"' + spaced + '"'}) {
    TestOpGraph g(TimesFactor(path));
    if (path != spaced && g.graph->Compile()) {  // Intel's takes quoting.
      EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(2, 4, 6, 8));
      continue;
    }
    EXPECT_TRUE(CompileFailsWith(
        *g.graph, "the option -I " + path + " has spaces or quotes"));
    EXPECT_THAT(vx::LastError(), HasSubstr("PoCL takes no quoting"));
  }
  OpPlan defined = TimesFactor(spaced);
  defined.options = "-DFACTOR=1 + 1 -DOTHER=1";
  const TestOpGraph g(defined);
  EXPECT_TRUE(CompileFailsWith(*g.graph, "the option -DFACTOR=1 + 1 has"));
  // The ways that messages name.
  OpPlan whole = TimesFactor("/");
  whole.source.replace(whole.source.find("factor.h"), 8, spaced + "/factor.h");
  EXPECT_THAT(TestOpGraph(whole).Run({1, 2, 3, 4}), ElementsAre(2, 4, 6, 8));
  fs::create_directory_symlink(spaced, folder.path() + "/link");
  EXPECT_THAT(
      TestOpGraph(TimesFactor(folder.path() + "/link")).Run({1, 2, 3, 4}),
      ElementsAre(2, 4, 6, 8));
}

TEST(CustomOpIncludes, OtherFailuresSayNothingOfSpaces) {
  OpPlan plan;
  plan.source = "__kernel void f(int x) { syntax }";
  plan.options = "-I /tmp -I/usr -D N=1 -DM=\\\"a\\\" -cl-mad-enable";
  const TestOpGraph g(plan);
  EXPECT_FALSE(g.graph->Compile());
  EXPECT_THAT(vx::LastError(), Not(HasSubstr("has spaces")));
}

}  // namespace
}  // namespace tim::testing
