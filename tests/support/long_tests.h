#ifndef TIM_TESTS_SUPPORT_LONG_TESTS_H_
#define TIM_TESTS_SUPPORT_LONG_TESTS_H_

#include <cstdlib>

namespace tim::testing {

/// tools/test.sh --long: every combination and value, not only some of them.
inline bool RunsLongTests() {
  return std::getenv("TIMCL_TEST_LONG") != nullptr;
}

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_LONG_TESTS_H_
