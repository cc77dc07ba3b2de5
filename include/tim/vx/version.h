// The version of the library: of these headers, and of what is linked.
#ifndef TIM_VX_VERSION_H_
#define TIM_VX_VERSION_H_

#include "tim/vx/export.h"

/// The headers' version, by https://semver.org.
#define TIM_CL_VERSION_MAJOR 1
#define TIM_CL_VERSION_MINOR 0
#define TIM_CL_VERSION_PATCH 0

/// A version as one number, each part below 1000, to compare in #if:
/// `#if TIM_CL_VERSION_NUMBER >= TIM_CL_MAKE_VERSION(1, 2, 0)`.
#define TIM_CL_MAKE_VERSION(major, minor, patch) \
  ((major)*1000000 + (minor)*1000 + (patch))
#define TIM_CL_VERSION_NUMBER                                     \
  TIM_CL_MAKE_VERSION(TIM_CL_VERSION_MAJOR, TIM_CL_VERSION_MINOR, \
                      TIM_CL_VERSION_PATCH)

namespace tim {
namespace vx {

/// The linked library's version, as TIM_CL_VERSION_NUMBER is the headers'.  A
/// program fits libraries of the same major number that are not older than its
/// headers.
TIM_VX_API int VersionNumber();
/// The same as text, "1.0.0".
TIM_VX_API const char* VersionText();

}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_VERSION_H_
