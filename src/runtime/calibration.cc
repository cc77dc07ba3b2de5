// Measures devices with probes.
#include "runtime/calibration.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "base/fork/per_process.h"
#include "base/log.h"
#include "base/str_cat.h"
#include "device/host/host_device.h"
#include "runtime/executable.h"
#include "runtime/execution_context.h"
#include "runtime/probes.h"
#include "runtime/stored_figures.h"

namespace tim::runtime {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// The time of all measurements of a device.
constexpr Seconds kBudget{0.8};
// A run that is long beside its launch.
constexpr Seconds kLongEnough{0.01};

struct Known {
  std::mutex mutex;
  std::map<std::string, Calibration> calibrations;
};

constinit GlobalPerProcess<Known> g_known;

class Calibrator {
 public:
  Calibrator(device::Devices devices,
             std::shared_ptr<device::BinaryStore> store)
      : devices_(std::move(devices)), store_(std::move(store)) {}

  Result<Calibration> Measure() {
    Calibration found;
    TIM_ASSIGN_OR_RETURN(const double launches, Rate(LaunchProbe(devices_, 1)));
    found.launch_us = 1e6 / launches;
    TIM_ASSIGN_OR_RETURN(found.gflops, Gflops());
    TIM_ASSIGN_OR_RETURN(const double bytes,
                         Rate(ReadProbe(devices_, BytesToRead())));
    found.gbytes_per_second = 1e-9 * bytes;
    return found;
  }

 private:
  const ir::DeviceInfo& info() const { return devices_[1]->info(); }

  // More than caches hold, and a small part of the memory.
  int64_t BytesToRead() const {
    constexpr int64_t kBytes = int64_t{256} << 20;
    int64_t bytes = kBytes;
    for (const int64_t most :
         {info().global_memory_bytes / 16, info().max_allocation_bytes / 2}) {
      if (most > 0) bytes = std::min(bytes, most);
    }
    return bytes;
  }

  // Longer chains until a run is long enough.
  Result<double> Gflops() {
    constexpr int32_t kFirst = 256;
    constexpr int32_t kMost = kFirst << 16;
    double best = 0;
    for (int32_t rounds = kFirst; rounds <= kMost; rounds *= 4) {
      TIM_ASSIGN_OR_RETURN(const double rate, Rate(FmaProbe(devices_, rounds)));
      best = std::max(best, 1e-9 * rate);
      if (last_ >= kLongEnough || used_ >= kBudget / 2) break;
    }
    return best;
  }

  // Work per second of the fastest of some runs, at least two: context and
  // first run are the device's warm-up.
  Result<double> Rate(Probe probe) {
    constexpr int kRuns = 20;
    TIM_ASSIGN_OR_RETURN(
        const auto executable,
        Executable::Create(std::move(probe.plan), devices_, store_));
    const Clock::time_point begin = Clock::now();
    TIM_ASSIGN_OR_RETURN(const auto context,
                         ExecutionContext::Create(executable));
    last_ = Seconds::max();
    for (int run = 0; run < kRuns; ++run) {
      const Clock::time_point start = Clock::now();
      TIM_RETURN_IF_ERROR(context->Run(std::span<const PortMemory>(),
                                       std::span<const PortMemory>(), nullptr));
      last_ = std::min<Seconds>(last_, Clock::now() - start);
      const bool enough = Clock::now() - begin >= kBudget / 4;
      if (run > 0 && enough) break;
    }
    used_ += Clock::now() - begin;
    return probe.work / std::max(last_.count(), 1e-9);
  }

  const device::Devices devices_;
  const std::shared_ptr<device::BinaryStore> store_;
  Seconds used_{0};
  Seconds last_{0};  // of the fastest run of the last probe
};

Status CheckKind(const ir::DeviceInfo& info) {
  if (info.kind == "opencl") return OkStatus();
  return Unimplemented("a device of kind '", info.kind,
                       "' runs no OpenCL C, by which devices are measured");
}

// In the process, else in the store.  The caller holds the lock.
std::optional<Calibration> FindKept(const ir::DeviceInfo& info,
                                    device::BinaryStore& store, Known& known) {
  const std::string key = CalibrationKey(info);
  if (const auto found = known.calibrations.find(key);
      found != known.calibrations.end()) {
    return found->second;
  }
  const auto text = store.Load(key);
  const auto stored = text ? DecodeCalibration(*text) : std::nullopt;
  if (stored) known.calibrations[key] = *stored;
  return stored;
}

// The caller holds the lock.
Result<Calibration> MeasureAndKeep(
    const std::shared_ptr<device::Device>& device,
    const std::shared_ptr<device::BinaryStore>& store, Known& known) {
  const ir::DeviceInfo& info = device->info();
  auto measured =
      Calibrator({device::CreateHostDevice(), device}, store).Measure();
  if (!measured.ok()) {
    return measured.status().WithContext(
        StrCat("measuring what ", info.name, " reaches"));
  }
  TIM_LOG(kInfo, info.name, " reaches ", measured->gflops, " GFLOP/s, ",
          measured->gbytes_per_second, " GB/s; a launch takes ",
          measured->launch_us, " us");
  const std::string key = CalibrationKey(info);
  store->Store(key, EncodeCalibration(*measured));
  known.calibrations[key] = *measured;
  return measured;
}

}  // namespace

std::string CalibrationKey(const ir::DeviceInfo& device) {
  return StrCat("calibration 1|", device.name, "|", device.driver, "|",
                device.compute_units, "|", ToString(device.device_class));
}

std::string EncodeCalibration(const Calibration& calibration) {
  return EncodeFigures({calibration.gflops, calibration.gbytes_per_second,
                        calibration.launch_us});
}

std::optional<Calibration> DecodeCalibration(std::string_view text) {
  Calibration found;
  if (!DecodeFigures(
          text, {&found.gflops, &found.gbytes_per_second, &found.launch_us})) {
    return std::nullopt;
  }
  return found;
}

Result<Calibration> Calibrate(
    const std::shared_ptr<device::Device>& device,
    const std::shared_ptr<device::BinaryStore>& store) {
  TIM_RETURN_IF_ERROR(CheckKind(device->info()));
  Known& known = g_known.Get();
  const std::lock_guard lock(known.mutex);
  if (const auto kept = FindKept(device->info(), *store, known)) return *kept;
  return MeasureAndKeep(device, store, known);
}

Result<Calibration> CalibrateAnew(
    const std::shared_ptr<device::Device>& device,
    const std::shared_ptr<device::BinaryStore>& store) {
  TIM_RETURN_IF_ERROR(CheckKind(device->info()));
  Known& known = g_known.Get();
  const std::lock_guard lock(known.mutex);
  return MeasureAndKeep(device, store, known);
}

std::optional<Calibration> KnownCalibration(const ir::DeviceInfo& device,
                                            device::BinaryStore& store) {
  Known& known = g_known.Get();
  const std::lock_guard lock(known.mutex);
  return FindKept(device, store, known);
}

}  // namespace tim::runtime
