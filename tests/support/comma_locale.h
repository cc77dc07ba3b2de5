// A locale with a decimal comma, as programs of Qt and GTK set their user's.
#ifndef TIM_TESTS_SUPPORT_COMMA_LOCALE_H_
#define TIM_TESTS_SUPPORT_COMMA_LOCALE_H_

#include <string>

namespace tim::testing {

/// For its life numbers are German, of C's functions and of C++'s streams.  The
/// locale is made in a temporary folder, whatever the machine has; a test fails
/// where it cannot be.
class CommaLocale {
 public:
  CommaLocale();
  ~CommaLocale();
  CommaLocale(const CommaLocale&) = delete;
  CommaLocale& operator=(const CommaLocale&) = delete;

 private:
  std::string folder_;
};

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_COMMA_LOCALE_H_
