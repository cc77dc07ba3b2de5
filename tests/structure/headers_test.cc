// Public headers compile as C++14 under the warnings of design.md 2: each alone
// or before others with g++, all together with clang++ where it is installed.
// Alone means without other headers of ours: those of the standard library are
// compiled once for all, and standard_headers_test sees that each is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>
#include <set>

#include "tests/structure/source_tree.h"
#include "tests/support/long_tests.h"

namespace tim::structure {
namespace {

using ::testing::HasSubstr;

// The headers of the folder in this order, their documentation too where the
// compiler is one that reads it.
CommandResult Compile(const std::string& compiler, const std::string& folder,
                      const std::vector<std::string>& headers) {
  const bool reads = compiler.rfind("clang", 0) == 0;
  const std::string text = FreshFolder("text") + "/headers.cc";
  std::string includes;
  for (const std::string& header : headers)
    includes += "#include \"" + header + "\"\n";
  WriteText(text, includes);
  return RunCommand(compiler +
                    " -std=c++14 -Wall -Wextra -Wshadow -Wconversion -Werror " +
                    (reads ? "-Wdocumentation " : "") +
                    "-fsyntax-only -iquote '" + folder + "' " + text);
}

bool IsInstalled(const std::string& compiler) {
  return RunCommand("command -v " + compiler).exit_status == 0;
}

std::vector<std::string> Headers() {
  std::vector<std::string> headers;
  for (const std::string& path : FilesUnder("include", {".h", ".hpp"}))
    headers.push_back(path.substr(std::string("include/").size()));
  return headers;
}

// Headers that include the same headers of ours; in long runs each alone.
std::vector<std::vector<std::string>> Groups() {
  static const std::regex include("#include \"(.*)\"");
  std::map<std::string, std::vector<std::string>> groups;
  for (const std::string& header : Headers()) {
    const std::string text = ReadText("include/" + header);
    std::set<std::string> included;
    for (std::sregex_iterator it(text.begin(), text.end(), include), end;
         it != end; ++it) {
      included.insert((*it)[1]);
    }
    std::string key = testing::RunsLongTests() ? header : "";
    for (const std::string& each : included) key += " " + each;
    groups[key].push_back(header);
  }
  std::vector<std::vector<std::string>> found;
  for (auto& [key, headers] : groups) found.push_back(std::move(headers));
  return found;
}

class PublicHeaders
    : public ::testing::TestWithParam<std::vector<std::string>> {
 protected:
  static void SetUpTestSuite() {
    standard_ = FreshFolder("standard") + "/standard.h";
    WriteText(standard_,
              "#include <algorithm>\n#include <array>\n#include <cmath>\n"
              "#include <cstddef>\n#include <cstdint>\n#include <cstring>\n"
              "#include <functional>\n#include <map>\n#include <memory>\n"
              "#include <string>\n#include <tuple>\n#include <utility>\n"
              "#include <vector>\n");
    const CommandResult compiled =
        RunCommand("g++ -std=c++14 -x c++-header " + standard_);
    ASSERT_EQ(compiled.exit_status, 0) << compiled.output;
  }

  static std::string standard_;
};

std::string PublicHeaders::standard_;

// A header that needs another of its group fails where it comes before that,
// and each of two does in one of the two orders.
TEST_P(PublicHeaders, CompileAloneAsCxx14) {
  std::vector<std::string> headers = GetParam();
  for (int order = 0; order < 2; ++order) {
    const CommandResult result =
        Compile("g++ -include " + standard_, "include", headers);
    EXPECT_EQ(result.exit_status, 0) << result.output;
    if (headers.size() == 1) break;
    std::reverse(headers.begin(), headers.end());
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PublicHeaders);
INSTANTIATE_TEST_SUITE_P(Files, PublicHeaders, ::testing::ValuesIn(Groups()),
                         [](const auto& info) {
                           std::string name = info.param.front();
                           for (char& c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c)))
                               c = '_';
                           return name;
                         });

TEST(AllPublicHeaders, CompileAsCxx14WithTheirDocumentation) {
  if (!IsInstalled("clang++")) GTEST_SKIP() << "clang++ is not installed";
  const CommandResult result = Compile("clang++", "include", Headers());
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

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

// A client of the partition front that knows the names of the original API.
constexpr char kClient[] =
    "#include \"oneapi/dnnl/dnnl_graph.hpp\"\n"
    "namespace dnnl {\n"
    "namespace graph {\n"
    "namespace client {\n"
    "using lt = logical_tensor;\n"
    "engine Own(const allocator& memory) {\n"
    "  return make_engine_with_allocator(engine::kind::cpu, 0, memory);\n"
    "}\n"
    "allocator Shared() {\n"
    "  return ocl_interop::make_allocator(nullptr, nullptr);\n"
    "}\n"
    "}  // namespace client\n"
    "}  // namespace graph\n"
    "}  // namespace dnnl\n"
    "using namespace dnnl::graph;\n"
    "int main() {\n"
    "  const dnnl::engine eng = client::Own(allocator());\n"
    "  dnnl::stream strm(eng, dnnl::stream::flags::default_flags);\n"
    "  const client::lt src(0, client::lt::data_type::f32, {2, 3},\n"
    "                       client::lt::layout_type::strided);\n"
    "  const client::lt dst(1, client::lt::data_type::f32, {},\n"
    "                       client::lt::layout_type::any);\n"
    "  op sum(0, op::kind::ReduceSum, {src}, {dst}, \"sum\");\n"
    "  sum.set_attr<client::lt::dims>(op::attr::axes, {0, 1})\n"
    "      .set_attr<bool>(op::attr::keep_dims, false);\n"
    "  graph g(dnnl::engine::kind::cpu, dnnl::fpmath_mode::strict);\n"
    "  if (g.add_op(sum, false) != status::success) return 1;\n"
    "  g.finalize();\n"
    "  for (const partition& p : g.get_partitions(partition::policy::fusion)) "
    "{\n"
    "    const compiled_partition made = p.compile({src}, {dst}, eng);\n"
    "    const client::lt out = made.query_logical_tensor(1);\n"
    "    const tensor result(out, eng);\n"
    "    made.execute(strm, {tensor(src, eng)}, {result});\n"
    "    strm.wait();\n"
    "  }\n"
    "  dnnl_graph_logical_tensor_t plain;\n"
    "  return dnnl_graph_logical_tensor_init(\n"
    "             &plain, 0, dnnl_f32, DNNL_GRAPH_UNKNOWN_NDIMS,\n"
    "             dnnl_graph_layout_type_any,\n"
    "             dnnl_graph_tensor_property_undef) == dnnl_success\n"
    "             ? 0\n"
    "             : 1;\n"
    "}\n";

void ExpectClientCompiles(const std::string& compiler) {
  const std::string program = FreshFolder("client") + "/client.cc";
  WriteText(program, kClient);
  for (const std::string standard : {"c++14", "c++20"}) {
    const CommandResult result =
        RunCommand(compiler + " -std=" + standard +
                   " -Wall -Wextra -Wshadow -Wconversion -Werror -I include"
                   " -I include/tim/graph/dnnl -fsyntax-only " +
                   program);
    EXPECT_EQ(result.exit_status, 0) << standard;
    EXPECT_EQ(result.output, "") << standard;
  }
}

TEST(ClientOfPartitions, CompilesWithGcc) { ExpectClientCompiles("g++"); }

TEST(ClientOfPartitions, CompilesWithClang) {
  if (!IsInstalled("clang++")) GTEST_SKIP() << "clang++ is not installed";
  ExpectClientCompiles("clang++");
}

class ProgramsOfUsers : public ::testing::TestWithParam<std::string> {};

TEST_P(ProgramsOfUsers, CompileWithoutAWord) {
  const std::string program = FreshFolder("program") + "/program.cc";
  WriteText(program, kProgram);
  // The newer standards with one compiler each but in long runs.
  const std::string only = testing::RunsLongTests()         ? ""
                           : GetParam() == "-O3 -std=c++17" ? "g++"
                           : GetParam() == "-O3 -std=c++20" ? "clang++"
                                                            : "";
  for (const std::string compiler : {"g++", "clang++"}) {
    if (!IsInstalled(compiler) || (!only.empty() && compiler != only)) continue;
    const CommandResult result =
        RunCommand(compiler + " " + GetParam() +
                   " -Wall -Wextra -I include -c -o /dev/null " + program);
    EXPECT_EQ(result.exit_status, 0);
    EXPECT_EQ(result.output, "") << compiler;
  }
}

// Options with each standard and each level; in long runs more of them.
std::vector<std::string> OptionsOfUsers() {
  std::vector<std::string> options = {"-O2 -std=c++14", "-O3 -std=c++17",
                                      "-O3 -std=c++20"};
  if (testing::RunsLongTests()) options.emplace_back("-O2 -std=c++17");
  return options;
}

INSTANTIATE_TEST_SUITE_P(Options, ProgramsOfUsers,
                         ::testing::ValuesIn(OptionsOfUsers()),
                         [](const auto& info) {
                           std::string name;
                           for (const char c : info.param)
                             if (std::isalnum(static_cast<unsigned char>(c)))
                               name += c;
                           return name;
                         });

TEST(CustomOperators, CompileAsCxx14FromTheHeadersAlone) {
  testing::Sample files_for_clang(3);
  for (const std::string compiler : {"g++", "clang++"}) {
    if (!IsInstalled(compiler)) continue;
    for (const std::string& path : FilesUnder("custom_ops", {".cc"})) {
      if (compiler == "clang++" && !files_for_clang.Takes()) continue;
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
    EXPECT_EQ(Compile(compiler, folder, {"clean.h"}).exit_status, 0);
    EXPECT_EQ(Compile(compiler, folder, {"documented.h"}).exit_status == 0,
              compiler == "g++");
    EXPECT_NE(Compile(compiler, folder, {"alone.h"}).exit_status, 0);
    EXPECT_NE(Compile(compiler, folder, {"narrow.h"}).exit_status, 0);
    EXPECT_NE(Compile(compiler, folder, {"shadow.h"}).exit_status, 0);
  }
  EXPECT_NE(Compile("g++ -pedantic", folder, {"cxx17.h"}).exit_status, 0);
}

}  // namespace
}  // namespace tim::structure
