// Waits for calls of plug-ins.  What a plug-in may still point to is never
// freed, so that a call that comes late or twice does no harm; it is used again
// once its call has come.
#include "plugin/done_call.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <vector>

#include "base/fork/per_process.h"

namespace tim::plugin {

struct DoneCall::Slot {
  std::mutex mutex;
  std::condition_variable called;
  bool has_owner = false;
  bool due = false;  // the call has not come
  std::weak_ptr<const LoadedPlugin> plugin;
};

struct DoneCall::Slots {
  std::mutex mutex;
  std::deque<Slot> all;
  std::vector<Slot*> idle;

  Slot* Take() {
    const std::lock_guard lock(mutex);
    if (idle.empty()) return &all.emplace_back();
    Slot* const slot = idle.back();
    idle.pop_back();
    return slot;
  }
  void Return(Slot* slot) {
    const std::lock_guard lock(mutex);
    idle.push_back(slot);
  }
};

DoneCall::Slots& DoneCall::All() {
  static constinit GlobalPerProcess<Slots> slots;
  return slots.Get();
}

DoneCall::DoneCall(const std::shared_ptr<const LoadedPlugin>& plugin)
    : slot_(All().Take()) {
  const std::lock_guard lock(slot_->mutex);
  slot_->has_owner = true;
  slot_->due = true;
  slot_->plugin = plugin;
}

DoneCall::~DoneCall() {
  {
    const std::lock_guard lock(slot_->mutex);
    slot_->has_owner = false;
    if (slot_->due) return;
  }
  All().Return(slot_);
}

void DoneCall::Done(void* state, TimCode code) {
  auto* const slot = static_cast<Slot*>(state);
  std::shared_ptr<const LoadedPlugin> plugin;
  bool twice = false;
  bool is_last = false;
  {
    const std::lock_guard lock(slot->mutex);
    twice = !slot->due;
    is_last = slot->due && !slot->has_owner;
    slot->due = false;
    plugin = slot->plugin.lock();
    slot->called.notify_all();
  }
  if (is_last) All().Return(slot);
  if (plugin == nullptr) return;
  constexpr char kName[] = "TimDeviceFns::on_done(): done()";
  if (twice) {
    static_cast<void>(plugin->Broke(StrCat(kName, " was called twice")));
  } else if (code < TIM_OK || code > TIM_INTERNAL_ERROR) {
    static_cast<void>(plugin->Broke(
        StrCat(kName, " gave the code ", code, ", which there is not")));
  }
}

void* DoneCall::state() const { return slot_; }

void DoneCall::Cancel() {
  const std::lock_guard lock(slot_->mutex);
  slot_->due = false;
}

bool DoneCall::HasCome() const {
  const std::lock_guard lock(slot_->mutex);
  return !slot_->due;
}

bool DoneCall::Wait(std::chrono::seconds limit) {
  std::unique_lock lock(slot_->mutex);
  const auto has_come = [this] { return !slot_->due; };
  if (limit.count() > 0) {
    return slot_->called.wait_for(lock, limit, has_come);
  }
  slot_->called.wait(lock, has_come);
  return true;
}

}  // namespace tim::plugin
