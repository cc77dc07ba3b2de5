// A plug-in that was initialized, and every call into it.
#ifndef TIM_PLUGIN_LOADED_PLUGIN_H_
#define TIM_PLUGIN_LOADED_PLUGIN_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "tim/plugin/tim_plugin.h"

namespace tim::plugin {

/// Tables of a plug-in with zeros for what it does not offer.
struct PluginTables {
  TimPlugin plugin{};
  TimDeviceFns device{};
  TimKernelFns kernels{};
  TimGraphFns graphs{};
  TimOpFns ops{};
  std::vector<TimKernel> kernel_list;
  std::vector<TimOp> op_list;
  bool has_device = false;
  bool has_graphs = false;
};

/// Room for the message of a call.
class MessageRoom {
 public:
  MessageRoom() { text_[0] = 0; }
  TimMessage* get() { return &message_; }
  /// The text that was written, cut at the end of the room.
  std::string Text() {
    text_.back() = 0;
    return text_.data();
  }

 private:
  static constexpr uint32_t kBytes = 1024;
  std::array<char, kBytes> text_;
  TimMessage message_{TIM_SIZE_THROUGH(TimMessage, text), kBytes, text_.data()};
};

/// The part of a plug-in that all objects made of it share.  Any thread.
class LoadedPlugin {
 public:
  LoadedPlugin(std::string path, void* library, PluginTables tables)
      : path_(std::move(path)),
        library_(library),
        tables_(std::move(tables)),
        kind_(tables_.plugin.kind) {}
  /// Unmaps the library where it was shut down and says that it may be.
  ~LoadedPlugin();
  LoadedPlugin(const LoadedPlugin&) = delete;
  LoadedPlugin& operator=(const LoadedPlugin&) = delete;

  const std::string& path() const { return path_; }
  const std::string& kind() const { return kind_; }
  const PluginTables& tables() const { return tables_; }

  /// Limit of waits for its devices; 0: there is none.
  std::chrono::seconds timeout{0};
  /// True: graphs before and after its edits are compared by `eval`.
  bool check = false;

  /// kFailedPrecondition once it was unloaded; kInternal, with the reason, once
  /// it broke its contract.
  Status CheckUsable() const;
  /// The reason why graphs do without the plug-in; empty: they use it.
  std::string quarantine() const;
  /// Quarantines the plug-in, which broke its contract by `what`; the failure
  /// for the caller.
  Status Broke(std::string_view what) const;

  /// An address that stands for a domain of its devices.
  const void* DomainOf(uint64_t domain) const;

  /// Allows calls, initialize() first.
  void Start() { running_ = true; }
  /// Ends calls after initialize() failed; the library stays mapped.
  void SetFailed();
  /// Calls shutdown(), the last call.
  void ShutDown();

  /// Calls a function that ends in a TimMessage*.
  /// \param name for messages: "TimDeviceFns::allocate".
  template <typename Function, typename... Args>
  Status Call(const char* name, Function function, Args... args) const {
    if (!running_) return Unloaded();
    return StatusOf(name, Run(function, args...));
  }

  /// The same; `told` gets the message, which a success may have, too.
  template <typename Function, typename... Args>
  Status CallTold(std::string* told, const char* name, Function function,
                  Args... args) const {
    if (!running_) return Unloaded();
    Outcome outcome = Run(function, args...);
    const Status status = StatusOf(name, outcome);
    *told = std::move(outcome.text);
    return status;
  }

  /// The same of a function whose failures must have a reason, and of which
  /// nothing is asked once the plug-in broke its contract.
  template <typename Function, typename... Args>
  Status Ask(const char* name, Function function, Args... args) const {
    TIM_RETURN_IF_ERROR(CheckUsable());
    const Outcome outcome = Run(function, args...);
    Status status = StatusOf(name, outcome);
    if (status.ok() || outcome.threw || !outcome.text.empty()) return status;
    return Broke(StrCat(name, "() refused without a reason"));
  }

  /// Calls a function that gives something else, `otherwise` where it throws.
  template <typename T, typename Function, typename... Args>
  T CallFor(T otherwise, const char* name, Function function,
            Args... args) const {
    if (!running_) return otherwise;
    try {
      return function(args...);
    } catch (...) {
      static_cast<void>(Threw(name));
      return otherwise;
    }
  }

  /// Calls a function that gives nothing.
  template <typename Function, typename... Args>
  void Tell(const char* name, Function function, Args... args) const {
    if (!running_ || function == nullptr) return;
    try {
      function(args...);
    } catch (...) {
      static_cast<void>(Threw(name));
    }
  }

 private:
  struct Outcome {
    TimCode code = TIM_OK;
    std::string text = {};
    bool threw = false;
  };

  template <typename Function, typename... Args>
  static Outcome Run(Function function, Args... args) {
    MessageRoom room;
    try {
      const TimCode code = function(args..., room.get());
      return {.code = code, .text = room.Text()};
    } catch (...) {
      return {.threw = true};
    }
  }

  Status Unloaded() const;
  Status Threw(const char* name) const;
  Status StatusOf(const char* name, const Outcome& outcome) const;

  const std::string path_;
  void* const library_;  // of dlopen(); null: in tests
  const PluginTables tables_;
  const std::string kind_;
  std::atomic<bool> running_ = false;
  bool may_unmap_ = false;
  mutable std::mutex mutex_;
  mutable std::string quarantine_;
  mutable std::map<uint64_t, char> domains_;
};

/// A plug-in as registries know it, which are never destroyed.
struct PluginReference {
  explicit PluginReference(const std::shared_ptr<const LoadedPlugin>& loaded)
      : plugin(loaded), kind(loaded->kind()) {}

  /// kFailedPrecondition where it was unloaded.
  Result<std::shared_ptr<const LoadedPlugin>> Lock() const;

  std::weak_ptr<const LoadedPlugin> plugin;
  std::string kind;
};

/// Number of plug-ins of this process that broke their contracts so far.
uint64_t Quarantines();

}  // namespace tim::plugin

#endif  // TIM_PLUGIN_LOADED_PLUGIN_H_
