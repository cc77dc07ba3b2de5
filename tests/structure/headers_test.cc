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

// Folders of include/ that the header `path` is compiled with.
CommandResult CompileAlone(const std::string& compiler,
                           const std::string& folder,
                           const std::string& header) {
  return RunCommand("echo '#include \"" + header + "\"' | " + compiler +
                    " -std=c++14 -Wall -Wextra -Wshadow -Wconversion -Werror "
                    "-fsyntax-only -x c++ -iquote '" +
                    folder + "' -");
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
  for (const std::string compiler : {"g++", "clang++"}) {
    if (!IsInstalled(compiler)) continue;
    EXPECT_EQ(CompileAlone(compiler, folder, "clean.h").exit_status, 0);
    EXPECT_NE(CompileAlone(compiler, folder, "alone.h").exit_status, 0);
    EXPECT_NE(CompileAlone(compiler, folder, "narrow.h").exit_status, 0);
    EXPECT_NE(CompileAlone(compiler, folder, "shadow.h").exit_status, 0);
  }
  EXPECT_NE(CompileAlone("g++ -pedantic", folder, "cxx17.h").exit_status, 0);
}

}  // namespace
}  // namespace tim::structure
