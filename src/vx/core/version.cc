// The linked library's version, from version.bzl by way of both builds.
#include "tim/vx/version.h"

#include <string_view>

namespace tim::vx {
namespace {

constexpr int NumberOf(std::string_view text) {
  int parts[3] = {};
  int part = 0;
  for (const char c : text) {
    if (c == '.') {
      ++part;
    } else {
      parts[part] = parts[part] * 10 + (c - '0');
    }
  }
  return TIM_CL_MAKE_VERSION(parts[0], parts[1], parts[2]);
}

static_assert(NumberOf(TIM_CL_VERSION) == TIM_CL_VERSION_NUMBER,
              "include/tim/vx/version.h must have the version of version.bzl");

}  // namespace

int VersionNumber() { return NumberOf(TIM_CL_VERSION); }

const char* VersionText() { return TIM_CL_VERSION; }

}  // namespace tim::vx
