#include "bench/timing/probes.h"

#include <string>
#include <utility>
#include <vector>

namespace tim::bench {
namespace {

constexpr int kDevice = 1;

// 12 chains hide the latency of two pipelines and fit into 16 registers.
constexpr int kChains = 12;
// Contracted, a product and a sum are one instruction where there is one.
constexpr char kFmaText[] = R"cl(
#pragma OPENCL FP_CONTRACT ON
// out[i] = sums of chains of x * 0.5 + 1; one item = 12 chains of `rounds`.
__kernel void fma_chains(__global float* out, int out_offset, int rounds) {
  const int i = get_global_id(0);
  const FLOATN scale = (FLOATN)(0.5f);
  const FLOATN step = (FLOATN)(1.0f);
  FLOATN x[12];
  #pragma unroll
  for (int chain = 0; chain < 12; ++chain) x[chain] = (FLOATN)(i + chain);
  for (int round = 0; round < rounds; ++round) {
    #pragma unroll
    for (int chain = 0; chain < 12; ++chain)
      x[chain] = x[chain] * scale + step;
  }
  #pragma unroll
  for (int chain = 1; chain < 12; ++chain) x[0] += x[chain];
  ((__global FLOATN*)(out + out_offset))[i] = x[0];
}
)cl";

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

constexpr char kReadText[] = R"cl(
// out[i] = sum of the i-th piece of `count` vectors; one item = one piece.
__kernel void read_sum(__global const float* in, int in_offset,
                       __global float* out, int out_offset, int count) {
  const int i = get_global_id(0);
  __global const FLOATN* piece =
      (__global const FLOATN*)(in + in_offset) + (size_t)i * count;
  FLOATN a = (FLOATN)(0.0f), b = a, c = a, d = a;
  for (int k = 0; k < count; k += 4) {
    a += piece[k];
    b += piece[k + 1];
    c += piece[k + 2];
    d += piece[k + 3];
  }
  ((__global FLOATN*)(out + out_offset))[i] = a + b + c + d;
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

constexpr char kLaunchText[] = R"cl(
__kernel void launch(__global float* out, int out_offset) {
  out[out_offset] = 1.0f;
}
)cl";

ir::Plan EmptyPlan(const Devices& devices) {
  ir::Plan plan;
  plan.graph = "probe";
  for (const auto& device : devices) plan.devices.push_back(device->info());
  return plan;
}

// A slot in an arena of its own.
int AddMemory(int64_t bytes, ir::Plan* plan) {
  plan->slots.push_back({.device = kDevice,
                         .index = static_cast<int>(plan->arenas.size()),
                         .bytes = bytes});
  plan->arenas.push_back({.device = kDevice, .bytes = bytes});
  return static_cast<int>(plan->slots.size()) - 1;
}

std::string VectorOption(int width) {
  return StrCat("-DFLOATN=float", width == 1 ? "" : StrCat(width));
}

// One argument per operand, one item per work-group.
ir::KernelLaunch Launch(const char* text, const char* function, int operands,
                        int64_t items) {
  ir::KernelLaunch launch;
  launch.source = StrCat("bench.", function);
  launch.text = text;
  launch.function = function;
  for (int i = 0; i < operands; ++i) {
    launch.arguments.emplace_back(ir::TensorArg{.operand = i});
  }
  launch.range.global[0] = items;
  launch.range.local = {1, 1, 1};
  return launch;
}

// The last operand is the result.
void AddStep(ir::KernelLaunch launch, std::vector<int> operands,
             ir::Plan* plan) {
  std::vector<bool> written(operands.size());
  written.back() = true;
  plan->steps.push_back({.label = launch.function,
                         .device = kDevice,
                         .action = std::move(launch),
                         .operands = std::move(operands),
                         .written = std::move(written),
                         .waits = {}});
}

// Of vectors of `width` numbers of 4 bytes.
Probe ChainsProbe(const Devices& devices, const char* text,
                  const char* function, int width, double work) {
  constexpr int32_t kRounds = 100000;
  const int64_t items = int64_t{8} * devices[kDevice]->info().compute_units;
  ir::KernelLaunch launch = Launch(text, function, 1, items);
  launch.options = VectorOption(width);
  launch.arguments.emplace_back(kRounds);
  Probe probe{.plan = EmptyPlan(devices)};
  const int out = AddMemory(items * width * 4, &probe.plan);
  AddStep(std::move(launch), {out}, &probe.plan);
  probe.work = work * kChains * kRounds * static_cast<double>(items * width);
  return probe;
}

}  // namespace

Probe FmaProbe(const Devices& devices) {
  return ChainsProbe(devices, kFmaText, "fma_chains",
                     devices[kDevice]->info().float_vector_width, 2.0);
}

Probe VnniProbe(const Devices& devices) {
  constexpr int kLanes = 16;
  return ChainsProbe(devices, kVnniText, "vnni_chains", kLanes, 8.0);
}

Probe ReadProbe(const Devices& devices) {
  constexpr int64_t kBytes = int64_t{512} << 20;
  const ir::DeviceInfo& info = devices[kDevice]->info();
  const int64_t vector_bytes = int64_t{4} * info.float_vector_width;
  const int64_t items = int64_t{16} * info.compute_units;
  const int64_t count = kBytes / (items * vector_bytes) / 4 * 4;
  ir::KernelLaunch launch = Launch(kReadText, "read_sum", 2, items);
  launch.options = VectorOption(info.float_vector_width);
  launch.arguments.emplace_back(static_cast<int32_t>(count));
  Probe probe{.plan = EmptyPlan(devices)};
  const int64_t bytes = items * count * vector_bytes;
  const int in = AddMemory(bytes, &probe.plan);
  const int out = AddMemory(items * vector_bytes, &probe.plan);
  AddStep(std::move(launch), {in, out}, &probe.plan);
  probe.work = static_cast<double>(bytes);
  return probe;
}

Probe CopyProbe(const Devices& devices) {
  constexpr int64_t kBytes = int64_t{16} << 20;
  constexpr int kTimes = 4;
  const ir::DeviceInfo& info = devices[kDevice]->info();
  const int64_t items = kBytes / 4 / info.float_vector_width;
  ir::KernelLaunch launch = Launch(kCopyText, "copy_vector", 2, items);
  launch.options = VectorOption(info.float_vector_width);
  launch.range.local = {64, 1, 1};
  Probe probe{.plan = EmptyPlan(devices)};
  const int in = AddMemory(kBytes, &probe.plan);
  const int out = AddMemory(kBytes, &probe.plan);
  for (int i = 0; i < kTimes; ++i) AddStep(launch, {in, out}, &probe.plan);
  probe.work = 2.0 * kTimes * kBytes;
  return probe;
}

Probe LaunchProbe(const Devices& devices, int launches) {
  Probe probe{.plan = EmptyPlan(devices)};
  const int out = AddMemory(64, &probe.plan);
  for (int i = 0; i < launches; ++i) {
    AddStep(Launch(kLaunchText, "launch", 1, 1), {out}, &probe.plan);
  }
  probe.work = launches;
  return probe;
}

}  // namespace tim::bench
