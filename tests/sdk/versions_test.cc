// What was built against another major number is refused by its version: by
// the loader of programs, by CMake and by pkg-config, and never by a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sdk/unpacked_sdk.h"
#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using testing::HasSubstr;
using testing::Not;

// Commands, in `folder` with $sdk for the tree, that have to succeed.
void Do(const std::string& folder, const std::string& commands) {
  const CommandResult result = RunCommand("cd '" + folder + "' && sdk='" +
                                          UnpackedSdk() + "' &&\n" + commands);
  ASSERT_EQ(result.exit_status, 0) << result.output;
}

// The library of sdk_app's operator, in `folder`/old linked to one that stands
// for a libtim-cl.so of major number 0, and in `folder`/new to the tree's.
void BuildOperators(const std::string& folder) {
  const std::string source = "cp samples/sdk_app/threshold.* '" + folder + "'";
  ASSERT_EQ(RunCommand(source).exit_status, 0);
  Do(folder,
     "mkdir old new before &&\n"
     "g++ -std=c++14 -fPIC -I\"$sdk/include\" -c threshold.cc &&\n"
     // Every symbol of ours that it needs.
     "nm -u threshold.o |\n"
     "  sed -nE 's/^ *U (_Z.*N[KV]*3tim.*)$/.globl \\1\\n\\1:/p' >before.s &&\n"
     "echo '.section .note.GNU-stack,\"\",@progbits' >>before.s &&\n"
     "grep -q CustomOpBase before.s &&\n"
     "g++ -shared -nostdlib -Wl,-soname,libtim-cl.so.0 before.s \\\n"
     "  -o before/libtim-cl.so &&\n"
     "g++ -shared -Wl,-z,defs threshold.o before/libtim-cl.so \\\n"
     "  -o old/libthreshold.so &&\n"
     "g++ -shared -Wl,-z,defs threshold.o \"$sdk/lib/libtim-cl.so\" \\\n"
     "  -o new/libthreshold.so");
}

// Runs the program with the operators of `kind`, beside the tree's library.
CommandResult RunWith(const std::string& folder, const std::string& kind,
                      const std::string& program) {
  return RunCommand("LD_LIBRARY_PATH=\"" + UnpackedSdk() + "/lib:" + folder +
                    "/" + kind + "${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\" '" +
                    folder + "/" + program + "'");
}

TEST(Versions, LoaderRefusesOperatorsBuiltForAnotherMajorNumber) {
  const std::string folder = FreshFolder("operators");
  ASSERT_NO_FATAL_FAILURE(BuildOperators(folder));
  WriteText(folder + "/linked.cc",
            "#include <cstdio>\n"
            "#include \"threshold.h\"\n"
            "#include \"tim/vx/context.h\"\n"
            "int main() {\n"
            "  auto graph = tim::vx::Context::Create()->CreateGraph();\n"
            "  graph->CreateOperation<sdk_app::Threshold>(1.0f);\n"
            "  std::puts(\"started\");\n"
            "}\n");
  Do(folder,
     "g++ -std=c++14 -I\"$sdk/include\" linked.cc -Lnew -lthreshold \\\n"
     "  \"$sdk/lib/libtim-cl.so\" -o linked");
  const CommandResult good = RunWith(folder, "new", "linked");
  EXPECT_EQ(good.exit_status, 0) << good.output;
  EXPECT_THAT(good.output, HasSubstr("started"));
  const CommandResult refused = RunWith(folder, "old", "linked");
  EXPECT_EQ(refused.exit_status, 127) << "by the loader, and by no signal";
  EXPECT_THAT(refused.output,
              HasSubstr("libtim-cl.so.0: cannot open shared object file"));
  EXPECT_THAT(refused.output, Not(HasSubstr("started")));
}

TEST(Versions, LoaderRefusesThemAsPlugins) {
  const std::string folder = FreshFolder("operators");
  ASSERT_NO_FATAL_FAILURE(BuildOperators(folder));
  WriteText(folder + "/loads.cc",
            "#include <cstdio>\n"
            "#include <dlfcn.h>\n"
            "#include \"tim/vx/context.h\"\n"
            "int main() {\n"
            "  auto context = tim::vx::Context::Create();\n"
            "  void* plugin = dlopen(\"libthreshold.so\", RTLD_NOW);\n"
            "  std::puts(plugin == nullptr ? dlerror() : \"loaded\");\n"
            "}\n");
  Do(folder,
     "g++ -std=c++14 -I\"$sdk/include\" loads.cc \"$sdk/lib/libtim-cl.so\" \\\n"
     "  -ldl -o loads");
  const CommandResult good = RunWith(folder, "new", "loads");
  EXPECT_EQ(good.exit_status, 0);
  EXPECT_THAT(good.output, HasSubstr("loaded"));
  const CommandResult refused = RunWith(folder, "old", "loads");
  EXPECT_EQ(refused.exit_status, 0) << "the program goes on";
  EXPECT_THAT(refused.output,
              HasSubstr("libtim-cl.so.0: cannot open shared object file"));
}

TEST(Versions, LoaderRefusesProgramsBuiltForAnotherMajorNumber) {
  const std::string folder = FreshFolder("program");
  Do(folder,
     "echo 'int of_the_library() { return 0; }' >library.cc &&\n"
     "echo 'int of_the_library(); int main() { return of_the_library(); }' \\\n"
     "  >program.cc &&\n"
     "g++ -shared -fPIC -Wl,-soname,libtim-cl.so.0 library.cc \\\n"
     "  -o libtim-cl.so &&\n"
     "g++ program.cc ./libtim-cl.so -o program");
  const CommandResult refused = RunWith(folder, "none", "program");
  EXPECT_EQ(refused.exit_status, 127);
  EXPECT_THAT(refused.output,
              HasSubstr("libtim-cl.so.0: cannot open shared object file"));
}

// What CMake says of a project that looks for that version.
CommandResult FindPackage(const std::string& package,
                          const std::string& version) {
  const std::string folder = FreshFolder("project");
  WriteText(folder + "/CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.14)\n"
            "project(user LANGUAGES CXX)\n"
            "find_package(" +
                package + " " + version + " REQUIRED)\n" +
                "message(STATUS \"found ${" + package + "_VERSION}\")\n");
  return RunCommand("cmake -S '" + folder + "' -B '" + folder +
                    "/build' -G Ninja -DCMAKE_PREFIX_PATH='" + UnpackedSdk() +
                    "'");
}

TEST(Versions, CMakeRefusesAnotherMajorNumber) {
  for (const char* package : {"tim-cl", "tim-vx"}) {
    for (const char* version : {"0.1", "2.0", "1.99"}) {
      const CommandResult refused = FindPackage(package, version);
      EXPECT_NE(refused.exit_status, 0) << package << " " << version;
      EXPECT_THAT(refused.output, HasSubstr("considered but not accepted"));
      EXPECT_THAT(refused.output, HasSubstr("version: 1."));
    }
    const CommandResult found = FindPackage(package, "1.0");
    EXPECT_EQ(found.exit_status, 0) << found.output;
    EXPECT_THAT(found.output, HasSubstr("found 1."));
  }
}

TEST(Versions, PkgConfigTellsThem) {
  const std::string ask =
      "PKG_CONFIG_PATH='" + UnpackedSdk() + "/lib/pkgconfig' pkg-config ";
  EXPECT_EQ(RunCommand(ask + "'tim-cl >= 1 tim-cl < 2'").exit_status, 0);
  EXPECT_NE(RunCommand(ask + "'tim-cl < 1'").exit_status, 0);
}

}  // namespace
}  // namespace tim::structure
