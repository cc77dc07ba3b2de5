// Results and failures of calls into plug-ins.
#include "plugin/loaded_plugin.h"

#include <dlfcn.h>

#include "base/log.h"

namespace tim::plugin {
namespace {

constinit std::atomic<uint64_t> g_quarantines = 0;

// Texts of plug-ins go into our messages: one line, without control characters.
std::string OneLine(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text;
}

}  // namespace

uint64_t Quarantines() { return g_quarantines; }

LoadedPlugin::~LoadedPlugin() {
  if (library_ == nullptr || !may_unmap_) return;
  if ((tables_.plugin.flags & TIM_PLUGIN_UNLOADABLE) != 0) dlclose(library_);
}

void LoadedPlugin::SetFailed() { running_ = false; }

void LoadedPlugin::ShutDown() {
  Tell("TimPlugin::shutdown", tables_.plugin.shutdown);
  running_ = false;
  may_unmap_ = true;
}

Status LoadedPlugin::Unloaded() const {
  return FailedPrecondition("plug-in ", kind_, " is not loaded any more");
}

Result<std::shared_ptr<const LoadedPlugin>> PluginReference::Lock() const {
  auto locked = plugin.lock();
  if (locked != nullptr) return locked;
  return FailedPrecondition("plug-in ", kind, " is not loaded any more");
}

std::string LoadedPlugin::quarantine() const {
  const std::lock_guard lock(mutex_);
  return quarantine_;
}

Status LoadedPlugin::CheckUsable() const {
  if (!running_) return Unloaded();
  const std::lock_guard lock(mutex_);
  if (quarantine_.empty()) return OkStatus();
  return Status(StatusCode::kInternal, quarantine_);
}

Status LoadedPlugin::Broke(std::string_view what) const {
  const std::string reason =
      StrCat("plug-in ", kind_, " broke its contract: ", what);
  {
    const std::lock_guard lock(mutex_);
    if (!quarantine_.empty()) return Status(StatusCode::kInternal, reason);
    quarantine_ = reason;
  }
  g_quarantines.fetch_add(1);
  TIM_LOG(kWarning, reason,
          "; graphs that are compiled from now on do without "
          "it (",
          path_, ")");
  return Status(StatusCode::kInternal, reason);
}

const void* LoadedPlugin::DomainOf(uint64_t domain) const {
  const std::lock_guard lock(mutex_);
  return &domains_[domain];
}

Status LoadedPlugin::Threw(const char* name) const {
  return Broke(StrCat("an exception left ", name, "()"));
}

Status LoadedPlugin::StatusOf(const char* name, const Outcome& outcome) const {
  if (outcome.threw) return Threw(name);
  const TimCode code = outcome.code;
  if (code == TIM_OK) return OkStatus();
  if (code < TIM_OK || code > TIM_INTERNAL_ERROR) {
    return Broke(
        StrCat(name, "() gave the code ", code, ", which there is not"));
  }
  static_assert(static_cast<int>(StatusCode::kInternal) == TIM_INTERNAL_ERROR);
  return Status(
      static_cast<StatusCode>(code),
      StrCat("plug-in ", kind_, ", ", name, "(): ",
             outcome.text.empty() ? "no reason given" : OneLine(outcome.text)));
}

}  // namespace tim::plugin
