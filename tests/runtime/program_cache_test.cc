#include "runtime/cache/program_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/status_macros.h"

namespace tim::runtime {
namespace {

namespace fs = std::filesystem;

class ProgramCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "timcl_cache_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    folder_ = root_ / "a" / "tim-cl";
  }
  void TearDown() override { fs::remove_all(root_); }

  std::shared_ptr<ProgramCache> Open() {
    return ProgramCache::Create({.folder = folder_.string()});
  }

  // Opens with the warning that it logs.
  std::string WarningOfOpen() {
    ::testing::internal::CaptureStderr();
    const auto cache = Open();
    const std::string text = ::testing::internal::GetCapturedStderr();
    EXPECT_FALSE(cache->has_folder());
    cache->Store("key", "program");
    EXPECT_EQ(cache->Load("key"), "program");
    EXPECT_EQ(cache->memory_hits(), 1);
    return text;
  }

  std::vector<fs::path> Files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      files.push_back(entry.path());
    }
    return files;
  }

  static std::string Slurp(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
  static void Spill(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }

  // A new cache over one stored program whose file was changed.
  void ExpectRejected(const std::string& file) {
    Spill(Files().at(0), file);
    const auto cache = Open();
    EXPECT_EQ(cache->Load("key"), std::nullopt);
    EXPECT_EQ(cache->rejected(), 1);
    EXPECT_EQ(cache->disk_hits(), 0);
    cache->Store("key", "program");
    EXPECT_EQ(Open()->Load("key"), "program");
  }

  fs::path root_;
  fs::path folder_;
};

TEST_F(ProgramCacheTest, WithoutAFolderItKeepsProgramsInMemory) {
  const auto cache = ProgramCache::Create({});
  EXPECT_FALSE(cache->has_folder());
  EXPECT_EQ(cache->Load("key"), std::nullopt);
  cache->Store("key", "program");
  EXPECT_EQ(cache->Load("key"), "program");
  cache->CountBuild();
  EXPECT_EQ(cache->builds(), 1);
  EXPECT_EQ(cache->memory_hits(), 1);
  EXPECT_EQ(cache->disk_hits(), 0);
}

TEST_F(ProgramCacheTest, AnotherCacheFindsWhatTheFirstStored) {
  std::string binary("bin\0ary", 7);
  Open()->Store("key with / and \n", binary);
  const auto cache = Open();
  EXPECT_EQ(cache->Load("key with / and \n"), binary);
  EXPECT_EQ(cache->disk_hits(), 1);
  EXPECT_EQ(cache->Load("key with / and \n"), binary);
  EXPECT_EQ(cache->memory_hits(), 1);
  EXPECT_EQ(cache->Load("another key"), std::nullopt);
}

TEST_F(ProgramCacheTest, FolderAndFilesArePrivate) {
  const mode_t mask = umask(0);
  Open()->Store("key", "program");
  umask(mask);
  struct stat facts = {};
  ASSERT_EQ(stat(folder_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0700u);
  ASSERT_EQ(Files().size(), 1u);
  ASSERT_EQ(stat(Files()[0].c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

TEST_F(ProgramCacheTest, AFileInPlaceOfTheFolderIsRefused) {
  fs::create_directories(folder_.parent_path());
  Spill(folder_, "hello");
  const std::string text = WarningOfOpen();
  EXPECT_NE(text.find("[warning]"), std::string::npos) << text;
  EXPECT_NE(text.find(folder_.string()), std::string::npos) << text;
  EXPECT_NE(text.find("Not a directory"), std::string::npos) << text;
  EXPECT_EQ(Slurp(folder_), "hello");
}

TEST_F(ProgramCacheTest, AFolderThatOthersMayWriteToIsRefused) {
  fs::create_directories(folder_);
  for (const mode_t mode : {0777, 0720, 0702}) {
    ASSERT_EQ(chmod(folder_.c_str(), mode), 0);
    EXPECT_NE(WarningOfOpen().find("writable by its group or by others"),
              std::string::npos);
  }
  ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
  EXPECT_TRUE(Open()->has_folder());
}

TEST_F(ProgramCacheTest, AFolderThatCannotBeUsedIsToldOnce) {
  fs::create_directories(folder_.parent_path());
  Spill(folder_, "hello");
  EXPECT_NE(WarningOfOpen().find("[warning] built programs are not kept"),
            std::string::npos);
  EXPECT_EQ(WarningOfOpen(), "");
}

TEST_F(ProgramCacheTest, AFolderThatTakesNoFileIsToldOnce) {
  const auto cache = Open();
  fs::remove_all(folder_);
  ::testing::internal::CaptureStderr();
  cache->Store("key", "program");
  cache->Store("another key", "program");
  const std::string text = ::testing::internal::GetCapturedStderr();
  const std::string line = StrCat(
      "tim-cl [warning] built programs are not kept on disk: cannot "
      "write to '",
      folder_.string(), "': ");
  EXPECT_EQ(text.find(line), 0u) << text;
  EXPECT_EQ(text.find('\n') + 1, text.size()) << text;
}

TEST_F(ProgramCacheTest, AFolderOfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  fs::create_directories(folder_);
  ASSERT_EQ(chmod(folder_.c_str(), 0700), 0);
  ASSERT_EQ(chown(folder_.c_str(), 12345, 12345), 0);
  EXPECT_NE(WarningOfOpen().find("belongs to user 12345"), std::string::npos);
}

TEST_F(ProgramCacheTest, DamagedFilesAreIgnoredAndWrittenAgain) {
  Open()->Store("key", "program");
  const std::string good = Slurp(Files().at(0));
  for (size_t size = 0; size < good.size(); ++size) {
    SCOPED_TRACE(StrCat("truncated to ", size));
    ExpectRejected(good.substr(0, size));
  }
  for (size_t i = 0; i < good.size(); ++i) {
    SCOPED_TRACE(StrCat("flipped byte ", i));
    std::string flipped = good;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
    ExpectRejected(flipped);
  }
  ExpectRejected(good + "x");
}

TEST_F(ProgramCacheTest, AFileOfAnotherKeyIsNotTaken) {
  Open()->Store("key", "program");
  const fs::path file = Files().at(0);
  Open()->Store("other", "program 2");
  for (const fs::path& path : Files()) {
    if (path != file)
      fs::copy_file(path, file, fs::copy_options::overwrite_existing);
  }
  const auto cache = Open();
  EXPECT_EQ(cache->Load("key"), std::nullopt);
  EXPECT_EQ(cache->rejected(), 1);
}

TEST_F(ProgramCacheTest, ALinkInPlaceOfAFileIsNotFollowed) {
  Open()->Store("key", "program");
  const fs::path file = Files().at(0);
  fs::rename(file, root_ / "elsewhere");
  fs::create_symlink(root_ / "elsewhere", file);
  EXPECT_EQ(Open()->Load("key"), std::nullopt);
}

TEST_F(ProgramCacheTest, TheLeastRecentlyUsedGoFirst) {
  const std::string program(1000, 'x');
  const ProgramCacheOptions options = {.folder = folder_.string(),
                                       .max_disk_bytes = 3500};
  const auto cache = ProgramCache::Create(options);
  const auto pause = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  for (const char* key : {"a", "b", "c"}) {
    cache->Store(key, program);
    pause();
  }
  EXPECT_EQ(Files().size(), 3u);
  // A use by another process makes "a" younger than "b".
  EXPECT_EQ(ProgramCache::Create(options)->Load("a"), program);
  pause();
  cache->Store("d", program);
  const auto fresh = ProgramCache::Create(options);
  EXPECT_EQ(fresh->Load("b"), std::nullopt);
  for (const char* key : {"a", "c", "d"}) EXPECT_EQ(fresh->Load(key), program);
}

TEST_F(ProgramCacheTest, MemoryIsLimitedToo) {
  const auto cache =
      ProgramCache::Create({.folder = "", .max_memory_bytes = 2500});
  const std::string program(1000, 'x');
  for (const char* key : {"a", "b", "b", "c"}) cache->Store(key, program);
  EXPECT_EQ(cache->Load("a"), std::nullopt);
  EXPECT_EQ(cache->Load("b"), program);
  EXPECT_EQ(cache->Load("c"), program);
}

TEST_F(ProgramCacheTest, LeftOversOfDeadProcessesAreRemoved) {
  Open()->Store("key", "program");
  const fs::path old_file = folder_ / ".tmp-1-0";
  const fs::path new_file = folder_ / ".tmp-1-1";
  Spill(old_file, "half");
  Spill(new_file, "half");
  fs::last_write_time(old_file,
                      fs::file_time_type::clock::now() - std::chrono::hours(2));
  EXPECT_EQ(Open()->Load("key"), "program");
  EXPECT_FALSE(fs::exists(old_file));
  EXPECT_TRUE(fs::exists(new_file));
}

TEST_F(ProgramCacheTest, ThreadsAndCachesMeetInOneFolder) {
  const std::vector<std::shared_ptr<ProgramCache>> caches = {Open(), Open()};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const std::string key = StrCat("key", i % 10);
        caches[t % 2]->Store(key, StrCat("program of ", key));
        EXPECT_EQ(caches[(t + 1) % 2]->Load(key), StrCat("program of ", key));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(caches[0]->rejected() + caches[1]->rejected(), 0);
  EXPECT_EQ(Files().size(), 10u);
}

TEST(UserCacheOptions, FolderFollowsOptionThenXdgThenHome) {
  EXPECT_EQ(UserCacheOptions("/c", "/x", "/h").folder, "/c");
  EXPECT_EQ(UserCacheOptions("", "/x", "/h").folder, "/x/tim-cl");
  EXPECT_EQ(UserCacheOptions("", "x", "/h").folder, "/h/.cache/tim-cl");
  EXPECT_EQ(UserCacheOptions("", nullptr, "/h").folder, "/h/.cache/tim-cl");
  EXPECT_EQ(UserCacheOptions("", nullptr, nullptr).folder, "");
}

TEST(UserCacheOptions, OffKeepsNothing) {
  const auto off = ProgramCache::Create(UserCacheOptions("off", "/x", "/h"));
  EXPECT_FALSE(off->has_folder());
  EXPECT_FALSE(off->keeps());
  off->Store("a", "program");
  EXPECT_EQ(off->Load("a"), std::nullopt);
  const auto in_memory = ProgramCache::Create(UserCacheOptions("", "", ""));
  EXPECT_FALSE(in_memory->has_folder());
  EXPECT_TRUE(in_memory->keeps());
}

}  // namespace
}  // namespace tim::runtime
