// What the choice of kernels and layouts is made from.
#ifndef TIM_COMPILER_CANDIDATES_H_
#define TIM_COMPILER_CANDIDATES_H_

#include <string>
#include <vector>

#include "compiler/location_set.h"
#include "compiler/module.h"
#include "compiler/offers.h"
#include "ir/layout.h"

namespace tim::compiler {

/// The operator that brings a value to another layout.
inline constexpr char kReorderOp[] = "tim.Reorder";

/// Where a value may be: device and layout.
struct Location {
  int device = 0;
  ir::Layout layout;
  bool operator==(const Location&) const = default;
};

/// Numbers the locations that occur in one graph, as many as a LocationSet has.
class LocationTable {
 public:
  /// The number of a location, kNoLocation where the table is full.
  int Intern(const Location& location);
  const Location& operator[](int index) const { return locations_[index]; }

 private:
  std::vector<Location> locations_;
};
inline constexpr int kNoLocation = -1;

/// A host step beside another device is the last resort: a second, so that no
/// rough estimate of a kernel or of a transfer makes it one.
inline constexpr double kHostStepPenalty = 1e6;

/// One variant of running a node.
struct Candidate {
  Placement placement;
  std::vector<int> inputs;   ///< Locations; kNoLocation where absent.
  std::vector<int> outputs;  ///< Locations; kNoLocation where not wanted.
  double cost = 0;           ///< Microseconds.
  std::string label;
};

/// Microseconds that a node placed so is thought to take: its cost without
/// kHostStepPenalty.
double PredictedUs(const Placement& placement, double cost);

struct NodeCandidates {
  std::vector<Candidate> candidates;
  std::vector<std::string> refused;  ///< "kernel: reason"
};

/// Variants of running a node on a device, -1: on all.  None where it is
/// pinned to another one.
NodeCandidates CandidatesOn(const Module& module, const ir::Node& node,
                            int device, LocationTable& locations);

/// Variants of running a node where it must run; an error where there is none,
/// or only a host
/// step and strict mode forbids it.
Result<NodeCandidates> EnumerateCandidates(const Module& module,
                                           const ir::Node& node,
                                           LocationTable& locations);

/// One copy of a value to another location: a reorder or a transfer.
struct Move {
  int from = kNoLocation;
  int to = kNoLocation;
};

/// The moves that bring a value of `bytes` bytes, present at `present`, to
/// `target`; none where it is there.  Adds their cost.
std::vector<Move> Route(const Module& module, LocationTable& locations,
                        const LocationSet& present, int target, double bytes,
                        double* cost);

}  // namespace tim::compiler

#endif  // TIM_COMPILER_CANDIDATES_H_
