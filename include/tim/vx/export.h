// The visibility of what the library's binary exports.
#ifndef TIM_VX_EXPORT_H_
#define TIM_VX_EXPORT_H_

/// On classes and functions that the library defines, and on the interfaces
/// that it implements. Nothing else of it can be linked to. Templates and
/// classes that live in headers alone need none.
#if defined(__GNUC__)
#define TIM_VX_API __attribute__((visibility("default")))
#else
#define TIM_VX_API
#endif

#endif  // TIM_VX_EXPORT_H_
