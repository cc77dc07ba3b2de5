// Rules for dividing a graph among several devices.
#ifndef TIM_COMPILER_POLICY_H_
#define TIM_COMPILER_POLICY_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "compiler/memory/memory_planner.h"

namespace tim::compiler {

enum class Objective : uint8_t {
  kLatency,     ///< Time of one run.
  kThroughput,  ///< Time of the busiest device or link over many runs.
  kSerial,      ///< Sum of the times of all steps.
};
/// Parts that a device compiles as a whole.
enum class GraphParts : uint8_t { kAuto, kOff, kPrefer };
/// Sharing of a batch's items among the devices.
enum class Split : uint8_t { kOff, kBatch, kAuto };
/// Sources of the figures of links.
enum class LinkFigures : uint8_t {
  kByDevices,  ///< Measured where there are several devices beside the host.
  kMeasure,
  kAssume,
};

/// Devices are measured, or taken as they describe themselves.
enum class Calibrating : uint8_t {
  kByDevices,  ///< If there are several beside the host.
  kOff,
  kOn,
};

struct Policy {
  Objective objective = Objective::kLatency;
  /// False: a step that only the host can run fails Compile.
  bool host_fallback = true;
  int max_parts = 32;       ///< On devices beside the host.
  double min_gain_us = 20;  ///< Least predicted gain of a part.
  GraphParts graph_parts = GraphParts::kAuto;
  Split split = Split::kOff;
  int pipeline = 0;  ///< Stages; 0: none are made.
  int streams = 1;   ///< Per device; 0: as many as pay.
  LinkFigures links = LinkFigures::kByDevices;
  Calibrating calibrate = Calibrating::kByDevices;
  MemorySolver memory = MemorySolver::kAuto;  ///< Solver of all arenas.
  bool operator==(const Policy&) const = default;
};

/// "objective=latency;max_parts=4".  kInvalidArgument names an unknown key or
/// value, and the legal ones, and a key that is given twice.
Result<Policy> ParsePolicy(std::string_view text);

/// Keys that differ from the default, as ParsePolicy() reads them.
std::string ToString(const Policy& policy);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_POLICY_H_
