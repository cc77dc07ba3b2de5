// The table of the environment variables, and what they are parsed to.
#include "base/options.h"

#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/fork/keep_one.h"
#include "base/log.h"
#include "base/trace.h"

namespace tim {
namespace {

// Context::Create() checks it: a device that does not exist is no default.
Status ParseDevice(const std::string& text, Options* options) {
  options->device = text;
  return OkStatus();
}

// The same.
Status ParsePolicy(const std::string& text, Options* options) {
  options->policy = text;
  return OkStatus();
}

Status ParseSwitch(const std::string& text, bool* on) {
  if (text != "0" && text != "1") return InvalidArgument("expected 0 or 1");
  *on = text == "1";
  return OkStatus();
}

Status ParseStrict(const std::string& text, Options* options) {
  return ParseSwitch(text, &options->strict);
}

Status ParseLenient(const std::string& text, Options* options) {
  return ParseSwitch(text, &options->lenient);
}

Status ParseProfile(const std::string& text, Options* options) {
  return ParseSwitch(text, &options->profile);
}

template <bool DeviceOptions::*kSwitch>
Status ParseOnDevice(const std::string& text, Options* options) {
  return ParseSwitch(text, &(options->on_device.*kSwitch));
}

Result<int> ParseNumber(const std::string& text, int least, int most) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < least || number > most) {
    return InvalidArgument("expected a whole number from ", least, " to ",
                           most);
  }
  return number;
}

Status ParseStandby(const std::string& text, Options* options) {
  TIM_ASSIGN_OR_RETURN(const int microseconds, ParseNumber(text, 0, 1'000'000));
  options->on_device.standby = std::chrono::microseconds(microseconds);
  return OkStatus();
}

Status ParsePool(const std::string& text, Options* options) {
  TIM_ASSIGN_OR_RETURN(const int mebibytes, ParseNumber(text, 1, 1'000'000));
  options->on_device.pool_bytes = int64_t{mebibytes} << 20;
  return OkStatus();
}

Status ParseKernels(const std::string& text, Options* options) {
  if (text != "cpu" && text != "gpu") {
    return InvalidArgument("expected cpu or gpu");
  }
  options->on_device.kernels =
      text == "cpu" ? KernelSet::kCpu : KernelSet::kGpu;
  return OkStatus();
}

Status ParseLog(const std::string& text, Options* options) {
  static constexpr const char* kLevels[] = {"off", "error", "warning", "info",
                                            "debug"};
  for (int level = 0; level < 5; ++level) {
    if (text == kLevels[level] || text == StrCat(level)) {
      options->log_level = level;
      return OkStatus();
    }
  }
  return InvalidArgument("expected off, error, warning, info or debug");
}

Status ParseDump(const std::string& text, Options* options) {
  options->dump.directory = text;
  return OkStatus();
}

Status ParseDumpFilter(const std::string& text, Options* options) {
  options->dump.filter = text;
  return OkStatus();
}

Status ParseDumpRuns(const std::string& text, Options* options) {
  TIM_ASSIGN_OR_RETURN(options->dump.runs, ParseNumber(text, 0, 1'000'000));
  return OkStatus();
}

Status ParseRecord(const std::string& text, Options* options) {
  options->record.file = text;
  return OkStatus();
}

Status ParseRecordInputs(const std::string& text, Options* options) {
  return ParseSwitch(text, &options->record.inputs);
}

Status ParseCacheDir(const std::string& text, Options* options) {
  options->cache_dir = text;
  return OkStatus();
}

Status ParseTrace(const std::string& text, Options* options) {
  options->trace = text;
  return OkStatus();
}

Status ParseKernelOverride(const std::string& text, Options* options) {
  options->kernel_override = text;
  return OkStatus();
}

Status ParsePlugins(const std::string& text, Options* options) {
  options->plugins.files = text;
  return OkStatus();
}

Status ParsePluginCheck(const std::string& text, Options* options) {
  return ParseSwitch(text, &options->plugins.check);
}

Status ParsePluginProbe(const std::string& text, Options* options) {
  return ParseSwitch(text, &options->plugins.probe);
}

Status ParsePluginTimeout(const std::string& text, Options* options) {
  TIM_ASSIGN_OR_RETURN(const int seconds, ParseNumber(text, 0, 1'000'000));
  options->plugins.timeout = std::chrono::seconds(seconds);
  return OkStatus();
}

// VSI_NN_LOG_LEVEL stands before TIMCL_LOG, so that the latter wins.
constexpr OptionSpec kTable[] = {
    {"TIMCL_DEVICE",
     "`host`, `opencl`, `opencl:<n>`, parts of a device as `opencl:<n>/<k>`, "
     "`auto`, `all`, or several with `,` between",
     "the first OpenCL device, else `host`",
     "where graphs run, whatever `CompileOption::setDeviceId()` and executors "
     "ask for; a device that does not exist makes `Context::Create()` return "
     "null; several share a graph: [docs/devices.md](docs/devices.md)",
     ParseDevice},
    {"TIMCL_POLICY", "`key=value` with `;` between", "",
     "how a graph is divided among several devices: "
     "[docs/devices.md](docs/devices.md)",
     ParsePolicy},
    {"TIMCL_STRICT", "`0`, `1`", "`0`",
     "a step that would run on the host beside an OpenCL device fails "
     "`Compile()`",
     ParseStrict},
    {"TIMCL_LENIENT", "`0`, `1`", "`1`",
     "what TIM-VX lets pass and is hardly meant, such as a layout argument "
     "that "
     "nothing applies, is a warning of `Compile()`; `0`: an error",
     ParseLenient},
    {"TIMCL_CHAIN", "`0`, `1`", "`1`",
     "kernels that follow one another are launched as one on CPU devices",
     ParseOnDevice<&DeviceOptions::chain>},
    {"TIMCL_STANDBY", "`0` … `1000000`", "`200`",
     "for how many microseconds PoCL's threads wait awake for the next run, "
     "and callers for the end of one; a process's own OpenCL commands may wait "
     "as long; 0: they sleep at once",
     ParseStandby},
    {"TIMCL_GUARD", "`0`, `1`", "`0`",
     "what a kernel of a custom operator writes or reads outside of its "
     "tensors, or leaves unwritten, is an error of `Run()`; each is launched "
     "at least twice per run",
     ParseOnDevice<&DeviceOptions::guard>},
    {"TIMCL_KERNEL_OVERRIDE", "a folder", "",
     "the kernels of the custom operator named `Gate` are those of the file "
     "`Gate.cl` there, where it exists, in place of the operator's own text; a "
     "file that changes counts from the next run on",
     ParseKernelOverride},
    {"TIMCL_WINOGRAD", "`0`, `1`", "`1`",
     "float32 3x3 convolutions may use Winograd's algorithm on CPUs, whose "
     "rounding errors are about twice as large",
     ParseOnDevice<&DeviceOptions::winograd>},
    {"TIMCL_AMX", "`0`, `1`", "`1`",
     "8-bit products may use the AMX instructions of x86 processors on CPUs, "
     "for which the process asks Linux when a device is created; signal "
     "stacks of less than `getauxval(AT_MINSIGSTKSZ)` bytes are refused from "
     "then on",
     ParseOnDevice<&DeviceOptions::amx>},
    {"TIMCL_KERNELS", "`cpu`, `gpu`", "as the device says",
     "which kernels OpenCL devices run: those made for CPUs or those for GPUs",
     ParseKernels},
    {"TIMCL_TUNE", "`0`, `1`", "`0`",
     "the first `Compile()` that uses CLBlast on a device tunes it, which "
     "takes minutes, and keeps what it found in the cache folder",
     ParseOnDevice<&DeviceOptions::tune>},
    {"TIMCL_POOL_MB", "`1` … `1000000`", "no limit",
     "most MiB that a device's memory pool takes from the device, for states "
     "and for runs in flight beside a graph's first; more is out of memory",
     ParsePool},
    {"TIMCL_PROFILE", "`0`, `1`", "`0`",
     "every run is done step by step, and a table of its operations' times "
     "goes to stderr when the graph is destroyed or the process exits: "
     "[docs/profiling.md](docs/profiling.md)",
     ParseProfile},
    {"TIMCL_DUMP", "a folder", "",
     "`Compile()` writes there what it makes of a graph, and the first `Run()` "
     "every tensor as `.npy` with statistics: [docs/dump.md](docs/dump.md)",
     ParseDump},
    {"TIMCL_DUMP_FILTER", "names with `,` between, `*` for any characters",
     "all", "of which tensors `TIMCL_DUMP` writes the elements",
     ParseDumpFilter},
    {"TIMCL_DUMP_RUNS", "`0` … `1000000`", "`1`",
     "of how many runs of a compiled graph `TIMCL_DUMP` writes the tensors",
     ParseDumpRuns},
    {"TIMCL_RECORD", "a file", "",
     "`Compile()` writes there the graph, with its weights and kernels, and "
     "what it runs on, for `timcl run` to repeat elsewhere; `%p` in the name "
     "is the process's number; see [docs/record.md](docs/record.md)",
     ParseRecord},
    {"TIMCL_RECORD_INPUTS", "`0`, `1`", "`0`",
     "with `TIMCL_RECORD`: before each run its inputs and states are written "
     "there, too, and behind it its outputs",
     ParseRecordInputs},
    {"TIMCL_PLUGINS", "files and folders with `:` between", "",
     "shared libraries with devices, kernels and operators of others, which "
     "are loaded when devices are first asked for; of a folder "
     "`libtimcl_*.so`; options of one behind it, `file?key=value&key=value`: "
     "[docs/plugins.md](docs/plugins.md)",
     ParsePlugins},
    {"TIMCL_PLUGIN_CHECK", "`0`, `1`", "`0`",
     "for those who write a plug-in: what it makes of a graph must compute the "
     "same as the graph",
     ParsePluginCheck},
    {"TIMCL_PLUGIN_PROBE", "`0`, `1`", "`0`",
     "each plug-in is loaded in another process first, so that one that ends "
     "the process is left out",
     ParsePluginProbe},
    {"TIMCL_PLUGIN_TIMEOUT", "`0` … `1000000`", "`0`",
     "for how many seconds a plug-in's device may work on what it was given "
     "before it counts as lost; 0: as long as it likes",
     ParsePluginTimeout},
    {"VSI_NN_LOG_LEVEL", "`0` … `4`", "", "older alias of `TIMCL_LOG`",
     ParseLog},
    {"TIMCL_LOG", "`off`, `error`, `warning`, `info`, `debug`", "`warning`",
     "messages of this severity and above go to stderr", ParseLog},
    {"TIMCL_CACHE_DIR", "a folder, `off`",
     "`$XDG_CACHE_HOME/tim-cl` or `$HOME/.cache/tim-cl`",
     "built OpenCL programs are kept here, but those of PoCL, which keeps its "
     "own; the folder must belong to the user and be closed to others; `off`: "
     "only the driver keeps any",
     ParseCacheDir},
    {"TIMCL_TRACE", "a file", "none",
     "what the library does, and when, is written there for chrome://tracing "
     "and Perfetto; `%p` in the name is the process's number; see "
     "[docs/tracing.md](docs/tracing.md)",
     ParseTrace},
};

const char* FromEnvironment(const char* name) { return std::getenv(name); }

std::vector<std::string> WholeEnvironment() {
  std::vector<std::string> variables;
  for (char** one = environ; one != nullptr && *one != nullptr; ++one) {
    variables.emplace_back(*one);
  }
  return variables;
}

void LogLines(std::string_view warnings) {
  while (!warnings.empty()) {
    const size_t end = warnings.find('\n');
    LogLine(Severity::kWarning, std::string(warnings.substr(0, end)));
    warnings.remove_prefix(end + 1);
  }
}

}  // namespace

std::span<const OptionSpec> OptionTable() { return kTable; }

Options ParseOptions(const char* (*get)(const char* name),
                     std::string* warnings) {
  Options options;
  for (const OptionSpec& spec : kTable) {
    const char* text = get(spec.name);
    if (text == nullptr || *text == '\0') continue;
    options.variables.emplace_back(spec.name, text);
    const Status status = spec.parse(text, &options);
    if (status.ok()) continue;
    *warnings +=
        StrCat(spec.name, "='", text, "' is ignored: ", status.message(), "\n");
  }
  return options;
}

const Options& GetOptions() {
  static constinit std::atomic<const Options*> options = nullptr;
  return KeepOne(options, [] {
    std::string warnings;
    Options parsed = ParseOptions(FromEnvironment, &warnings);
    if (parsed.plugins.probe) parsed.environment = WholeEnvironment();
    if (!parsed.trace.empty()) {
      const Status started = StartTrace(parsed.trace);
      if (!started.ok()) {
        warnings += StrCat("TIMCL_TRACE is ignored: ", started.message(), "\n");
      }
    }
    if (parsed.log_level >= 2) LogLines(warnings);
    return parsed;
  });
}

std::string OptionTableMarkdown() {
  std::string out =
      "| variable | values | default | meaning |\n| --- | --- | --- | --- |\n";
  for (const OptionSpec& spec : kTable) {
    out += StrCat("| `", spec.name, "` | ", spec.values, " | ",
                  spec.default_value, " | ", spec.meaning, " |\n");
  }
  return out;
}

}  // namespace tim
