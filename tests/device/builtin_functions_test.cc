// Declarations of the builtin functions that programs call: what is declared
// for which text, and that it is what clang's header declares.
#include "device/opencl/program/builtin_functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace tim::device {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string DeclaredFor(std::string_view text) {
  return DeclareBuiltins({text}).value_or("everything");
}

TEST(BuiltinFunctions, AreDeclaredWhereATextNamesThem) {
  const std::string text =
      "kernel void f(global float* x) { x[get_global_id(0)] = APPLY(exp2); }";
  EXPECT_THAT(DeclaredFor(text), HasSubstr("\nTIM_DECLARE_WORK_ITEM("
                                           "get_global_id)\n"));
  EXPECT_THAT(DeclaredFor(text), HasSubstr("\nTIM_DECLARE_REAL_1(exp2)\n"));
  EXPECT_THAT(DeclaredFor(text), Not(HasSubstr("(exp)\n")));
  EXPECT_THAT(DeclaredFor(text), Not(HasSubstr("(fmax)\n")));
}

TEST(BuiltinFunctions, OfEveryTextAreDeclared) {
  const auto declared = DeclareBuiltins({"#define F sqrt", "f(x)", "-DG=fmin"});
  ASSERT_TRUE(declared.has_value());
  EXPECT_THAT(*declared, HasSubstr("\nTIM_DECLARE_REAL_1(sqrt)\n"));
  EXPECT_THAT(*declared, HasSubstr("\nTIM_DECLARE_REAL_LIMIT(fmin)\n"));
}

TEST(BuiltinFunctions, WhoseNamesVariablesHaveCountWhereTheyAreCalled) {
  EXPECT_THAT(DeclaredFor("int step = 1;"), Not(HasSubstr("(step)\n")));
  EXPECT_THAT(DeclaredFor("y = step (a, b);"),
              HasSubstr("\nTIM_DECLARE_STEP(step)\n"));
  EXPECT_NE(DeclaredFor("int length = 1;"), "everything");
  EXPECT_EQ(DeclaredFor("y = length(v);"), "everything");
}

TEST(BuiltinFunctions, InCommentsDoNotCount) {
  EXPECT_THAT(DeclaredFor("// sqrt(x)\nint a; /* exp(x)\n*/ int b = cos(c);"),
              Not(HasSubstr("(sqrt)\n")));
  EXPECT_THAT(DeclaredFor("/* exp(x)\n*/ int b = cos(c);"),
              HasSubstr("\nTIM_DECLARE_REAL_1(cos)\n"));
  EXPECT_NE(DeclaredFor("// length(v)"), "everything");
  EXPECT_NE(DeclaredFor("a = b / c; // length(v)"), "everything");
}

TEST(BuiltinFunctions, OfConversionsAndAccessAreDeclaredByTheirTypes) {
  const std::string declared = DeclaredFor(
      "convert_int16_sat_rte(v); convert_float(i); convert_double2(f); "
      "vload4(0, p); vstore_half16_rte(v, 0, p); vload_half(0, p);");
  for (const char* line :
       {"CONVERT(int, 16, _sat_rte)", "CONVERT(float, , )",
        "CONVERT_DOUBLE(2, )", "VLOAD(4)", "VSTORE_HALF(16, vstore_half16_rte)",
        "VLOAD_HALF(, vload_half)"}) {
    EXPECT_THAT(declared, HasSubstr(std::string("\nTIM_DECLARE_") + line));
  }
}

// No builtin functions, though they begin like some.
TEST(BuiltinFunctions, OfUnknownTypesAreNotDeclared) {
  const std::string none = DeclaredFor("");
  for (const char* text :
       {"convert_float_sat(x)", "convert_int5(x)", "convert_row(x)",
        "convert_int_up(x)", "vload5(0, p)", "vload4_rte(0, p)",
        "vstore_half_up(v, 0, p)", "vload_half4_rte(0, p)", "xsqrt", "sqrt1",
        "1sqrt"}) {
    EXPECT_EQ(DeclaredFor(text), none) << text;
  }
}

TEST(BuiltinFunctions, WhoseNamesKernelsPasteAreDeclared) {
  const std::string declared =
      DeclaredFor("#define LOAD PASTE(vload, WIDTH)\n convert_##T##16_sat(v)");
  for (const char* line : {"VLOAD(4)", "VLOAD(8)", "VLOAD(16)",
                           "CONVERT(char, 16, _sat)", "CONVERT(float, , )"}) {
    EXPECT_THAT(declared, HasSubstr(std::string("TIM_DECLARE_") + line));
  }
}

TEST(BuiltinFunctions, OutsideOfTheListNeedTheWholeHeader) {
  for (const char* text :
       {"read_imagef(i, s, at)", "atomic_add_explicit(p, 1, o)",
        "async_work_group_copy(a, b, 4, 0)", "frexp(x, &e)", "printf(\"\")",
        "shuffle2(a, b, m)", "vloada_half4(0, p)", "atom_inc(p)"}) {
    EXPECT_EQ(DeclaredFor(text), "everything") << text;
  }
}

// Prototypes without names of parameters, by function.  Attributes stand with
// them: a conversion that is not const would be called in every round of a
// loop.
std::map<std::string, std::multiset<std::string>> Prototypes(
    const std::string& text) {
  static const std::regex prototype(
      R"((\w+)((?:\s+__attribute__\s*\(\(.*?\)\))+)\s*(\w+)\(([^;]*)\))");
  static const std::regex parameter_name(R"( \*?(p|flags|cmp|val)$)");
  static const std::regex space(R"(\s+|\b__(?=global|local|private|constant))");
  std::map<std::string, std::multiset<std::string>> out;
  std::stringstream statements(text);
  for (std::string s; std::getline(statements, s, ';');) {
    std::smatch match;
    if (!std::regex_search(s, match, prototype)) continue;
    std::set<std::string> attributes;
    for (const char* name : {"overloadable", "const", "pure", "convergent"}) {
      if (match[2].str().find(name) != std::string::npos) {
        attributes.insert(name);
      }
    }
    std::string line = match[1].str() + ":";
    for (const std::string& name : attributes) line += name + ",";
    std::stringstream parameters(match[4].str());
    for (std::string p; std::getline(parameters, p, ',');) {
      const bool pointer = p.find('*') != std::string::npos;
      p = std::regex_replace(p, parameter_name, "");
      p.erase(std::remove(p.begin(), p.end(), '*'), p.end());
      line += "|" + std::regex_replace(p, space, "") + (pointer ? "*" : "");
    }
    out[match[3].str()].insert(line);
  }
  return out;
}

std::string Preprocessed(const std::string& text, const std::string& name) {
  const std::string source = ::testing::TempDir() + "/" + name + ".c";
  const std::string result = source + ".out";
  std::ofstream(source) << text;
  const std::string command =
      "cc -E -P -x c -D__OPENCL_C_VERSION__=120 -DCL_VERSION_1_0=100 "
      "-DCL_VERSION_1_1=110 -DCL_VERSION_1_2=120 -DCL_VERSION_2_0=200 "
      "-DCL_VERSION_3_0=300 -Dcl_khr_fp64 -Dcl_khr_fp16 "
      "-D__opencl_c_named_address_space_builtins -I/usr/share/pocl/include " +
      source + " -o " + result;
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  std::stringstream out;
  out << std::ifstream(result).rdbuf();
  return out.str();
}

TEST(BuiltinFunctions, AreThoseOfClangsHeader) {
  if (!std::filesystem::exists("/usr/share/pocl/include/opencl-c.h")) {
    GTEST_SKIP() << "PoCL's headers are not here";
  }
  auto theirs = Prototypes(Preprocessed("#include \"opencl-c.h\"\n", "theirs"));
  ASSERT_GT(theirs.size(), 800u);
  std::string calls;
  for (const auto& [name, prototypes] : theirs) {
    if (DeclaredFor(name + "(") != "everything") calls += name + "(\n";
  }
  const auto ours = Prototypes(Preprocessed(DeclaredFor(calls), "ours"));
  EXPECT_GT(ours.size(), 600u);
  for (const auto& [name, prototypes] : ours) {
    EXPECT_EQ(prototypes, theirs[name]) << name;
  }
}

}  // namespace
}  // namespace tim::device
