// Names by which the compiler and devices know composites that are parts.
#ifndef TIM_IR_PART_NAMES_H_
#define TIM_IR_PART_NAMES_H_

#include <string_view>

namespace tim::ir {

/// Parts (see PartDef) are composites of this name and the device's kind, which
/// one kernel of the device takes.
inline constexpr char kPartPrefix[] = "part.";
/// The name of that kernel is the device's kind and this.
inline constexpr char kPartKernel[] = ".part";
inline bool IsPartKernel(std::string_view name) {
  return name.ends_with(kPartKernel);
}
/// An attribute of their nodes: PartClaim::microseconds.
inline constexpr char kPartMicroseconds[] = "microseconds";

}  // namespace tim::ir

#endif  // TIM_IR_PART_NAMES_H_
