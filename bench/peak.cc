// What this machine can do at most, with all cores; run with --help.
#include <cstdio>
#include <string>

#include "bench/timing/core_to_core.h"
#include "bench/timing/interleaved.h"
#include "bench/timing/json_file.h"
#include "bench/timing/probes.h"
#include "bench/timing/program.h"
#include "bench/timing/timed_plan.h"

namespace tim::bench {
namespace {

constexpr int kBatch = 1000;

Result<nlohmann::json> MeasurePeak(Effort effort) {
  TIM_ASSIGN_OR_RETURN(const Devices devices, MeasuredDevices());
  std::map<std::string, Probe> probes = {
      {"fma", FmaProbe(devices)},
      {"read", ReadProbe(devices)},
      {"copy", CopyProbe(devices)},
      {"launch_batched", runtime::LaunchProbe(devices, kBatch)},
      {"launch_waited", runtime::LaunchProbe(devices, 1)}};
  const bool has_vnni = devices[1]->info().has_vnni;
  if (has_vnni) probes.emplace("vnni", VnniProbe(devices));
  const bool has_amx = devices[1]->info().has_amx;
  if (has_amx) probes.emplace("amx", AmxProbe(devices));
  std::vector<Timed> functions;
  for (const auto& [name, probe] : probes) {
    TIM_ASSIGN_OR_RETURN(functions.emplace_back(),
                         TimedPlan(name, probe.plan, devices));
  }
  TIM_ASSIGN_OR_RETURN(auto seconds, MedianSeconds(functions, effort));
  const auto rate = [&](const std::string& name) {
    return probes.at(name).work / seconds[name];
  };
  nlohmann::json peak = {{"device", devices[1]->info().name},
                         {"fma_gflops", 1e-9 * rate("fma")},
                         {"read_gbps", 1e-9 * rate("read")},
                         {"copy_gbps", 1e-9 * rate("copy")},
                         {"launch_batched_us", 1e6 / rate("launch_batched")},
                         {"launch_waited_us", 1e6 / rate("launch_waited")},
                         {"core_to_core_ns", CoreToCoreNanoseconds()}};
  if (has_vnni) peak["vnni_gops"] = 1e-9 * rate("vnni");
  if (has_amx) peak["amx_gops"] = 1e-9 * rate("amx");
  return peak;
}

Status Execute(const ProgramOptions& options) {
  TIM_ASSIGN_OR_RETURN(const nlohmann::json peak, MeasurePeak(options.effort));
  std::printf("%s\n", peak.dump(2).c_str());
  return WriteJson(peak, options.json_path);
}

}  // namespace
}  // namespace tim::bench

int main(int argc, char** argv) {
  CLI::App app(
      "multiply-adds of float32 and of bytes, reads, copies, launches, and "
      "core-to-core "
      "latency");
  return tim::bench::RunProgram(app, argc, argv, tim::bench::Execute);
}
