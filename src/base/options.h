// The environment variables of TIM-CL, read once.
//
// The table OptionTable() is the only list of them: the parser, and the table
// in README.md (checked by a test), are made from it.
#ifndef TIM_BASE_OPTIONS_H_
#define TIM_BASE_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace tim {

/// Whose kernels OpenCL devices run.
enum class KernelSet : uint8_t { kOfDevice, kCpu, kGpu };

/// What a device is created with.
struct DeviceOptions {
  KernelSet kernels = KernelSet::kOfDevice;  ///< TIMCL_KERNELS.
  bool chain = true;  ///< TIMCL_CHAIN: many kernels in one launch.
  /// TIMCL_STANDBY: how long PoCL's threads wait for the next run, and callers
  /// for a short one, before they sleep.
  std::chrono::microseconds standby{200};
  bool guard = false;    ///< TIMCL_GUARD: users' kernels are watched.
  bool winograd = true;  ///< TIMCL_WINOGRAD: 3x3 convolutions may use it.
  bool amx = true;       ///< TIMCL_AMX: 8-bit products may use x86's AMX.
  bool tune = false;     ///< TIMCL_TUNE: tune CLBlast for new devices.
  /// TIMCL_POOL_MB: most bytes of a pool of the device's memory, 0: no limit.
  int64_t pool_bytes = 0;
};

/// Dumps of graphs, for people who look inside.
struct DumpOptions {
  /// TIMCL_DUMP: a folder; empty: nothing is written.
  std::string directory = {};
  /// TIMCL_DUMP_FILTER: names of tensors and operations, with "*" for any
  /// characters and "," between; empty: all tensors.
  std::string filter = {};
  int runs = 1;  ///< TIMCL_DUMP_RUNS: of each compiled graph.
};

/// Records of graphs, so that a run can be repeated elsewhere.
struct RecordOptions {
  /// TIMCL_RECORD: a file, "%p" in its name is the process's number; empty:
  /// nothing is written.
  std::string file = {};
  bool inputs = false;  ///< TIMCL_RECORD_INPUTS: also what runs read and wrote.
};

/// Shared libraries with devices, kernels and operators.
struct PluginOptions {
  /// TIMCL_PLUGINS: files, or folders whose libtimcl_*.so are meant, with ":"
  /// between.
  std::string files = {};
  /// TIMCL_PLUGIN_CHECK: what they make of graphs is compared with `eval`.
  bool check = false;
  /// TIMCL_PLUGIN_PROBE: each is loaded in another process first.
  bool probe = false;
  /// TIMCL_PLUGIN_TIMEOUT: how long their devices may work; 0: as they like.
  std::chrono::seconds timeout{0};
};

struct Options {
  std::string device;   ///< TIMCL_DEVICE: "", or a list: "opencl:0,host".
  std::string policy;   ///< TIMCL_POLICY: "objective=latency;streams=2".
  bool strict = false;  ///< TIMCL_STRICT: a host step fails Compile.
  /// TIMCL_LENIENT: what is legal and hardly meant is a warning, else an error.
  bool lenient = true;
  DeviceOptions on_device;
  bool profile = false;  ///< TIMCL_PROFILE: runs are observed, and told of.
  DumpOptions dump;
  RecordOptions record;
  int log_level = 2;  ///< TIMCL_LOG: 0 off .. 4 debug.
  /// TIMCL_CACHE_DIR: "" = the user's cache folder, "off" = none.
  std::string cache_dir;
  std::string trace;  ///< TIMCL_TRACE: the file of the trace, "": none.
  /// TIMCL_KERNEL_OVERRIDE: a folder with texts of users' kernels, "": none.
  std::string kernel_override;
  PluginOptions plugins;
  /// Variables that are set and their texts, in the order of the table.
  std::vector<std::pair<std::string, std::string>> variables;
  /// All variables of the process, "NAME=value", for programs that the library
  /// starts.  Empty unless plugins.probe.
  std::vector<std::string> environment;
};

struct OptionSpec {
  const char* name;
  const char* values;
  const char* default_value;
  const char* meaning;
  /// Stores `text` in `options`; a message where it is not a legal value.
  Status (*parse)(const std::string& text, Options* options);
};

std::span<const OptionSpec> OptionTable();

/// Parses every variable with `get(name)` (null = unset).  An illegal value
/// leaves its default and adds a line to `warnings`.
Options ParseOptions(const char* (*get)(const char* name),
                     std::string* warnings);

/// The options of this process, parsed at first use, which starts the trace
/// that they ask for.  Any thread.  What lies below the facade tim::vx is given
/// options, and does not ask for them.
const Options& GetOptions();

/// The table in Markdown, as README.md shows it.
std::string OptionTableMarkdown();

}  // namespace tim

#endif  // TIM_BASE_OPTIONS_H_
