// tools/generate_sources.cc: the list of operators and the embedded kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using testing::HasSubstr;
using testing::Not;

class GenerateSources : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    generator_ = FreshFolder("generator") + "/generate_sources";
    std::string command =
        "c++ -std=c++20 -iquote. -iquotesrc tools/generate_sources.cc "
        "tools/generator/*.cc src/base/status.cc";
    for (const char* reader :
         {"c_tokens", "file_scope_names", "include_directive", "text_facts",
          "text_outline"}) {
      command += std::string(" src/kernels/text/") + reader + ".cc";
    }
    const CommandResult compiled = RunCommand(command + " -o " + generator_);
    ASSERT_EQ(compiled.exit_status, 0) << compiled.output;
  }

  void SetUp() override { folder_ = FreshFolder("sources"); }

  void Write(const std::string& name, const std::string& text) const {
    WriteText(folder_ + "/" + name, text);
  }

  CommandResult Generate(const std::string& arguments) const {
    return RunCommand("cd " + folder_ + " && " + generator_ + " " + arguments);
  }

  std::string Out() const { return ReadText(folder_ + "/out.cc"); }

  static std::string generator_;
  std::string folder_;
};

std::string GenerateSources::generator_;

TEST_F(GenerateSources, OperatorsAreCalledInSortedOrder) {
  Write("ops/a/tanh.cc", "\nTIM_OPERATOR(tanh) {\n}\n");
  Write("ops/b/relu.cc", "TIM_OPERATOR(relu) {}\n");
  Write("ops/b/shared.cc", "// Not TIM_OPERATOR(shared)\n");
  const CommandResult result =
      Generate("operators out.cc ops/a/tanh.cc ops/b/shared.cc ops/b/relu.cc");
  ASSERT_EQ(result.exit_status, 0) << result.output;
  EXPECT_THAT(Out(), HasSubstr("  Register_relu(registry);\n"
                               "  Register_tanh(registry);\n}"));
  EXPECT_THAT(Out(), Not(HasSubstr("Register_shared")));
}

TEST_F(GenerateSources, OperatorIsRegisteredUnderItsStem) {
  Write("ops/a/relu.cc", "TIM_OPERATOR(tanh) {}\n");
  const CommandResult result = Generate("operators out.cc ops/a/relu.cc");
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.output,
              HasSubstr("ops/a/relu.cc: expected one TIM_OPERATOR(relu)"));
}

TEST_F(GenerateSources, StemsAreUniqueInAllFamilies) {
  Write("ops/a/shared.cc", "");
  Write("ops/b/shared.cc", "");
  const CommandResult result =
      Generate("operators out.cc ops/a/shared.cc ops/b/shared.cc");
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.output,
              HasSubstr("ops/b/shared.cc: has the stem of ops/a/shared.cc"));
}

TEST_F(GenerateSources, IncludesAreWrittenOnceWithLineDirectives) {
  Write("src/kernels/a.clh", "#include \"kernels/b.clh\"\nfloat a;\n");
  Write("src/kernels/b.clh", "float b;\n");
  Write("ops/x.cl",
        "// x\n# include \"kernels/a.clh\"\n#include \"kernels/b.clh\"\n"
        "kernel\n");
  const CommandResult result =
      Generate("kernels out.cc ops/x.cl src/kernels/a.clh src/kernels/b.clh");
  ASSERT_EQ(result.exit_status, 0) << result.output;
  EXPECT_THAT(Out(), HasSubstr("#line 1 \"ops/x.cl\"\n// x\n"
                               "#line 1 \"kernels/a.clh\"\n"
                               "#line 1 \"kernels/b.clh\"\nfloat b;\n"
                               "#line 2 \"kernels/a.clh\"\nfloat a;\n"
                               "#line 3 \"ops/x.cl\"\n\nkernel\n"));
}

TEST_F(GenerateSources, HeadersAreEmbeddedWithTheirIncludes) {
  Write("src/kernels/a.clh", "#include \"kernels/b.clh\"\nfloat a;\n");
  Write("src/kernels/b.clh", "float b;\n");
  const CommandResult result =
      Generate("kernels out.cc src/kernels/a.clh src/kernels/b.clh");
  ASSERT_EQ(result.exit_status, 0) << result.output;
  EXPECT_THAT(Out(), HasSubstr("return {kSources, 0};"));
  EXPECT_THAT(Out(), HasSubstr("return {kHeaders, 2};"));
  EXPECT_THAT(Out(), HasSubstr("#line 1 \"kernels/a.clh\"\n"
                               "#line 1 \"kernels/b.clh\"\nfloat b;\n"
                               "#line 2 \"kernels/a.clh\"\nfloat a;\n"));
}

TEST_F(GenerateSources, NamesAreRelativeToTheRoot) {
  Write("ops/x.cl", "kernel\n");
  const CommandResult result = Generate("kernels out.cc --root " + folder_ +
                                        " " + folder_ + "/ops/x.cl");
  ASSERT_EQ(result.exit_status, 0) << result.output;
  EXPECT_THAT(Out(), HasSubstr("{\"ops/x.cl\","));
}

TEST_F(GenerateSources, MissingIncludeIsAnErrorWithFileAndLine) {
  Write("ops/x.cl", "// x\n#include \"kernels/none.clh\"\n");
  const CommandResult result = Generate("kernels out.cc ops/x.cl");
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.output, HasSubstr("ops/x.cl:2"));
  EXPECT_THAT(result.output, HasSubstr("kernels/none.clh"));
}

TEST_F(GenerateSources, FactsOfAKernelAreWrittenBesideItsText) {
  Write("ops/x.cl",
        "#ifndef TILE\n#define TILE 4\n#endif\n"
        "static int g(int a) { return a * TILE; }\n"
        "__kernel void f(__global int* x, int x_offset) { x[0] = g(1); }\n");
  const CommandResult result = Generate("kernels out.cc ops/x.cl");
  ASSERT_EQ(result.exit_status, 0) << result.output;
  EXPECT_THAT(Out(), HasSubstr("kSourcesPlaces0, \"g f\",\n"
                               "      \"TILE\", true, \"\"},\n"
                               "     R\"CL(__kernel void f ( __global int * x "
                               ", int x_offset ) { }\n)CL\"\n"
                               "     , \"TILE\"},\n"));
}

TEST_F(GenerateSources, BrokenConditionsAreAnError) {
  Write("ops/x.cl", "#ifdef A\n");
  const CommandResult result = Generate("kernels out.cc ops/x.cl");
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.output, HasSubstr("ops/x.cl: an #if without an #endif"));
}

TEST_F(GenerateSources, UnreadableFileIsAnError) {
  const CommandResult result = Generate("kernels out.cc ops/none.cl");
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.output, HasSubstr("ops/none.cl"));
}

TEST_F(GenerateSources, PartsOfAPageAreInTheOrderOfTheirNames) {
  Write("b/x.css", "a {}\n");
  Write("a/y.js", "f(\"\\n\");\n");
  const CommandResult result = Generate("page out.cc a/y.js b/x.css");
  ASSERT_EQ(result.exit_status, 0) << result.output;
  EXPECT_THAT(Out(), HasSubstr("    {\"x.css\",\n"
                               "     R\"CL(a {}\n)CL\"\n    },\n"
                               "    {\"y.js\",\n"
                               "     R\"CL(f(\"\\n\");\n)CL\"\n    },\n"));
  Write("c/x.css", "");
  const CommandResult twice = Generate("page out.cc b/x.css c/x.css");
  EXPECT_EQ(twice.exit_status, 1);
  EXPECT_THAT(twice.output, HasSubstr("c/x.css: has the name of b/x.css"));
}

TEST_F(GenerateSources, LongTextSurvivesTheCompiler) {
  std::string text;
  for (int i = 0; i < 3000; ++i)
    text += "// line " + std::to_string(i) + " )CL\" \\ \"\n";
  text += std::string(40000, 'x') + "\n";
  Write("ops/long.cl", text);
  const CommandResult result = Generate("kernels out.cc ops/long.cl");
  ASSERT_EQ(result.exit_status, 0) << result.output;
  Write("main.cc",
        "#include <cstdio>\n#include \"kernels/kernel_sources.h\"\n"
        "int main() {\n"
        "  std::fputs(tim::kernels::EmbeddedSources()[0].text, stdout);\n}\n");
  const CommandResult printed = RunCommand(
      "root=$PWD && cd " + folder_ +
      " && c++ -std=c++20 -Wall -Wextra -Werror -iquote$root/src main.cc "
      "out.cc -o main && ./main");
  EXPECT_EQ(printed.exit_status, 0) << printed.output;
  EXPECT_EQ(printed.output, "#line 1 \"ops/long.cl\"\n" + text);
}

}  // namespace
}  // namespace tim::structure
