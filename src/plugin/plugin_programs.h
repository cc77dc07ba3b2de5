// Programs that a plug-in built for its device, and steps made of them.
#ifndef TIM_PLUGIN_PLUGIN_PROGRAMS_H_
#define TIM_PLUGIN_PLUGIN_PROGRAMS_H_

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "ir/step.h"
#include "tim/plugin/tim_plugin.h"

/// The place where build() keeps what it wants to find again, in another
/// process too.
struct TimStore {
  tim::device::BinaryStore* store = nullptr;
  std::string prefix;  ///< Of all keys.
};

namespace tim::plugin {

class PluginDevice;

/// Programs of a device by what they are made of.  Any thread; those that are
/// asked for at the same time are built once.
class Programs {
 public:
  /// \param device outlives them; not called by the constructor.
  explicit Programs(PluginDevice& device) : device_(device) {}

  Result<TimProgram*> OfKernel(const ir::DeviceCall& call,
                               device::BinaryStore& store);
  /// Compiled, or loaded from the store, which keeps what is compiled.
  Result<TimProgram*> OfGraph(const ir::GraphCall& call,
                              device::BinaryStore& store);
  /// Gives all programs back to the plug-in.
  void Drop();

 private:
  struct Program {
    std::mutex mutex;  // held while it is built
    TimProgram* handle = nullptr;
    bool of_graph = false;
    std::string store_key;
    std::optional<std::string> blob;  // what the store has of it
  };

  std::shared_ptr<Program> Slot(const std::string& key);
  Status Compile(const ir::GraphCall& call, device::BinaryStore& store,
                 Program* program);
  Status LoadStored(device::BinaryStore& store, Program* program);
  Status Serialize(device::BinaryStore& store, Program* program);

  PluginDevice& device_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Program>> programs_;
};

/// A step of a plug-in's device.
class PluginStep final : public device::PreparedStep {
 public:
  /// A kernel's step, or a part's with as many `inputs` and outputs.
  static Result<std::unique_ptr<device::PreparedStep>> Create(
      PluginDevice& device, TimProgram* program, bool of_graph, size_t inputs,
      size_t outputs);

  /// The function that does the step, and stays while work may use it.
  using Work = std::function<Status(TimStream* stream)>;
  /// Work on these ranges: kInternal where they are not as many as the part
  /// has operands.
  Result<Work> WorkOn(std::vector<TimRange> ranges) const;

  const PluginDevice& device() const { return device_; }

 private:
  PluginStep(PluginDevice& device, std::shared_ptr<TimPrepared> prepared,
             bool of_graph, size_t inputs, size_t outputs)
      : device_(device),
        prepared_(std::move(prepared)),
        of_graph_(of_graph),
        inputs_(inputs),
        outputs_(outputs) {}

  PluginDevice& device_;
  const std::shared_ptr<TimPrepared> prepared_;
  const bool of_graph_;
  const size_t inputs_;
  const size_t outputs_;
};

}  // namespace tim::plugin

#endif  // TIM_PLUGIN_PLUGIN_PROGRAMS_H_
