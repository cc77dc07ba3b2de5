// Every public header compiles alone as C++14, with g++ and with clang++ where
// it is installed, under the warnings of design.md 2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <tuple>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using testing::HasSubstr;

// `header` of the folder alone, its documentation too where the compiler is one
// that reads it.
CommandResult CompileAlone(const std::string& compiler,
                           const std::string& folder,
                           const std::string& header) {
  const bool reads = compiler.rfind("clang", 0) == 0;
  return RunCommand("echo '#include \"" + header + "\"' | " + compiler +
                    " -std=c++14 -Wall -Wextra -Wshadow -Wconversion -Werror " +
                    (reads ? "-Wdocumentation " : "") +
                    "-fsyntax-only -x c++ -iquote '" + folder + "' -");
}

bool IsInstalled(const std::string& compiler) {
  return RunCommand("command -v " + compiler).exit_status == 0;
}

std::vector<std::string> Headers() {
  std::vector<std::string> headers;
  for (const std::string& path : FilesUnder("include", {".h"}))
    headers.push_back(path.substr(std::string("include/").size()));
  return headers;
}

using HeaderAndCompiler = std::tuple<std::string, std::string>;
class PublicHeaders : public testing::TestWithParam<HeaderAndCompiler> {};

TEST_P(PublicHeaders, CompileAloneAsCxx14) {
  const auto& [header, compiler] = GetParam();
  if (!IsInstalled(compiler)) GTEST_SKIP() << compiler << " is not installed";
  const CommandResult result = CompileAlone(compiler, "include", header);
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PublicHeaders);
INSTANTIATE_TEST_SUITE_P(Files, PublicHeaders,
                         testing::Combine(testing::ValuesIn(Headers()),
                                          testing::Values("g++", "clang++")),
                         [](const auto& info) {
                           std::string name = std::get<0>(info.param) + "_" +
                                              std::get<1>(info.param);
                           for (char& c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c)))
                               c = '_';
                           return name;
                         });

// A user's program, compiled as users do: optimised, so that warnings about
// how values flow show, too.
constexpr char kProgram[] =
    "#include \"tim/vx/context.h\"\n"
    "#include \"tim/vx/graph.h\"\n"
    "#include \"tim/vx/ops.h\"\n"
    "using namespace tim::vx;\n"
    "void Build(Graph& g) {\n"
    "  g.CreateOperation<ops::Relu>();\n"
    "  g.CreateOperation<ops::Conv2d>(PadType::SAME,\n"
    "      std::array<uint32_t, 2>({1, 1}), std::array<uint32_t, 2>({1, 1}));\n"
    "  g.CreateOperation<ops::Conv2d>(std::array<uint32_t, 4>({1, 1, 1, 1}),\n"
    "      std::array<uint32_t, 2>({1, 1}), std::array<uint32_t, 2>({1, 1}));\n"
    "  g.CreateOperation<ops::Pool2d>(PoolType::MAX, PadType::VALID,\n"
    "      std::array<uint32_t, 2>({2, 2}), std::array<uint32_t, 2>({2, 2}));\n"
    "  g.CreateOperation<ops::Pad>(std::vector<uint32_t>({1, 0}),\n"
    "      std::vector<uint32_t>({0, 1}), 0);\n"
    "  g.CreateOperation<ops::Transpose>(std::vector<uint32_t>({1, 0}));\n"
    "  g.CreateOperation<ops::Reshape>(std::vector<uint32_t>({4, 2}));\n"
    "  g.CreateOperation<ops::FullyConnected>(0);\n"
    "  g.CreateOperation<ops::Matmul>(true, false);\n"
    "  g.CreateOperation<ops::Softmax>(1.0f, 0);\n"
    "  g.CreateOperation<ops::Concat>(0, 2);\n"
    "}\n"
    "int main() {\n"
    "  auto graph = Context::Create()->CreateGraph();\n"
    "  Build(*graph);\n"
    "  return graph->Run() ? 0 : 1;\n"
    "}\n";

class ProgramsOfUsers : public testing::TestWithParam<std::string> {};

TEST_P(ProgramsOfUsers, CompileWithoutAWord) {
  const std::string program = FreshFolder("program") + "/program.cc";
  WriteText(program, kProgram);
  for (const std::string compiler : {"g++", "clang++"}) {
    if (!IsInstalled(compiler)) continue;
    const CommandResult result =
        RunCommand(compiler + " " + GetParam() +
                   " -Wall -Wextra -I include -c -o /dev/null " + program);
    EXPECT_EQ(result.exit_status, 0);
    EXPECT_EQ(result.output, "") << compiler;
  }
}

INSTANTIATE_TEST_SUITE_P(Options, ProgramsOfUsers,
                         testing::Values("-O2 -std=c++14", "-O2 -std=c++17",
                                         "-O3 -std=c++17", "-O3 -std=c++20"),
                         [](const auto& info) {
                           std::string name;
                           for (const char c : info.param)
                             if (std::isalnum(static_cast<unsigned char>(c)))
                               name += c;
                           return name;
                         });

TEST(CustomOperators, CompileAsCxx14FromTheHeadersAlone) {
  for (const std::string compiler : {"g++", "clang++"}) {
    if (!IsInstalled(compiler)) continue;
    for (const std::string& path : FilesUnder("custom_ops", {".cc"})) {
      const CommandResult result =
          RunCommand(compiler +
                     " -std=c++14 -Wall -Wextra -Wshadow -Wconversion -Werror "
                     "-fsyntax-only -iquote . -iquote include " +
                     path);
      EXPECT_EQ(result.exit_status, 0) << result.output;
    }
  }
}

TEST(UmbrellaHeader, IncludesEveryOperator) {
  const std::string umbrella = ReadText("include/tim/vx/ops.h");
  for (const std::string& header : Headers()) {
    if (header.rfind("tim/vx/ops/", 0) != 0) continue;
    EXPECT_THAT(umbrella, HasSubstr("#include \"" + header + "\""));
  }
}

TEST(HeaderCheck, PlantedFaultsAreSeen) {
  const std::string folder = FreshFolder("headers");
  WriteText(folder + "/clean.h", "#include <memory>\nstruct Clean {};\n");
  WriteText(folder + "/cxx17.h", "namespace a::b {\nstruct Nested {};\n}\n");
  WriteText(folder + "/alone.h", "inline std::string Name() { return {}; }\n");
  WriteText(folder + "/narrow.h",
            "inline int Narrow(long value) {\n"
            "  int result = value;\n  return result;\n}\n");
  WriteText(folder + "/shadow.h",
            "inline int Shadow(int a) {\n"
            "  { int a = 2; return a; }\n  return a;\n}\n");
  WriteText(folder + "/documented.h",
            "/// \\param b which there is not\nint Documented(int a);\n");
  for (const std::string compiler : {"g++", "clang++"}) {
    if (!IsInstalled(compiler)) continue;
    EXPECT_EQ(CompileAlone(compiler, folder, "clean.h").exit_status, 0);
    EXPECT_EQ(CompileAlone(compiler, folder, "documented.h").exit_status == 0,
              compiler == "g++");
    EXPECT_NE(CompileAlone(compiler, folder, "alone.h").exit_status, 0);
    EXPECT_NE(CompileAlone(compiler, folder, "narrow.h").exit_status, 0);
    EXPECT_NE(CompileAlone(compiler, folder, "shadow.h").exit_status, 0);
  }
  EXPECT_NE(CompileAlone("g++ -pedantic", folder, "cxx17.h").exit_status, 0);
}

}  // namespace
}  // namespace tim::structure
