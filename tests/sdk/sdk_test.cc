// The tree that `bazel build //:sdk` makes, unpacked elsewhere.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

namespace fs = std::filesystem;

// Where the archive is unpacked, once: the folder that it holds.
const std::string& Tree() {
  static const std::string tree = [] {
    const std::string folder = FreshFolder("sdk");
    const CommandResult unpacked =
        RunCommand("tar -xzf tools/sdk/tim-cl-*.tar.gz -C '" + folder + "'");
    EXPECT_EQ(unpacked.exit_status, 0) << unpacked.output;
    std::string found;
    for (const auto& entry : fs::directory_iterator(folder)) {
      EXPECT_EQ(found, "") << "more than one folder in the archive";
      found = entry.path().string();
    }
    return found;
  }();
  return tree;
}

CommandResult Check(const std::string& arguments) {
  return RunCommand("tools/sdk/check_tree.sh " + arguments);
}

CommandResult Use(const std::string& how) {
  return RunCommand("tools/sdk/use_tree.sh '" + Tree() +
                    "' tests/sdk/consumer " + how + " '" +
                    FreshFolder("use_tree") + "'");
}

TEST(Sdk, HoldsTheFilesOfTheInstalledTree) {
  const CommandResult result = Check("files '" + Tree() + "'");
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST(Sdk, SharedLibraryExportsThePublicApiOnly) {
  const CommandResult result =
      Check("exports '" + Tree() + "/lib/libtim-cl.so'");
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST(Sdk, ArchiveExportsThePublicApiOnly) {
  const CommandResult result =
      Check("exports '" + Tree() + "/lib/libtim-cl.a'");
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST(Sdk, SharedLibraryNeedsTheSystemOnly) {
  const CommandResult result =
      Check("needed '" + Tree() + "/lib/libtim-cl.so'");
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST(Sdk, NamesNoFolderOfTheBuild) {
  const CommandResult result = Check("no_text '" + Tree() + "' /execroot/ '" +
                                     fs::current_path().string() + "'");
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST(Sdk, ClientOfTheSharedLibraryRuns) {
  const CommandResult result = Use("g++ 14 shared tim-cl");
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

TEST(Sdk, ClientOfTheArchiveRuns) {
  const CommandResult result = Use("clang++ 20 static pkg-config");
  EXPECT_EQ(result.exit_status, 0) << result.output;
}

}  // namespace
}  // namespace tim::structure
