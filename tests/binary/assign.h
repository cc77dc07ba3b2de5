// Results in tests.
#ifndef TIM_TESTS_BINARY_ASSIGN_H_
#define TIM_TESTS_BINARY_ASSIGN_H_

#include "tests/support/status_macros.h"

/// Declares or assigns `target` from a Result that must be ok.
#define ASSERT_OK_AND_ASSIGN(target, expression)                       \
  ASSERT_OK_AND_ASSIGN_IMPL(TIM_CONCAT(tim_result_, __LINE__), target, \
                            expression)
#define ASSERT_OK_AND_ASSIGN_IMPL(result, target, expression) \
  auto result = (expression);                                 \
  ASSERT_OK(result);                                          \
  target = *std::move(result)

#endif  // TIM_TESTS_BINARY_ASSIGN_H_
