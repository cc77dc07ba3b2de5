// GoogleTest checks of Status and Result<T>.
#ifndef TIM_TESTS_SUPPORT_STATUS_MACROS_H_
#define TIM_TESTS_SUPPORT_STATUS_MACROS_H_

#include <gtest/gtest.h>

#include <string>

#include "base/status.h"

namespace tim::testing {

inline const Status& StatusOf(const Status& status) { return status; }
template <typename T>
const Status& StatusOf(const Result<T>& result) {
  return result.status();
}

template <typename T>
::testing::AssertionResult IsOk(const T& value) {
  const Status& status = StatusOf(value);
  if (status.ok()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << status.ToString();
}

/// A failure whose message contains `text`.
template <typename T>
::testing::AssertionResult FailsWith(const T& value, const std::string& text) {
  const Status& status = StatusOf(value);
  if (status.ok()) {
    return ::testing::AssertionFailure() << "ok, expected '" << text << "'";
  }
  if (status.message().find(text) == std::string::npos) {
    return ::testing::AssertionFailure()
           << "'" << status.ToString() << "' does not contain '" << text << "'";
  }
  return ::testing::AssertionSuccess();
}

}  // namespace tim::testing

#define EXPECT_OK(value) EXPECT_TRUE(::tim::testing::IsOk(value))
#define ASSERT_OK(value) ASSERT_TRUE(::tim::testing::IsOk(value))
#define EXPECT_ERROR(value, text) \
  EXPECT_TRUE(::tim::testing::FailsWith(value, text))

#endif  // TIM_TESTS_SUPPORT_STATUS_MACROS_H_
