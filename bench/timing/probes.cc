// Kernels of probes that only benches need.
#include "bench/timing/probes.h"

namespace tim::bench {
namespace {

using runtime::ProbeBuilder;

constexpr int32_t kRounds = 100000;

constexpr char kVnniText[] = R"cl(
// As fma_chains.
__kernel void vnni_chains(__global int* out, int out_offset, int rounds) {
  const int i = get_global_id(0);
  const int16 bytes = (int16)(0x01020304 + i);
  int16 x[12];
  #pragma unroll
  for (int chain = 0; chain < 12; ++chain) x[chain] = (int16)(i + chain);
  for (int round = 0; round < rounds; ++round) {
    #pragma unroll
    for (int chain = 0; chain < 12; ++chain)
      __asm__("vpdpbusd %1, %1, %0" : "+v"(x[chain]) : "v"(bytes));
  }
  #pragma unroll
  for (int chain = 1; chain < 12; ++chain) x[0] += x[chain];
  ((__global int16*)(out + out_offset))[i] = x[0];
}
)cl";

constexpr char kCopyText[] = R"cl(
// One item = one vector.
__kernel void copy_vector(__global const float* in, int in_offset,
                          __global float* out, int out_offset) {
  const int i = get_global_id(0);
  ((__global FLOATN*)(out + out_offset))[i] =
      ((__global const FLOATN*)(in + in_offset))[i];
}
)cl";

}  // namespace

Probe FmaProbe(const Devices& devices) {
  return runtime::FmaProbe(devices, kRounds);
}

Probe VnniProbe(const Devices& devices) {
  constexpr int kLanes = 16;
  return runtime::ChainsProbe(devices, kVnniText, "vnni_chains", kLanes,
                              kRounds, 8.0);
}

Probe ReadProbe(const Devices& devices) {
  return runtime::ReadProbe(devices, int64_t{512} << 20);
}

Probe CopyProbe(const Devices& devices) {
  constexpr int64_t kBytes = int64_t{16} << 20;
  constexpr int kTimes = 4;
  const int width = devices[1]->info().float_vector_width;
  ProbeBuilder builder(devices);
  const ir::KernelLaunch launch = ProbeBuilder::Launch(
      kCopyText, "copy_vector", 2, kBytes / 4 / width, 64, width);
  const int in = builder.AddMemory(kBytes);
  const int out = builder.AddMemory(kBytes);
  for (int i = 0; i < kTimes; ++i) builder.AddStep(launch, {in, out});
  return builder.Take(2.0 * kTimes * kBytes);
}

}  // namespace tim::bench
