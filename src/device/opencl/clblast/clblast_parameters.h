// CLBlast's tuning parameters for a device, kept in the program cache.
#ifndef TIM_DEVICE_OPENCL_CLBLAST_CLBLAST_PARAMETERS_H_
#define TIM_DEVICE_OPENCL_CLBLAST_CLBLAST_PARAMETERS_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "base/options.h"
#include "base/status.h"
#include "device/device.h"
#include "device/opencl/driver/cl_api.h"

namespace tim::device {

/// A device, and what stands for it in the keys of the cache.
struct ClblastDevice {
  cl::Context context;
  cl::Device device;
  std::string identity;
};

/// How much tuning tries: matrices of `size` rows and columns, and which part
/// of all configurations, in (0, 1].
struct TuningEffort {
  size_t size = 1024;
  double fraction = 1.0 / 512;
  size_t direct_size = 256;
  double direct_fraction = 1.0 / 256;
};

/// Gives CLBlast the parameters of its two matrix products that `store` keeps
/// for the device.  True where it keeps those of both.  Parameters that CLBlast
/// does not take count as absent.
bool LoadClblastParameters(const ClblastDevice& device, BinaryStore& store);

/// Finds the parameters, gives them to CLBlast and keeps them.
Status TuneClblast(const ClblastDevice& device, const TuningEffort& effort,
                   BinaryStore& store);

/// Loads the parameters, and tunes where there are none and the options ask for
/// it.  A failure costs a warning.
void PrepareClblast(const ClblastDevice& device, const DeviceOptions& options,
                    BinaryStore& store);

/// The key of the parameters of `kernel`, "Xgemm" or "XgemmDirect".
std::string ClblastParametersKey(const ClblastDevice& device,
                                 std::string_view kernel);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_CLBLAST_CLBLAST_PARAMETERS_H_
