// The kernels and launches of probes.
#include "runtime/probes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/str_cat.h"

namespace tim::runtime {
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

constexpr char kReadText[] = R"cl(
// out[i] = sum of `count` vectors that are `stride` apart; the first is
// i * begin.
__kernel void read_sum(__global const float* in, int in_offset,
                       __global float* out, int out_offset, int count,
                       int stride, int begin) {
  const int i = get_global_id(0);
  __global const FLOATN* first =
      (__global const FLOATN*)(in + in_offset) + (size_t)i * begin;
  FLOATN a = (FLOATN)(0.0f), b = a, c = a, d = a;
  for (int k = 0; k < count; k += 4) {
    a += first[(size_t)k * stride];
    b += first[(size_t)(k + 1) * stride];
    c += first[(size_t)(k + 2) * stride];
    d += first[(size_t)(k + 3) * stride];
  }
  ((__global FLOATN*)(out + out_offset))[i] = a + b + c + d;
}
)cl";

constexpr char kLaunchText[] = R"cl(
__kernel void launch(__global float* out, int out_offset) {
  out[out_offset] = 1.0f;
}
)cl";

bool IsCpu(const ir::DeviceInfo& device) {
  return device.device_class == ir::DeviceClass::kCpu;
}

// Lanes of a GPU are items.
int WidthFor(const ir::DeviceInfo& device) {
  return IsCpu(device) ? device.float_vector_width : 1;
}

}  // namespace

ProbeBuilder::ProbeBuilder(const device::Devices& devices) {
  probe_.plan.graph = "probe";
  for (const auto& device : devices) {
    probe_.plan.devices.push_back(device->info());
  }
}

int ProbeBuilder::AddMemory(int64_t bytes) {
  ir::Plan& plan = probe_.plan;
  plan.slots.push_back({.device = kDevice,
                        .index = static_cast<int>(plan.arenas.size()),
                        .bytes = bytes});
  plan.arenas.push_back({.device = kDevice, .bytes = bytes});
  return static_cast<int>(plan.slots.size()) - 1;
}

void ProbeBuilder::AddStep(const ir::KernelLaunch& launch,
                           std::vector<int> operands) {
  std::vector<bool> written(operands.size());
  written.back() = true;
  probe_.plan.steps.push_back({.label = launch.function,
                               .device = kDevice,
                               .action = launch,
                               .operands = std::move(operands),
                               .written = std::move(written),
                               .waits = {}});
}

Probe ProbeBuilder::Take(double work) {
  probe_.work = work;
  return std::move(probe_);
}

ir::KernelLaunch ProbeBuilder::Launch(const char* text, const char* function,
                                      int operands, int64_t items,
                                      int64_t group, int width) {
  ir::KernelLaunch launch;
  launch.source = StrCat("probe.", function);
  launch.text = text;
  launch.function = function;
  launch.options =
      StrCat("-DFLOATN=float", width == 1 ? std::string() : StrCat(width));
  for (int i = 0; i < operands; ++i) {
    launch.arguments.emplace_back(ir::TensorArg{.operand = i});
  }
  launch.range.global[0] = items;
  launch.range.local = {group, 1, 1};
  return launch;
}

ProbeItems ItemsFor(const ir::DeviceInfo& device, int64_t per_unit) {
  if (IsCpu(device)) return {per_unit * device.compute_units, 1};
  constexpr int64_t kGroup = 256;
  constexpr int64_t kGroups = 16;  // on a unit, so that some wait for memory
  const int64_t group = std::min(kGroup, device.max_work_group_size);
  return {group * kGroups * device.compute_units, group};
}

Probe ChainsProbe(const device::Devices& devices, const char* text,
                  const char* function, int width, int32_t rounds,
                  double work) {
  const ProbeItems shape = ItemsFor(devices[kDevice]->info(), 8);
  ProbeBuilder builder(devices);
  ir::KernelLaunch launch =
      ProbeBuilder::Launch(text, function, 1, shape.items, shape.group, width);
  launch.arguments.emplace_back(rounds);
  builder.AddStep(launch, {builder.AddMemory(shape.items * width * 4)});
  return builder.Take(work * kChains * rounds *
                      static_cast<double>(shape.items * width));
}

Probe FmaProbe(const device::Devices& devices, int32_t rounds) {
  return ChainsProbe(devices, kFmaText, "fma_chains",
                     WidthFor(devices[kDevice]->info()), rounds, 2.0);
}

Probe ReadProbe(const device::Devices& devices, int64_t bytes) {
  const ir::DeviceInfo& info = devices[kDevice]->info();
  const int width = WidthFor(info);
  const int64_t vector_bytes = int64_t{4} * width;
  const ProbeItems shape = ItemsFor(info, 16);
  const int64_t count =
      std::max<int64_t>(4, bytes / (shape.items * vector_bytes) / 4 * 4);
  ProbeBuilder builder(devices);
  ir::KernelLaunch launch = ProbeBuilder::Launch(
      kReadText, "read_sum", 2, shape.items, shape.group, width);
  // A CPU's item has a piece of its own, a GPU's neighbours read neighbours.
  const auto stride = static_cast<int32_t>(IsCpu(info) ? 1 : shape.items);
  const auto begin = static_cast<int32_t>(IsCpu(info) ? count : 1);
  launch.arguments.emplace_back(static_cast<int32_t>(count));
  launch.arguments.emplace_back(stride);
  launch.arguments.emplace_back(begin);
  const int64_t total = shape.items * count * vector_bytes;
  const int in = builder.AddMemory(total);
  builder.AddStep(launch, {in, builder.AddMemory(shape.items * vector_bytes)});
  return builder.Take(static_cast<double>(total));
}

Probe LaunchProbe(const device::Devices& devices, int launches) {
  ProbeBuilder builder(devices);
  const int out = builder.AddMemory(64);
  for (int i = 0; i < launches; ++i) {
    builder.AddStep(ProbeBuilder::Launch(kLaunchText, "launch", 1, 1, 1, 1),
                    {out});
  }
  return builder.Take(launches);
}

}  // namespace tim::runtime
