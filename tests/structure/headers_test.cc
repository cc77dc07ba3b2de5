// Every public header compiles alone as C++14, with g++ and with clang++ where
// it is installed, under the warnings of design.md 2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <regex>
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

// The letters and digits of `text`, as a test's name.
std::string Word(std::string text) {
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return text;
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
                           return Word(std::get<0>(info.param) + "_" +
                                       std::get<1>(info.param));
                         });

// What a user's program creates: every operator, windows in every way.
constexpr const char* kOperations[] = {
    "Add>()",
    "Cast>()",
    "Concat>(0, 2)",
    "Conv2d>(Pads({1, 1, 1, 1}), Extents({1, 1}), Extents({1, 1}))",
    "Conv2d>(PadType::SAME, Extents({1, 1}), Extents({1, 1}))",
    "Conv2d>(8, PadType::SAME, Extents({3, 3}), Extents({1, 1}), "
    "Extents({1, 1}))",
    "Conv2d>(8, PadType::AUTO, Extents({3, 3}), Extents({1, 1}), "
    "Extents({1, 1}), Pads({1, 1, 1, 1}))",
    "DataConvert>()",
    "Div>()",
    "FullyConnected>(0)",
    "HardSwish>()",
    "Matmul>(true, false)",
    "Maximum>()",
    "Minimum>()",
    "Multiply>(0.5f)",
    "Pad>(List({1, 0}), List({0, 1}), 0)",
    "PadV2>(List({1, 0}), List({0, 1}), 0.5f)",
    "Pool2d>(PoolType::AVG, Extents({7, 7}))",
    "Pool2d>(PoolType::AVG, Extents({8, 8}), Extents({2, 2}))",
    "Pool2d>(PoolType::MAX, Pads({1, 1, 1, 1}), Extents({2, 2}), "
    "Extents({2, 2}))",
    "Pool2d>(PoolType::MAX, PadType::VALID, Extents({2, 2}), Extents({2, 2}))",
    "RNNCell>(ops::RNNCell::kTANH)",
    "Relu1>()",
    "Relu6>()",
    "Relu>()",
    "Reshape>(List({4, 2}))",
    "Sigmoid>()",
    "Softmax>(1.0f, 0)",
    "Sub>()",
    "Tanh>()",
    "Transpose>(List({1, 0}))",
};

std::string ProgramOf(const std::vector<std::string>& operations) {
  std::string program;
  for (const std::string& header : Headers())
    program += "#include \"" + header + "\"\n";
  program +=
      "using namespace tim::vx;\n"
      "using Extents = std::array<uint32_t, 2>;\n"
      "using Pads = std::array<uint32_t, 4>;\n"
      "using List = std::vector<uint32_t>;\n"
      "int main() {\n"
      "  auto context = Context::Create();\n"
      "  auto graph = context->CreateGraph();\n";
  for (const std::string& operation : operations)
    program += "  graph->CreateOperation<ops::" + operation + ";\n";
  return program + "  return graph->Run() ? 0 : 1;\n}\n";
}

// Optimised, as users compile: warnings about how values flow show, too.
void ExpectSilence(const std::string& compiler, const std::string& options,
                   const std::string& program) {
  if (!IsInstalled(compiler)) return;
  const std::string path = FreshFolder("program") + "/program.cc";
  WriteText(path, program);
  const CommandResult result =
      RunCommand(compiler + " " + options +
                 " -Wall -Wextra -I include -c -o /dev/null " + path);
  EXPECT_EQ(result.exit_status, 0) << compiler << " " << options;
  EXPECT_EQ(result.output, "") << compiler << " " << options;
}

class ProgramOfUser : public testing::TestWithParam<std::string> {};

TEST_P(ProgramOfUser, CompilesInSilence) {
  const std::string program =
      ProgramOf({std::begin(kOperations), std::end(kOperations)});
  ExpectSilence("g++", GetParam(), program);
  ExpectSilence("clang++", GetParam(), program);
}

INSTANTIATE_TEST_SUITE_P(Options, ProgramOfUser,
                         testing::Values("-O2 -std=c++14", "-O2 -std=c++17",
                                         "-O3 -std=c++17", "-O3 -std=c++20"),
                         [](const auto& info) { return Word(info.param); });

class OneOperation : public testing::TestWithParam<const char*> {};

// What is called once is inlined, so that g++ sees more of it.
TEST_P(OneOperation, CompilesInSilence) {
  ExpectSilence("g++", "-O2 -std=c++17", ProgramOf({GetParam()}));
}

INSTANTIATE_TEST_SUITE_P(Operations, OneOperation,
                         testing::ValuesIn(kOperations),
                         [](const auto& info) { return Word(info.param); });

TEST(ProgramOfUserOperations, AreEveryOperator) {
  const std::regex named(
      "class (\\w+) [^;]*?static const char\\* OpName\\(\\)");
  const std::string program =
      ProgramOf({std::begin(kOperations), std::end(kOperations)});
  int count = 0;
  for (const std::string& path : FilesUnder("include/tim/vx/ops", {".h"})) {
    const std::string text = ReadText(path);
    for (std::sregex_iterator it(text.begin(), text.end(), named), end;
         it != end; ++it, ++count) {
      EXPECT_THAT(program, HasSubstr("ops::" + (*it)[1].str() + ">("))
          << "kOperations lacks an operator of " << path;
    }
  }
  EXPECT_GT(count, 0);
}

TEST(Documentation, IsWhatClangUnderstands) {
  if (!IsInstalled("clang++")) GTEST_SKIP() << "clang++ is not installed";
  for (const std::string& header : Headers()) {
    const CommandResult result =
        RunCommand("echo '#include \"" + header +
                   "\"' | clang++ -std=c++14 -Wdocumentation -Werror "
                   "-fsyntax-only -x c++ -I include -");
    EXPECT_EQ(result.exit_status, 0) << result.output;
  }
}

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
