#include "device/opencl/clblast/clblast_parameters.h"

#include <charconv>
#include <exception>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/log.h"
#include "device/opencl/clblast/clblast_api.h"
#include "device/opencl/clblast/clblast_status.h"
#include "device/opencl/driver/cl_status.h"

namespace tim::device {
namespace {

using Parameters = std::unordered_map<std::string, size_t>;

constexpr const char* kKernels[] = {"Xgemm", "XgemmDirect"};

// "KWG=32\nMWG=64\n", sorted by name.
std::string ToText(const Parameters& parameters) {
  const std::map<std::string, size_t> sorted(parameters.begin(),
                                             parameters.end());
  std::string text;
  for (const auto& [name, value] : sorted)
    text += StrCat(name, "=", value, "\n");
  return text;
}

std::optional<Parameters> FromText(std::string_view text) {
  Parameters parameters;
  while (!text.empty()) {
    const size_t equals = text.find('=');
    const size_t end = text.find('\n');
    if (equals == text.npos || end == text.npos || equals > end) return {};
    size_t value = 0;
    const auto parsed =
        std::from_chars(text.data() + equals + 1, text.data() + end, value);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + end) return {};
    parameters[std::string(text.substr(0, equals))] = value;
    text.remove_prefix(end + 1);
  }
  return parameters;
}

Status GiveToClblast(const cl::Device& device, const char* kernel,
                     const Parameters& parameters) {
  const auto code = clblast::OverrideParameters(
      device(), kernel, clblast::Precision::kSingle, parameters);
  if (code == clblast::StatusCode::kSuccess) return OkStatus();
  return ClblastStatus(static_cast<int>(code),
                       StrCat("parameters of CLBlast's ", kernel));
}

bool LoadOne(const ClblastDevice& device, const char* kernel,
             BinaryStore& store) {
  const auto text = store.Load(ClblastParametersKey(device, kernel));
  if (!text) return false;
  const auto parameters = FromText(*text);
  if (!parameters) return false;
  const Status given = GiveToClblast(device.device, kernel, *parameters);
  if (!given.ok()) TIM_LOG(kWarning, given.message());
  return given.ok();
}

// `tune` fills the parameters of a kernel, or throws, unlike the rest of
// CLBlast.
template <typename Tune>
Status TuneOne(const ClblastDevice& device, const char* kernel, Tune tune,
               BinaryStore& store) {
  Parameters found;
  const std::string what = StrCat("tuning CLBlast's ", kernel);
  try {
    const int code = static_cast<int>(tune(found));
    if (code != 0) return ClblastStatus(code, what);
  } catch (const std::exception& error) {
    return Status(StatusCode::kInternal, StrCat(what, ": ", error.what()));
  }
  TIM_RETURN_IF_ERROR(GiveToClblast(device.device, kernel, found));
  store.Store(ClblastParametersKey(device, kernel), ToText(found));
  return OkStatus();
}

}  // namespace

std::string ClblastParametersKey(const ClblastDevice& device,
                                 std::string_view kernel) {
  return StrCat("CLBlast ", CLBLAST_VERSION_MAJOR, ".", CLBLAST_VERSION_MINOR,
                ".", CLBLAST_VERSION_PATCH, " float32 ", kernel, "|",
                device.identity);
}

bool LoadClblastParameters(const ClblastDevice& device, BinaryStore& store) {
  bool all = true;
  for (const char* kernel : kKernels) all &= LoadOne(device, kernel, store);
  return all;
}

Status TuneClblast(const ClblastDevice& device, const TuningEffort& effort,
                   BinaryStore& store) {
  int code = CL_SUCCESS;
  const cl::CommandQueue queue(device.context, device.device,
                               CL_QUEUE_PROFILING_ENABLE, &code);
  TIM_RETURN_IF_CL_ERROR(code, "a command queue to tune CLBlast");
  cl_command_queue handle = queue();
  const auto tune_xgemm = [&](Parameters& found) {
    return clblast::TuneXgemm<float>(&handle, effort.size, effort.size,
                                     effort.size, effort.fraction, found);
  };
  const auto tune_direct = [&](Parameters& found) {
    return clblast::TuneXgemmDirect<float>(
        &handle, effort.direct_size, effort.direct_size, effort.direct_size,
        effort.direct_fraction, found);
  };
  TIM_RETURN_IF_ERROR(TuneOne(device, kKernels[0], tune_xgemm, store));
  return TuneOne(device, kKernels[1], tune_direct, store);
}

void PrepareClblast(const ClblastDevice& device, const DeviceOptions& options,
                    BinaryStore& store) {
  if (LoadClblastParameters(device, store) || !options.tune) return;
  TIM_LOG(kWarning, "tuning CLBlast, which takes minutes");
  const Status tuned = TuneClblast(device, {}, store);
  if (!tuned.ok()) TIM_LOG(kWarning, tuned.message());
}

}  // namespace tim::device
