// Every .cl file compiles by itself, as embedded, without a warning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

#include "base/ascii.h"
#include "device/opencl/driver/cl_api.h"
#include "device/opencl/driver/opencl_info.h"
#include "device/opencl/program/builtin_functions.h"
#include "kernels/kernel_sources.h"
#include "kernels/text/c_tokens.h"
#include "kernels/text/file_scope_names.h"
#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Target {
  cl::Context context;
  cl::Device device;
};

// The first device of the first platform that has one.
std::vector<Target> Targets() {
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  for (const cl::Platform& platform : platforms) {
    std::vector<cl::Device> devices;
    if (platform.getDevices(CL_DEVICE_TYPE_ALL, &devices) == CL_SUCCESS &&
        !devices.empty())
      return {{cl::Context(devices[0]), devices[0]}};
  }
  return {};
}

enum class Header { kWhole, kOfItsFunctions };

// What the compiler says against a source; empty where it is content.  PoCL
// gets the declarations that the library gives it, which must be enough where
// they are asked for.
std::string Complaints(const std::string& text, const std::string& options = "",
                       Header header = Header::kOfItsFunctions) {
  static const std::vector<Target> targets = Targets();
  if (targets.empty()) return "no OpenCL device was found";
  const Target& target = targets[0];
  std::string declarations;
  std::string all_options = "-cl-std=CL1.2 -Werror " + options;
  if (header == Header::kOfItsFunctions &&
      device::IsPocl(
          cl::Platform(target.device.getInfo<CL_DEVICE_PLATFORM>()))) {
    const auto builtins = device::DeclareBuiltins({text, options});
    if (!builtins) return "it calls functions that are not declared";
    declarations = *builtins;
    all_options += device::kWithoutBuiltinHeader;
  }
  cl::Program program(target.context,
                      declarations + std::string(kernels::kPreamble) + text);
  const cl_int status = program.build(target.device, all_options.c_str());
  const std::string log =
      program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(target.device);
  if (status != CL_SUCCESS)
    return "status " + std::to_string(status) + "\n" + log;
  return log.find("warning") == std::string::npos ? "" : log;
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const kernels::KernelSource& source : kernels::EmbeddedSources())
    names.push_back(source.name);
  return names;
}

class Kernels : public ::testing::TestWithParam<std::string> {};

TEST_P(Kernels, CompileStandAlone) {
  const char* const text = kernels::FindSource(GetParam());
  ASSERT_NE(text, nullptr);
  // It stands before users' kernels that call functions of images.
  const bool images = GetParam() == "kernels/custom_images.cl";
  EXPECT_EQ(
      Complaints(text, "", images ? Header::kWhole : Header::kOfItsFunctions),
      "");
}

TEST_P(Kernels, CompileForProcessorsWithoutFma) {
  const char* const text = kernels::FindSource(GetParam());
  ASSERT_NE(text, nullptr);
  // The others are the same programs as without it.
  if (std::string(text).find("TIM_NO_FMA") == std::string::npos) return;
  EXPECT_EQ(Complaints(text, "-DTIM_NO_FMA"), "");
}

TEST(Kernels, CompileWithHeadersThatAnOptionChooses) {
  const std::string folder = "ops/convolution_i8/";
  const char* const depthwise =
      kernels::FindSource(folder + "conv2d_depthwise_nchw16c_i8.cl");
  ASSERT_NE(depthwise, nullptr);
  EXPECT_EQ(Complaints(depthwise, "-DQUADS=3"), "");
  const char* const direct =
      kernels::FindSource(folder + "conv2d_nchw16c_i8.cl");
  ASSERT_NE(direct, nullptr);
  for (const char* option : {"-DRESIDUAL", "-DRESIDUAL -DLINEAR", "-DPHASES",
                             "-DWEIGHT_ZERO", "-DDEPTH=1"}) {
    EXPECT_EQ(Complaints(direct, option), "") << option;
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Kernels);
INSTANTIATE_TEST_SUITE_P(Files, Kernels, ::testing::ValuesIn(Names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name)
                             if (c == '/' || c == '.') c = '_';
                           return name;
                         });

TEST(KernelSources, AreTheFilesOfTheTree) {
  std::set<std::string> expected;
  for (const char* folder : {"ops", "src/kernels"})
    for (std::string path : FilesUnder(folder, {".cl"})) {
      if (path.rfind("src/", 0) == 0) path.erase(0, 4);
      expected.insert(path);
    }
  const std::vector<std::string> names = Names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()), expected);
  EXPECT_EQ(kernels::FindSource("ops/no_such_file.cl"), nullptr);
}

TEST(KernelCompiler, PlantedErrorIsSeenWithFileAndLine) {
  EXPECT_THAT(Complaints("#line 40 \"ops/planted.cl\"\n"
                         "__kernel void planted(__global float* out) {\n"
                         "  out[0] = no_such_name;\n}\n"),
              HasSubstr("ops/planted.cl:41"));
}

TEST(KernelCompiler, PlantedWarningIsSeen) {
  EXPECT_THAT(Complaints("__kernel void planted(__global int* out) {\n"
                         "  out[0] = 1.5f;\n}\n"),
              Not(IsEmpty()));
}

TEST(KernelCompiler, CleanKernelPasses) {
  EXPECT_EQ(Complaints("__kernel void clean(__global float* out) {\n"
                       "  out[get_global_id(0)] = 1.0f;\n}\n"),
            "");
}

// A chain has a header whose guard begins with TIM_ONCE_ once for all kernels,
// whose options differ: what depends on them, itself or through a header, is
// none.  Macros of TIM_ and POCL_ are the device's or of all kernels of a
// chain.
std::vector<std::string> DependencesOnOptions(const std::string& text) {
  std::vector<std::string> found;
  if (text.find("#ifndef TIM_ONCE_") == std::string::npos) return found;
  static const std::regex condition("#if(n?def)? .*");
  static const std::regex word("[A-Za-z_]\\w*");
  static const std::regex known(
      "(TIM|POCL)_\\w+|cl_\\w+|__\\w+|defined|ifn?def|if");
  static const std::regex include("#include \"(.*)\"");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, include)) {
      const std::string header =
          ReadText((match[1].str().starts_with("kernels/") ? "src/" : "") +
                   match[1].str());
      if (header.find("#ifndef TIM_ONCE_") == std::string::npos) {
        found.push_back(line);
      }
    }
    if (!std::regex_match(line, condition)) continue;
    for (std::sregex_iterator it(line.begin(), line.end(), word), end;
         it != end; ++it) {
      if (!std::regex_match(it->str(), known)) found.push_back(it->str());
    }
  }
  return found;
}

TEST(Kernels, HeadersThatChainsHaveOnceDependOnNoOption) {
  int count = 0;
  for (const char* folder : {"ops", "src/kernels"}) {
    for (const std::string& path : FilesUnder(folder, {".clh"})) {
      EXPECT_THAT(DependencesOnOptions(ReadText(path)), IsEmpty()) << path;
      ++count;
    }
  }
  EXPECT_GT(count, 20);
  const std::string guard = "#ifndef TIM_ONCE_X\n";
  EXPECT_THAT(DependencesOnOptions(guard + "#ifndef WORD\n"),
              ::testing::ElementsAre("WORD"));
  EXPECT_THAT(
      DependencesOnOptions(guard + "#include \"ops/elements/convert.clh\"\n"),
      ::testing::SizeIs(1));
  EXPECT_THAT(DependencesOnOptions("#ifndef WORD\n"), IsEmpty());
}

// Macros in place of the conversions that say how they round: an argument that
// is no real number does not compile.  Integers are not rounded, and libclc,
// with which Mesa compiles, has no such conversions of them.
std::string RoundingOfRealNumbersOnly() {
  std::string text =
      "#define TIM_IS(x, T) __builtin_types_compatible_p(__typeof__(x), T)\n"
      "#define TIM_IS_REAL(x) (TIM_IS(x, float)";
  for (const char* width : {"2", "3", "4", "8", "16"}) {
    text += std::string(" || TIM_IS(x, float") + width + ")";
  }
  text +=
      ")\n#define TIM_ROUNDED(T, x) "
      "((void)sizeof(char[TIM_IS_REAL(x) ? 1 : -1]), (T)(0))\n";
  for (const std::string type :
       {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"}) {
    for (const char* width : {"", "2", "3", "4", "8", "16"}) {
      for (const char* ending : {"_rte", "_rtz", "_rtp", "_rtn", "_sat_rte",
                                 "_sat_rtz", "_sat_rtp", "_sat_rtn"}) {
        const std::string to = type + width;
        const std::string name = "convert_" + to + ending;
        text += "#undef " + name + "\n#define " + name + "(x) TIM_ROUNDED(" +
                to + ", x)\n";
      }
    }
  }
  return text;
}

bool Rounds(const std::string& text) {
  static const std::regex rounding("_rt[ezpn]\\b");
  return std::regex_search(text, rounding);
}

// The kernels in the raw strings of a source.
std::vector<std::string> RawStrings(const std::string& text) {
  std::vector<std::string> found;
  const std::string begin = "R\"(";
  for (size_t at = text.find(begin); at != std::string::npos;
       at = text.find(begin, at)) {
    at += begin.size();
    found.push_back(text.substr(at, text.find(")\"", at) - at));
  }
  return found;
}

TEST(Kernels, OnlyRealNumbersAreRounded) {
  const std::string macros = RoundingOfRealNumbersOnly();
  int count = 0;
  for (const kernels::KernelSource& source : kernels::EmbeddedSources()) {
    if (!Rounds(source.text)) continue;
    EXPECT_EQ(Complaints(macros + source.text, "", Header::kWhole), "")
        << source.name;
    ++count;
  }
  EXPECT_GT(count, 1);
  const std::string planted =
      "__kernel void planted(__global int* y) {\n"
      "  y[0] = convert_int_sat_rte(y[1]);\n}\n";
  EXPECT_THAT(Complaints(macros + planted, "", Header::kWhole), Not(IsEmpty()));
}

TEST(Kernels, OnlyRealNumbersAreRoundedInOperatorsOfUsers) {
  const std::string macros = RoundingOfRealNumbersOnly() +
                             "#define TIM_SCALE_INPUT0 1.0f\n"
                             "#define TIM_ZERO_POINT_INPUT0 1\n"
                             "#define TIM_SCALE_OUTPUT0 1.0f\n"
                             "#define TIM_ZERO_POINT_OUTPUT0 1\n";
  int count = 0;
  for (const auto& [folder, extension] : std::map<std::string, std::string>{
           {"custom_ops", ".cc"}, {"samples", ".cc"}, {"docs", ".md"}}) {
    for (const std::string& path : FilesUnder(folder, {extension})) {
      for (const std::string& text : RawStrings(ReadText(path))) {
        if (!Rounds(text)) continue;
        EXPECT_EQ(Complaints(macros + text, "", Header::kWhole), "") << path;
        ++count;
      }
    }
  }
  EXPECT_GT(count, 2);
}

// A function that is `inline` alone has no body where it is not inlined.
std::vector<std::string> NotStatic(const std::string& text) {
  static const std::regex alone("(^|[^c] |\\n *)inline [^\n]*");
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), alone), end; it != end;
       ++it) {
    found.push_back(it->str());
  }
  return found;
}

TEST(Kernels, InlineFunctionsAreStatic) {
  for (const char* folder : {"ops", "src/kernels", "custom_ops"}) {
    for (const std::string& path : FilesUnder(folder, {".cl", ".clh"})) {
      EXPECT_THAT(NotStatic(ReadText(path)), IsEmpty()) << path;
    }
  }
  EXPECT_THAT(NotStatic("inline int planted(void);\n"), ::testing::SizeIs(1));
  EXPECT_THAT(NotStatic("x\n  inline int planted(void);"),
              ::testing::SizeIs(1));
  EXPECT_THAT(NotStatic("static inline int planted(void);\n"), IsEmpty());
}

std::set<std::string> TypesOf(const std::string& text) {
  static const std::regex type(
      "typedef [^{;]*?(\\w+)( __attribute__[^;]*)?;|\n *\\} (\\w+);");
  std::set<std::string> names;
  for (std::sregex_iterator it(text.begin(), text.end(), type), end; it != end;
       ++it) {
    names.insert((*it)[1].matched ? (*it)[1].str() : (*it)[3].str());
  }
  return names;
}

// Headers of kernels that become one chain meet in one program.
TEST(Kernels, EachTypeIsOfOneHeader) {
  std::map<std::string, std::string> declared;
  for (const std::string& path : FilesUnder("src/kernels", {".clh"})) {
    for (const std::string& name : TypesOf(ReadText(path))) {
      const auto [before, is_new] = declared.emplace(name, path);
      EXPECT_TRUE(is_new) << name << " in " << before->second << " and "
                          << path;
    }
  }
  EXPECT_EQ(declared.count("tim_byte_channels"), 1u);
  EXPECT_THAT(
      TypesOf("typedef char a __attribute__((ext_vector_type(64)));\n"
              "typedef struct {\n  int x;\n} b;\ntypedef long2 c;  // d\n"),
      ::testing::UnorderedElementsAre("a", "b", "c"));
}

// The files that an embedded text is made of, by their names.
std::map<std::string, std::string> FilesIn(const std::string& text) {
  static const std::regex line("#line \\d+ \"(.*)\"");
  std::map<std::string, std::string> files;
  std::string file;
  std::istringstream lines(text);
  for (std::string next; std::getline(lines, next);) {
    std::smatch match;
    if (std::regex_match(next, match, line)) {
      file = match[1];
    } else {
      files[file] += next + "\n";
    }
  }
  return files;
}

// Words of the headers that a chain has once, and the header of each: those
// that stand outside of directives, and macros.
std::map<std::string, std::string> WordsOfSharedHeaders() {
  std::map<std::string, std::string> words;
  for (const kernels::KernelSource& header : kernels::EmbeddedHeaders()) {
    for (const auto& [file, text] : FilesIn(header.text)) {
      if (text.find("#ifndef TIM_ONCE_") == std::string::npos) continue;
      for (const std::string& macro : kernels::MacroNames(text)) {
        words.emplace(macro, file);
      }
      kernels::CTokens tokens(text);
      for (std::string_view token = tokens.Next(); !token.empty();
           token = tokens.Next()) {
        words.emplace(token, file);
      }
    }
  }
  return words;
}

std::vector<std::string> SharedWords(
    std::string_view list, const std::map<std::string, std::string>& words) {
  std::vector<std::string> found;
  for (std::string_view name = TakeWord(&list); !name.empty();
       name = TakeWord(&list)) {
    const auto at = words.find(std::string(name));
    if (at != words.end()) found.push_back(at->first + " of " + at->second);
  }
  return found;
}

// In a chain a kernel's own names and options are macros around its text, in
// which a header of all may come for the first time, and its own macros are
// undefined behind it: so that any two of them link, whatever their options.
TEST(Kernels, AnyTwoShareAProgram) {
  const auto words = WordsOfSharedHeaders();
  EXPECT_TRUE(words.contains("TIM_STORAGE"));
  EXPECT_TRUE(words.contains("tim_lane_total"));
  int count = 0;
  for (const kernels::KernelSource& source : kernels::EmbeddedSources()) {
    if (!source.facts.refusal.empty()) continue;
    EXPECT_FALSE(source.facts.kernels.empty()) << source.name;
    for (const std::string_view list :
         {source.facts.names, source.facts.macros, source.options}) {
      EXPECT_THAT(SharedWords(list, words), IsEmpty()) << source.name;
    }
    ++count;
  }
  EXPECT_GT(count, 60);
  EXPECT_THAT(SharedWords("OUT TIM_STORAGE", words),
              ::testing::ElementsAre("TIM_STORAGE of kernels/elements.clh"));
}

}  // namespace
}  // namespace tim::structure
