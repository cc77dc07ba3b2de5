// The tree that `bazel build //:sdk` makes, unpacked elsewhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/sdk/unpacked_sdk.h"
#include "tests/structure/source_tree.h"
#include "tests/support/long_tests.h"

namespace tim::structure {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

CommandResult Check(const std::string& arguments) {
  return RunCommand("tools/sdk/check_tree.sh " + arguments);
}

CommandResult Use(const std::string& how,
                  const std::string& project = "tests/sdk/consumer") {
  return RunCommand("tools/sdk/use_tree.sh '" + UnpackedSdk() + "' " + project +
                    " " + how + " '" + FreshFolder("use_tree") + "'");
}

TEST(Sdk, HoldsTheFilesOfTheInstalledTree) {
  const CommandResult result = Check("files '" + UnpackedSdk() + "'");
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST(Sdk, SharedLibraryExportsThePublicApiOnly) {
  const CommandResult result =
      Check("exports '" + UnpackedSdk() + "/lib/libtim-cl.so'");
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST(Sdk, ArchiveExportsThePublicApiOnly) {
  const CommandResult result =
      Check("exports '" + UnpackedSdk() + "/lib/libtim-cl.a'");
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST(Sdk, SharedLibraryNeedsTheSystemOnly) {
  const CommandResult result =
      Check("needed '" + UnpackedSdk() + "/lib/libtim-cl.so'");
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST(Sdk, ImportersExportTheirApiAndNeedTheLibrary) {
  const std::string library = UnpackedSdk() + "/lib/libtim-cl-models";
  for (const std::string& check :
       {"exports '" + library + ".so'", "exports '" + library + ".a'",
        "needed '" + library + ".so'"}) {
    const CommandResult result = Check(check);
    EXPECT_EQ(result.exit_status, 0) << check << "\n" << result.output;
  }
}

TEST(Sdk, ClientsOfTheImportersRun) {
  for (const char* how :
       {"g++ 14 shared tim-cl-models", "clang++ 20 static tim-cl-models.pc"}) {
    const CommandResult result = Use(how, "tests/sdk/model_client");
    EXPECT_EQ(result.exit_status, 0) << how << "\n" << result.output;
    EXPECT_THAT(result.output, HasSubstr("model_client: right"));
  }
}

TEST(Sdk, NamesNoFolderOfTheBuild) {
  const CommandResult result =
      Check("no_text '" + UnpackedSdk() + "' /execroot/ '" +
            fs::current_path().string() + "'");
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST(Sdk, ClientOfTheSharedLibraryRuns) {
  const CommandResult result = Use("g++ 14 shared tim-cl");
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST(Sdk, ClientOfTheArchiveRuns) {
  const CommandResult result = Use("clang++ 20 static tim-cl.pc");
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST(Sdk, ClientsOfTheCustomOperatorsRunByPkgConfig) {
  for (const char* how : {"g++ 14 shared tim-cl-custom-ops.pc",
                          "clang++ 20 static tim-cl-custom-ops.pc"}) {
    const CommandResult result = Use(how, "tests/sdk/packaged_operator");
    EXPECT_EQ(result.exit_status, 0) << how << "\n" << result.output;
    EXPECT_THAT(result.output, HasSubstr("0 0 3 6"));
  }
}

// A custom operator in a library of its own, a composed one, and a built-in
// replaced, in every way to link.
TEST(SdkApp, RunsOnTheUnpackedTree) {
  testing::Sample sample(3);
  for (const char* how :
       {"g++ 14 shared tim-cl", "clang++ 20 static tim-cl",
        "g++ 20 shared tim-cl.pc", "clang++ 14 static tim-vx.pc"}) {
    if (!sample.Takes()) continue;
    const CommandResult result = Use(how, "samples/sdk_app");
    EXPECT_EQ(result.exit_status, 0) << how << "\n" << result.output;
    EXPECT_THAT(result.output, HasSubstr("largest difference"));
  }
}

TEST(SdkApp, RunsWithItsOperatorsAndTheSdkAsOneLibrary) {
  const CommandResult result = RunCommand("samples/sdk_app/sdk_app");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("largest difference"));
}

// A shared library libtim-cl.so of `text` in a folder of its own.
std::string BuildLibrary(const std::string& text, const std::string& flags) {
  const std::string library = FreshFolder("planted") + "/libtim-cl.so";
  WriteText(library + ".cc", text);
  const CommandResult built = RunCommand("g++ -shared -fPIC '" + library +
                                         ".cc' -o '" + library + "' " + flags);
  EXPECT_EQ(built.exit_status, 0) << built.output;
  return "'" + library + "'";
}

TEST(SdkCheck, SeesFilesThatAreMissingOrTooMany) {
  const std::string folder = FreshFolder("planted");
  WriteText(folder + "/lib/libOpenCL.so.1", "");
  const CommandResult result = Check("files '" + folder + "'");
  EXPECT_NE(result.exit_status, 0);
  EXPECT_THAT(result.output, HasSubstr("> lib/libOpenCL.so.1"));
  EXPECT_THAT(result.output, HasSubstr("< lib/libtim-vx.so -> libtim-cl.so"));
}

TEST(SdkCheck, SeesForeignAndPrivateSymbols) {
  const CommandResult result = Check(
      "exports " +
      BuildLibrary("namespace tim { namespace ir { int Leak() { return 1; } }\n"
                   "namespace vx { int Context() { return 1; }\n"
                   "struct GraphImpl { int Run(); };\n"
                   "int GraphImpl::Run() { return 1; } } }\n"
                   "extern \"C\" int tim_graph_graph_create() { return 1; }\n",
                   ""));
  EXPECT_NE(result.exit_status, 0);
  EXPECT_EQ(result.output, "GraphImpl\ntim::ir::Leak()\n");
}

TEST(SdkCheck, SeesALibraryWithoutTheApi) {
  const CommandResult result = Check("exports " + BuildLibrary("", ""));
  EXPECT_NE(result.exit_status, 0);
  EXPECT_THAT(result.output, HasSubstr("Context is not exported"));
}

TEST(SdkCheck, SeesNeedsSearchPathsAndTheSoname) {
  const std::string soname = "-Wl,-soname,libtim-cl.so.1 -Wl,--no-as-needed ";
  const CommandResult path =
      Check("needed " + BuildLibrary("", soname + "-Wl,-rpath,/opt/lib"));
  EXPECT_NE(path.exit_status, 0);
  EXPECT_THAT(path.output, HasSubstr("[/opt/lib]"));
  const CommandResult need =
      Check("needed " + BuildLibrary("", soname + "-lgomp"));
  EXPECT_NE(need.exit_status, 0);
  EXPECT_THAT(need.output, HasSubstr("[libgomp"));
  const CommandResult name = Check("needed " + BuildLibrary("", ""));
  EXPECT_NE(name.exit_status, 0);
  EXPECT_THAT(name.output, HasSubstr("SONAME is not libtim-cl.so.1"));
}

TEST(SdkCheck, SeesAText) {
  const std::string folder = FreshFolder("planted");
  WriteText(folder + "/lib/a.pc", "prefix=/opt/build\n");
  const CommandResult result = Check("no_text '" + folder + "' /usr/x /opt/bu");
  EXPECT_NE(result.exit_status, 0);
  EXPECT_THAT(result.output, HasSubstr("lib/a.pc\nhold the text /opt/bu"));
}

TEST(SdkCheck, RefusesUnknownWaysToUseATree) {
  const CommandResult result = Use("g++ 14 shared meson");
  EXPECT_NE(result.exit_status, 0);
  EXPECT_THAT(result.output, HasSubstr("no method meson with link shared"));
}

}  // namespace
}  // namespace tim::structure
