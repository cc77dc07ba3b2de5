// The version, and the public callback for log lines.
#include "tim/vx/version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/str_cat.h"
#include "tests/support/vx/vx_graph.h"
#include "tim/vx/log.h"

namespace tim::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(Version, OfTheLibraryIsThatOfTheHeaders) {
  EXPECT_EQ(vx::VersionNumber(), TIM_CL_VERSION_NUMBER);
  EXPECT_EQ(vx::VersionText(),
            StrCat(TIM_CL_VERSION_MAJOR, ".", TIM_CL_VERSION_MINOR, ".",
                   TIM_CL_VERSION_PATCH));
}

TEST(Version, NumbersAreInOrder) {
  static_assert(TIM_CL_MAKE_VERSION(1, 0, 0) == 1000000);
  static_assert(TIM_CL_MAKE_VERSION(1, 9, 999) < TIM_CL_MAKE_VERSION(1, 10, 0));
  EXPECT_LT(TIM_CL_MAKE_VERSION(1, 999, 999), TIM_CL_MAKE_VERSION(2, 0, 0));
}

TEST(LogCallback, GetsWhatFails) {
  std::vector<std::pair<vx::LogLevel, std::string>> messages;
  vx::SetLogCallback([&](vx::LogLevel level, const char* text) {
    messages.emplace_back(level, text);
  });
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(ContextOn("host")->CreateGraph()->Compile());
  vx::SetLogCallback(nullptr);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_THAT(messages,
              Contains(Pair(vx::LogLevel::kError, HasSubstr("is empty"))));
}

}  // namespace
}  // namespace tim::testing
