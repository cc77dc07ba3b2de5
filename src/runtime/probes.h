// Plans that make a device do as much as it can of one thing.
#ifndef TIM_RUNTIME_PROBES_H_
#define TIM_RUNTIME_PROBES_H_

#include <cstdint>
#include <vector>

#include "device/device.h"
#include "ir/plan.h"

namespace tim::runtime {

struct Probe {
  ir::Plan plan;
  double work = 0;  ///< Operations, bytes or launches of one run.
};

/// Makes plans without inputs and outputs for devices[1] of a context, which
/// runs OpenCL C; devices[0] is the host.
class ProbeBuilder {
 public:
  explicit ProbeBuilder(const device::Devices& devices);

  /// The slot of an arena of its own.
  int AddMemory(int64_t bytes);
  /// A step on `operands`, the last of which is its result.  The launch's
  /// arguments begin with one per operand.
  void AddStep(const ir::KernelLaunch& launch, std::vector<int> operands);
  Probe Take(double work);

  /// Launches `function` of `text` on so many operands and items, with
  /// work-groups of `group` items; FLOATN is a vector of `width` floats.
  static ir::KernelLaunch Launch(const char* text, const char* function,
                                 int operands, int64_t items, int64_t group,
                                 int width);

 private:
  Probe probe_;
};

/// How many items keep the device busy, and in which groups.
struct ProbeItems {
  int64_t items = 1;
  int64_t group = 1;
};
/// `per_unit` items for each compute unit of a CPU, more for a GPU.
ProbeItems ItemsFor(const ir::DeviceInfo& device, int64_t per_unit);

/// Chains of vectors of `width` numbers of 4 bytes in registers: 12 per item,
/// `rounds` operations long, of which each element counts as `work`.
Probe ChainsProbe(const device::Devices& devices, const char* text,
                  const char* function, int width, int32_t rounds, double work);
/// Chains of float32 multiply-adds, on every compute unit.
Probe FmaProbe(const device::Devices& devices, int32_t rounds);
/// Sums about so many bytes.
Probe ReadProbe(const device::Devices& devices, int64_t bytes);
/// `launches` times a kernel of one work-item that does next to nothing.
Probe LaunchProbe(const device::Devices& devices, int launches);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_PROBES_H_
