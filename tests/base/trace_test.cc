#include "base/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "base/json_text.h"
#include "base/trace_file.h"
#include "tests/support/forked_process.h"
#include "tests/support/status_macros.h"
#include "tests/support/trace_events.h"

namespace tim {
namespace {

using ::testing::AnyOf;
using testing::ExpectNested;
using testing::Fork;
using ::testing::HasSubstr;
using testing::ReadTrace;
using ::testing::SizeIs;
using testing::SpansOf;
using testing::TraceEvent;

std::string PathOf(const std::string& name) {
  const std::string path = ::testing::TempDir() + "/trace_test_" + name;
  std::filesystem::remove_all(path);
  return path;
}

std::string TextOf(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(JsonText, EscapesWhatNamesMayHold) {
  EXPECT_EQ(JsonString("Conv2d#3 'a'"), "\"Conv2d#3 'a'\"");
  EXPECT_EQ(JsonString("\"\\"), R"("\"\\")");
  EXPECT_EQ(JsonString("ä€𝄞"), "\"ä€𝄞\"");
  EXPECT_EQ(nlohmann::json::parse(JsonString("\n\t\x01 \x1f")),
            "\n\t\x01 \x1f");
  // Cut off, overlong, a surrogate, beyond the last character.
  for (const char* bytes : {"\xff", "a\xc3", "\xc0\xaf", "\xed\xa0\x80",
                            "\xf5\x80\x80\x80", "\xe2\x82"}) {
    const auto text = nlohmann::json::parse(JsonString(bytes), nullptr, false);
    ASSERT_TRUE(text.is_string());
    EXPECT_THAT(text.get<std::string>(), HasSubstr("\xEF\xBF\xBD"));
  }
}

TEST(Trace, IsOffWhereNobodyAsksForIt) {
  ASSERT_FALSE(TraceEnabled());
  TraceSpan span("test", "nothing");
  span.Add("key", 1);
  TraceInstant("test", "nothing");
  RecordTrace(nullptr, 1, 2);
  StopTrace();
}

TEST(Trace, HasSpansInSpansWithArguments) {
  const std::string path = PathOf("spans");
  ASSERT_OK(StartTrace(path));
  ASSERT_OK(StartTrace(PathOf("another")));  // goes on as it is
  {
    TraceSpan outer("test", "outer", "of \"g\"\n\xff");
    outer.Add("text", "a \"b\"");
    outer.Add("number", int64_t{-7});
    const TraceSpan inner("test", "inner");
    TraceInstant("test", "moment");
  }
  auto open = std::make_unique<TraceSpan>("test", "open");
  StopTrace();
  EXPECT_FALSE(TraceEnabled());
  open = nullptr;
  EXPECT_FALSE(std::filesystem::exists(PathOf("another")));

  const auto events = ReadTrace(path);
  ExpectNested(events);
  EXPECT_EQ(events[0].name, "process_name");
  const auto found = SpansOf(events, "test");
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found[0].phase, "i");
  EXPECT_EQ(found[1].name, "inner");
  EXPECT_EQ(found[2].name, "outer of \"g\"\n\xEF\xBF\xBD");
  EXPECT_TRUE(IsWithin(found[0], found[1]));
  EXPECT_TRUE(IsWithin(found[1], found[2]));
  EXPECT_EQ(found[2].arguments.at("text"), "a \"b\"");
  EXPECT_EQ(found[2].arguments.at("number"), -7);
}

TEST(Trace, PatternsShareTheInterval) {
  const std::string path = PathOf("pattern");
  ASSERT_OK(StartTrace(path));
  const std::vector<TracePattern::Part> parts = {
      {.category = "all", .name = "all", .arguments = "\"n\":1"},
      {.category = "part", .name = "first", .arguments = {}, .end = 0.25},
      {.category = "part", .name = "rest", .arguments = {}, .begin = 0.25}};
  const auto pattern = std::make_shared<const TracePattern>(parts);
  int row = 0;
  int other_row = 0;
  {
    const TraceTrack track("queue");
    const TraceTrack other("queue");
    row = track.number();
    other_row = other.number();
    EXPECT_NE(row, other_row);
    RecordTrace(pattern, 1'000'001, 1'001'001, row);
    RecordTrace(pattern, 2'000'000, 1'999'000, row);  // a clock that went back
  }
  EXPECT_THAT(TraceTrack("queue").number(), AnyOf(row, other_row));
  RecordTrace(pattern, 5, 6);
  StopTrace();

  const auto events = ReadTrace(path);
  ExpectNested(events);
  const auto whole = SpansOf(events, "all");
  ASSERT_THAT(whole, SizeIs(3));
  EXPECT_EQ(whole[0].row, row);
  EXPECT_EQ(whole[0].begin, 1'000'001);
  EXPECT_EQ(whole[0].end, 1'001'001);
  EXPECT_EQ(whole[0].arguments.at("n"), 1);
  EXPECT_EQ(whole[1].begin, whole[1].end);
  EXPECT_NE(whole[2].row, row);
  const auto shares = SpansOf(events, "part");
  ASSERT_THAT(shares, SizeIs(6));
  EXPECT_EQ(shares[0].end, 1'000'251);
  EXPECT_EQ(shares[1].begin, 1'000'251);
  EXPECT_EQ(shares[1].end, 1'001'001);
  EXPECT_THAT(TextOf(path), HasSubstr("\"args\":{\"name\":\"queue\"}"));
}

TEST(Trace, ThreadsHaveRowsAndLeaveThemToTheNext) {
  const std::string path = PathOf("threads");
  ASSERT_OK(StartTrace(path));
  constexpr int kSpans = 500;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([] {
        for (int k = 0; k < kSpans; ++k) {
          const TraceSpan outer("test", "outer");
          const TraceSpan inner("test", "inner");
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  StopTrace();
  const auto events = ReadTrace(path);
  ExpectNested(events);
  EXPECT_THAT(SpansOf(events, "test"), SizeIs(3 * 4 * kSpans * 2));
  std::set<int64_t> rows;
  for (const TraceEvent& event : SpansOf(events, "test")) {
    rows.insert(event.row);
  }
  EXPECT_LE(rows.size(), 4u);
}

TEST(Trace, IsJsonWhileTheProcessRuns) {
  const std::string path = PathOf("growing");
  ASSERT_OK(StartTrace(path));
  const std::vector<TracePattern::Part> parts = {
      {.category = "many", .name = "one"}};
  const auto pattern = std::make_shared<const TracePattern>(parts);
  constexpr size_t kEvents = 40'000;
  const int64_t now = TraceNow();
  for (size_t i = 0; i < kEvents; ++i) RecordTrace(pattern, now, now);
  const size_t written = SpansOf(ReadTrace(path), "many").size();
  EXPECT_GT(written, kEvents / 2);
  EXPECT_LT(written, kEvents);
  // A second later what there is is written with the next event.
  RecordTrace(pattern, now, now + 2'000'000'000);
  EXPECT_THAT(SpansOf(ReadTrace(path), "many"), SizeIs(kEvents + 1));
  StopTrace();
  EXPECT_THAT(SpansOf(ReadTrace(path), "many"), SizeIs(kEvents + 1));
}

TEST(Trace, StartsAgainWithTheNamesOfRows) {
  ASSERT_OK(StartTrace(PathOf("first")));
  const TraceTrack track("a row of old");
  { const TraceSpan span("test", "span"); }
  StopTrace();
  const std::string path = PathOf("second");
  ASSERT_OK(StartTrace(path));
  StopTrace();
  EXPECT_THAT(TextOf(path), HasSubstr("a row of old"));
  EXPECT_THAT(TextOf(path), HasSubstr("main thread"));
  EXPECT_THAT(SpansOf(ReadTrace(path), "test"), SizeIs(0));
}

TEST(Trace, OfAForkedProcessIsNone) {
  const std::string path = PathOf("forked");
  ASSERT_OK(StartTrace(path));
  { const TraceSpan span("test", "before"); }
  {
    const TraceSpan around("test", "around");
    EXPECT_PASSES(Fork([&] {
      EXPECT_FALSE(TraceEnabled());
      { const TraceSpan span("test", "in the child"); }
      const TraceTrack track("a row of the child");
      const Status status = StartTrace(path + "2");
      EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
      StopTrace();
    }));
  }
  EXPECT_TRUE(TraceEnabled());
  StopTrace();
  const auto found = SpansOf(ReadTrace(path), "test");
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[1].name, "around");
  EXPECT_THAT(TextOf(path), ::testing::Not(HasSubstr("child")));
}

TEST(TraceFile, RefusesWhatIsNoFile) {
  const auto failure = [](const std::string& path) {
    const auto file = TraceFile::Create(path, "{}");
    EXPECT_FALSE(file.ok()) << path;
    return file.ok() ? "" : file.status().message();
  };
  EXPECT_THAT(failure("/no/such/folder/trace.json"),
              HasSubstr("the trace '/no/such/folder/trace.json' cannot be "
                        "written: "));
  EXPECT_THAT(failure(::testing::TempDir()), HasSubstr("cannot be written: "));
  EXPECT_THAT(failure("/dev/null"), HasSubstr("is no regular file"));
}

TEST(TraceFile, IsOfOneProcess) {
  const std::string path = PathOf("locked");
  const auto file = TraceFile::Create(path, "{}");
  ASSERT_OK(file);
  EXPECT_PASSES(Fork([&] {
    const auto second = TraceFile::Create(path, "{}");
    ASSERT_FALSE(second.ok());
    EXPECT_THAT(second.status().message(),
                HasSubstr("is being written by another process; with %p"));
    EXPECT_OK(TraceFile::Create(path + "_%p", "{}"));
    EXPECT_EQ(TextOf(StrCat(path, "_", getpid())), "[\n{}\n]\n");
  }));
  EXPECT_EQ(TextOf(path), "[\n{}\n]\n");
}

TEST(TraceFile, IsWholeAfterEveryCall) {
  const std::string path = PathOf("whole");
  const auto file = TraceFile::Create(path, "{}", 20);
  ASSERT_OK(file);
  const auto append = [&](std::string elements) {
    return (*file)->Append(&elements);
  };
  EXPECT_OK(append(""));
  EXPECT_OK(append(",\n{\"a\":1}"));
  EXPECT_EQ(TextOf(path), "[\n{},\n{\"a\":1}\n]\n");
  const Status full = append(",\n{\"b\":123}");
  EXPECT_THAT(full.message(), HasSubstr("is full"));
  EXPECT_EQ(TextOf(path), "[\n{},\n{\"a\":1}\n]\n");
  EXPECT_OK(append(",\n1"));
  EXPECT_EQ(TextOf(path), "[\n{},\n{\"a\":1},\n1\n]\n");
}

// A new run of a program writes over the trace of the last.
TEST(TraceFile, ReplacesAnOlderOne) {
  const std::string path = PathOf("older");
  std::ofstream(path) << std::string(1000, 'x');
  EXPECT_OK(TraceFile::Create(path, "{}"));
  EXPECT_EQ(TextOf(path), "[\n{}\n]\n");
}

}  // namespace
}  // namespace tim
