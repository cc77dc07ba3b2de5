// Threads and processors are asked for in src/base only, where exceptions in a
// thread, threads that cannot be started and quotas are looked after.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> LinesWithThreads(const std::string& text) {
  static const std::regex thread(
      R"(std::j?thread\b(?!::id)|std::async\b|\bpthread_create\b|)"
      R"(\bhardware_concurrency\b|\bsched_getaffinity\b)");
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (std::regex_search(line, thread)) found.push_back(line);
  return found;
}

TEST(Threads, AreStartedAndCountedInBase) {
  std::size_t count = 0;
  for (const char* folder : {"src", "ops", "custom_ops"})
    for (const std::string& path : FilesUnder(folder, {".h", ".cc"})) {
      if (path.rfind("src/base/", 0) == 0) continue;
      ++count;
      EXPECT_THAT(LinesWithThreads(ReadText(path)), IsEmpty()) << path;
    }
  EXPECT_GT(count, 50u) << "the tree was not found";
}

TEST(Threads, PlantedOnesAreSeen) {
  for (const char* line :
       {"std::thread t(work);", "  std::vector<std::jthread> workers;",
        "std::async(work);", "std::thread::hardware_concurrency()",
        "sched_getaffinity(0, sizeof(set), &set);"})
    EXPECT_THAT(LinesWithThreads(std::string("\n") + line), SizeIs(1)) << line;
  EXPECT_THAT(LinesWithThreads("std::thread::id own;\nthread_local int i;"),
              IsEmpty());
}

// Of function-local statics those that are made under a lock, which a process
// forked off meanwhile would find taken for ever.
std::vector<std::string> LinesWithLocks(const std::string& text) {
  static const std::regex guarded(
      R"(^\s+static\s+(?!constexpr\b|constinit\b)[^()]*[;={])");
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (std::regex_search(line, guarded)) found.push_back(line);
  return found;
}

TEST(Statics, AreMadeWithoutALock) {
  std::size_t count = 0;
  for (const char* folder : {"src", "ops", "custom_ops"})
    for (const std::string& path : FilesUnder(folder, {".cc"})) {
      ++count;
      EXPECT_THAT(LinesWithLocks(ReadText(path)), IsEmpty())
          << path << ": see src/base/fork/keep_one.h";
    }
  EXPECT_GT(count, 50u) << "the tree was not found";
}

TEST(Statics, PlantedOnesAreSeen) {
  for (const char* line :
       {"  static std::mutex mutex;", "  static const Options options = [] {",
        "  static const T kNone{};", "  static auto* const all = new All();"})
    EXPECT_THAT(LinesWithLocks(std::string("\n") + line), SizeIs(1)) << line;
  EXPECT_THAT(LinesWithLocks("  static constexpr int kOne = 1;\n"
                             "  static constinit std::mutex mutex;\n"
                             "static int Three() { return 3; }\n"
                             "  static Layout Any() { return {.kind = 1}; }\n"),
              IsEmpty());
}

}  // namespace
}  // namespace tim::structure
