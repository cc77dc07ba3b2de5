// Files that are mapped, and what cannot be.
#include "base/mapped_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/write_file.h"
#include "tests/support/status_macros.h"

namespace tim {
namespace {

TEST(MapFile, GivesTheBytesUntilItIsLetGo) {
  const std::string path = ::testing::TempDir() + "mapped_file";
  ASSERT_OK(WriteFile(path, {"some ", "bytes"}));
  const auto mapped = MapFile(path);
  ASSERT_OK(mapped);
  std::filesystem::remove(path);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>((*mapped)->bytes.data()),
                        (*mapped)->bytes.size()),
            "some bytes");
}

TEST(MapFile, SaysWhyThereAreNone) {
  const std::string folder = ::testing::TempDir();
  EXPECT_ERROR(MapFile(folder), "it is a folder; name the file in it");
  EXPECT_ERROR(MapFile(folder + "no_such_file"), "No such file");
  EXPECT_ERROR(MapFile("/dev/null"), "it is no ordinary file");
  const std::string empty = folder + "empty_file";
  ASSERT_OK(WriteFile(empty, {}));
  const auto mapped = MapFile(empty);
  EXPECT_ERROR(mapped, "it is empty");
  EXPECT_EQ(mapped.status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace tim
