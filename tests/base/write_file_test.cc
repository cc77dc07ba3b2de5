// Files that take the place of others at once.
#include "base/write_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>

namespace tim {
namespace {

namespace fs = std::filesystem;

std::string FreshFolder(const std::string& name) {
  const fs::path path = fs::path(::testing::TempDir()) / name;
  fs::remove_all(path);
  fs::create_directories(path);
  return path.string();
}

Status Replace(const std::string& path, const std::string& text) {
  return ReplaceFile(path, std::as_bytes(std::span(text)));
}

std::string TextOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

size_t FilesIn(const std::string& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {}));
}

TEST(ReplaceFile, TakesThePlaceOfWhatWasThere) {
  const std::string folder = FreshFolder("replace");
  const std::string path = folder + "/file";
  ASSERT_TRUE(Replace(path, "a longer text").ok());
  ASSERT_TRUE(Replace(path, "short").ok());
  EXPECT_EQ(TextOf(path), "short");
  EXPECT_EQ(FilesIn(folder), 1u);
  struct stat facts = {};
  ASSERT_EQ(stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777u, 0600u);
}

TEST(ReplaceFile, NamesWhatCannotBeWritten) {
  const std::string folder = FreshFolder("replace_not");
  const std::string nowhere = folder + "/none/file";
  const Status missing = Replace(nowhere, "text");
  EXPECT_EQ(missing.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(missing.message(),
            "cannot write '" + nowhere + "': No such file or directory");
  // Nothing is left where the name is a folder's.
  fs::create_directory(folder + "/taken");
  EXPECT_FALSE(Replace(folder + "/taken", "text").ok());
  EXPECT_EQ(FilesIn(folder), 1u);
}

TEST(PathOfProcess, HasTheNumberOfTheProcess) {
  const std::string number = std::to_string(getpid());
  EXPECT_EQ(PathOfProcess("a/%p-%p.x"), "a/" + number + "-" + number + ".x");
  EXPECT_EQ(PathOfProcess("100%"), "100%");
}

}  // namespace
}  // namespace tim
