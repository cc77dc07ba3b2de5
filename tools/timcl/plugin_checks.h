// Checks of `timcl plugin-check`, each in a process of its own.
#ifndef TIM_TOOLS_TIMCL_PLUGIN_CHECKS_H_
#define TIM_TOOLS_TIMCL_PLUGIN_CHECKS_H_

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/str_cat.h"
#include "ir/op_registry.h"
#include "plugin/loader.h"
#include "plugin/plugin_device.h"

namespace tim::tool {

/// A result of a check.
struct PluginFinding {
  enum class Kind { kPass, kFail, kSkip };
  Kind kind = Kind::kPass;
  std::string text;
};

/// A plug-in while one check tries it.
class CheckedPlugin {
 public:
  CheckedPlugin(std::string path, plugin::PluginOptionList options,
                uint64_t seed)
      : path(std::move(path)), options(std::move(options)), random(seed) {}

  /// Loads it, as the library does; a failure is found.
  bool Load();
  /// Every usable device, opened; empty where there are none.  A failure is
  /// found.
  const std::vector<std::shared_ptr<plugin::PluginDevice>>& Devices();
  /// Loads it for the whole library, with devices that Devices() does not have:
  /// the operators and kernels, the library's too.  Null: a failure is found.
  std::shared_ptr<const ir::OpRegistry> LoadAll();
  /// The host and each of the devices that LoadAll() brought.
  std::vector<device::Devices> DevicePairs();

  template <typename... Args>
  void Fail(const Args&... args) {
    findings.push_back({PluginFinding::Kind::kFail, StrCat(args...)});
  }
  template <typename... Args>
  void Skip(const Args&... args) {
    const std::string text = StrCat(args...);
    for (const PluginFinding& found : findings) {
      if (found.text == text) return;
    }
    findings.push_back({PluginFinding::Kind::kSkip, text});
  }
  template <typename... Args>
  void Pass(const Args&... args) {
    findings.push_back({PluginFinding::Kind::kPass, StrCat(args...)});
  }
  /// Finds a failure where `status` is none; whether it is ok.
  bool Expect(const Status& status, std::string_view what) {
    if (!status.ok()) Fail(what, ": ", status.message());
    return status.ok();
  }

  const std::string path;
  const plugin::PluginOptionList options;
  std::mt19937_64 random;
  plugin::Loaded loaded;
  std::vector<PluginFinding> findings;

 private:
  std::vector<std::shared_ptr<plugin::PluginDevice>> devices_;
};

struct PluginCheck {
  const char* id;
  const char* title;
  void (*run)(CheckedPlugin& plugin);
  /// Checks whose failures it would find once more: " C2 C4 ".
  std::string_view needs = " ";
};

/// C1: one symbol, no library of ours, no text relocations.
void CheckSymbols(CheckedPlugin& plugin);
/// C2, C3, C16: tables, life, unloading.
void CheckTables(CheckedPlugin& plugin);
void CheckLife(CheckedPlugin& plugin);
void CheckUnloading(CheckedPlugin& plugin);
/// C4 to C7: memory, copies, order, threads.
void CheckAllocations(CheckedPlugin& plugin);
void CheckCopies(CheckedPlugin& plugin);
void CheckOrder(CheckedPlugin& plugin);
void CheckThreads(CheckedPlugin& plugin);
/// C8 to C11, C15: messages, and kernels on nodes of many shapes.
void CheckMessages(CheckedPlugin& plugin);
void CheckCosts(CheckedPlugin& plugin);
void CheckKernels(CheckedPlugin& plugin);
void CheckOpenClKernels(CheckedPlugin& plugin);
void CheckRepeats(CheckedPlugin& plugin);
/// C12, C13: parts of random graphs, and edits of them.
void CheckParts(CheckedPlugin& plugin);
void CheckEdits(CheckedPlugin& plugin);
/// C14: operators.
void CheckOperatorsOf(CheckedPlugin& plugin);

/// Elements between -1 and 1.
std::vector<float> RandomFloats(CheckedPlugin& plugin, size_t count);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_PLUGIN_CHECKS_H_
