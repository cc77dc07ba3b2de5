#include "tests/sdk/unpacked_sdk.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/structure/source_tree.h"

namespace tim::structure {

const std::string& UnpackedSdk() {
  static const std::string tree = [] {
    const std::string folder = FreshFolder("sdk");
    const CommandResult unpacked =
        RunCommand("tar -xzf tools/sdk/tim-cl-*.tar.gz -C '" + folder + "'");
    EXPECT_EQ(unpacked.exit_status, 0) << unpacked.output;
    std::string found;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      EXPECT_EQ(found, "") << "more than one folder in the archive";
      found = entry.path().string();
    }
    return found;
  }();
  return tree;
}

}  // namespace tim::structure
