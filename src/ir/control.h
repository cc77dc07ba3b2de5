// Operators that run graphs which are among their attributes.
#ifndef TIM_IR_CONTROL_H_
#define TIM_IR_CONTROL_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace tim::ir {

/// Operands are as OpSchema::control says.
enum class ControlKind : uint8_t {
  /// Inputs: a condition of one element, then those of both graphs.  Outputs:
  /// those of the graph that the condition chooses.
  kIf,
  /// Inputs: the state, which is the input of both graphs.  Outputs: the state
  /// after the last trip, then per scan the slices that all trips made.
  kWhile,
};
const char* ToString(ControlKind kind);  ///< "if", "while"

// Attributes.
inline constexpr char kThenGraph[] = "then_graph";
inline constexpr char kElseGraph[] = "else_graph";
inline constexpr char kConditionGraph[] = "condition";
inline constexpr char kBodyGraph[] = "body";
/// Trips at most; -1: as many as the condition asks for.
inline constexpr char kMaxTrips[] = "max_trips";
/// Number of the body's outputs, its last ones, that are slices of scans.
inline constexpr char kScanOutputs[] = "scan_outputs";

/// Names of the attributes that are graphs: of kIf `then` and `else`, of kWhile
/// condition and body.
std::vector<std::string_view> GraphNames(ControlKind kind);
/// Number of the node's inputs before those of its graphs.
constexpr int FirstGraphInput(ControlKind kind) {
  return kind == ControlKind::kIf ? 1 : 0;
}

}  // namespace tim::ir

#endif  // TIM_IR_CONTROL_H_
