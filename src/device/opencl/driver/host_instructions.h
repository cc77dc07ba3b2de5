// Abilities of this machine's processor that a driver of OpenCL for it does not
// tell.
#ifndef TIM_DEVICE_OPENCL_DRIVER_HOST_INSTRUCTIONS_H_
#define TIM_DEVICE_OPENCL_DRIVER_HOST_INSTRUCTIONS_H_

namespace tim::device {

/// True where each processor sees the stores of another in the order in which
/// they were made.
bool HostOrdersStores();

/// True where there are the instructions of AVX512-VNNI.
bool HostHasVnni();

/// True where there are instructions of AMX on bytes, and Linux lets this
/// process use them.  A call asks for the permission, which all threads then
/// have, and forked processes inherit.  Any thread.
bool HostGrantsAmx();

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_DRIVER_HOST_INSTRUCTIONS_H_
