#ifndef TIM_TESTS_SUPPORT_LONG_TESTS_H_
#define TIM_TESTS_SUPPORT_LONG_TESTS_H_

#include <cstdlib>

namespace tim::testing {

/// tools/test.sh --long: every combination and value, not only some of them.
inline bool RunsLongTests() {
  return std::getenv("TIMCL_TEST_LONG") != nullptr;
}

/// Combinations that a test goes through, each of which compiles kernels: the
/// first and every `step`-th after it are taken, in long runs all.  A step that
/// has no divisor in common with the extents of the inner loops takes each of
/// their values.
class Sample {
 public:
  explicit Sample(int step) : step_(RunsLongTests() ? 1 : step) {}
  bool Takes() { return next_++ % step_ == 0; }

 private:
  const int step_;
  int next_ = 0;
};

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_LONG_TESTS_H_
