// Profiles: where the time of a graph's runs goes; an addition to TIM-VX.
#ifndef TIM_VX_PROFILE_H_
#define TIM_VX_PROFILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tim/vx/export.h"

namespace tim {
namespace vx {

/// Clock that a time is of.
enum class ProfileClock {
  DEVICE,  ///< The device's own, of its commands alone.
  HOST,    ///< The host's, around each launch and the wait for it, whose cost
           ///< (ProfiledDevice::launch_us) is in the time.
};

/// Rates that a device reaches, measured with small kernels.  All 0: not
/// measured, as of the host.
struct ProfiledDevice {
  std::string name;
  double gflops = 0;             ///< 1e9 float32 operations per second.
  double gbytes_per_second = 0;  ///< 1e9 bytes read per second, from memory
                                 ///< beyond the caches.
  double launch_us = 0;  ///< Microseconds of a launch that does nothing, and of
                         ///< the wait for it.
};

/// An operation of the compiled graph: what is left after fusion, and copies.
struct ProfiledOperation {
  /// Name as in messages: "Conv2d#3 'stem'"; of fused operations the names of
  /// all.
  std::string name;
  /// "Conv2d", "Copy"; empty where a stored plan does not say.
  std::string type;
  int device = 0;  ///< Index in GraphProfile::devices.
  /// "conv2d_nchw16c_f32"; "eval" is the host's reference, "copy" a copy.
  std::string kernel;
  /// Why the kernel was taken, and "kernel: reason" of those that were not.
  std::string chosen;
  std::vector<std::string> refused;
  int64_t calls = 0;        ///< Runs that were observed.
  int64_t launches = 0;     ///< Launches of one call.
  double microseconds = 0;  ///< Time of one call, the mean.
  double share = 0;         ///< Part of the time of all operations, 0 to 1.
  ProfileClock clock = ProfileClock::DEVICE;
  /// Estimates, from the operation's shapes: what one call computes by the
  /// operator's formula, whatever its kernel does, and the bytes of its
  /// operands, each once.  0: not known, as of custom operators.
  double operations = 0;
  double bytes = 0;
  /// The estimates by the time, in 1e9 per second.
  double gflops = 0;
  double gbytes_per_second = 0;
};

/// Runs that were done step by step: operation after operation, each launched
/// and waited for by itself, so that a run takes longer than others.
struct GraphProfile {
  std::string graph;
  int64_t runs = 0;         ///< 0: there is no profile.
  double microseconds = 0;  ///< Time of one run by the host's clock, the mean.
  std::vector<ProfiledDevice> devices;
  std::vector<ProfiledOperation> operations;  ///< The first to run first.

  explicit operator bool() const { return runs > 0; }
};

/// A table of it, the longest operations first, as TIMCL_PROFILE=1 prints it.
TIM_VX_API std::string ToString(const GraphProfile& profile);

}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_PROFILE_H_
