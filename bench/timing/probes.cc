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

constexpr char kAmxText[] = R"cl(
// As fma_chains: products of tiles of 16 rows of 64 bytes, added to four sums.
#define PRODUCT(sum, x, w) \
  __asm__ volatile("tdpbusd %tmm" #w ", %tmm" #x ", %tmm" #sum)
__kernel void amx_chains(__global int* out, int out_offset, int rounds) {
  const int i = get_global_id(0);
  uchar shapes[64] = {1};
  for (int tile = 0; tile < 8; ++tile) {
    shapes[16 + 2 * tile] = 64;
    shapes[48 + tile] = 16;
  }
  __asm__ volatile("ldtilecfg (%0)" : : "r"(shapes) : "memory");
  for (int round = 0; round < rounds; ++round) {
    #pragma unroll
    for (int times = 0; times < 3; ++times) {
      PRODUCT(0, 4, 6);
      PRODUCT(1, 4, 7);
      PRODUCT(2, 5, 6);
      PRODUCT(3, 5, 7);
    }
  }
  __asm__ volatile("tilerelease");
  ((__global int16*)(out + out_offset))[i] = (int16)(i);
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

Probe AmxProbe(const Devices& devices) {
  constexpr int kLanes = 16;
  constexpr int kRows = 16;
  return runtime::ChainsProbe(devices, kAmxText, "amx_chains", kLanes,
                              kRounds / kRows, 128.0 * kRows);
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
