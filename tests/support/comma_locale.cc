// Makes the locale by localedef, of Debian's packages libc-bin and locales.
#include "tests/support/comma_locale.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <locale>
#include <sstream>

namespace tim::testing {
namespace {

constexpr char kName[] = "de_DE.UTF-8";

std::string OneAndAHalf() {
  std::ostringstream text;
  text << 1.5;
  return text.str();
}

}  // namespace

CommaLocale::CommaLocale() {
  folder_ = ::testing::TempDir() + "timcl_locale_XXXXXX";
  EXPECT_NE(mkdtemp(folder_.data()), nullptr);
  const std::string make =
      "localedef --quiet --no-archive -i de_DE -f UTF-8 '" + folder_ + "/" +
      kName + "'";
  EXPECT_EQ(std::system(make.c_str()), 0)
      << make << ": needs the package locales (tools/install_deps.sh)";
  setenv("LOCPATH", folder_.c_str(), 1);
  EXPECT_NE(std::setlocale(LC_ALL, kName), nullptr);
  EXPECT_STREQ(std::localeconv()->decimal_point, ",");
  EXPECT_NO_THROW(std::locale::global(std::locale(kName)));
  EXPECT_EQ(OneAndAHalf(), "1,5");
}

CommaLocale::~CommaLocale() {
  std::locale::global(std::locale::classic());
  std::setlocale(LC_ALL, "C");
  unsetenv("LOCPATH");
  std::filesystem::remove_all(folder_);
}

}  // namespace tim::testing
