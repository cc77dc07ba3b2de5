// Real numbers in text that a compiler reads as the very same ones.
#include "base/cpp_literals.h"

#include <cmath>

#include "base/str_cat.h"

namespace tim {
namespace {

template <typename T>
std::string RealLiteral(T value, const char* type, const char* suffix) {
  const std::string limits = StrCat("std::numeric_limits<", type, ">::");
  if (std::isnan(value)) return limits + "quiet_NaN()";
  if (std::isinf(value)) {
    return StrCat(value < 0 ? "-" : "", limits, "infinity()");
  }
  std::string text = StrCat(value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + suffix;
}

}  // namespace

std::string FloatLiteral(float value) {
  return RealLiteral(value, "float", "f");
}

std::string DoubleLiteral(double value) {
  return RealLiteral(value, "double", "");
}

}  // namespace tim
