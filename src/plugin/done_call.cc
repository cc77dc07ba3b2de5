// Waits for calls of plug-ins.  What a plug-in gets to hand back points to no
// memory but a number that is given once, so that a call that comes late or
// twice does no harm and is never taken for another's.
#include "plugin/done_call.h"

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "base/fork/per_process.h"

namespace tim::plugin {

struct DoneCall::Slot {
  std::mutex mutex;
  std::condition_variable called;
  bool has_owner = true;
  bool due = true;  // the call has not come
  std::weak_ptr<const LoadedPlugin> plugin;
};

// Slots that have an owner or whose call has not come.
struct DoneCall::Slots {
  std::mutex mutex;
  uintptr_t last = 0;
  std::map<uintptr_t, std::shared_ptr<Slot>> by_number;

  uintptr_t Add(std::shared_ptr<Slot> slot) {
    const std::lock_guard lock(mutex);
    by_number.emplace(++last, std::move(slot));
    return last;
  }
  std::shared_ptr<Slot> Find(uintptr_t number) {
    const std::lock_guard lock(mutex);
    const auto found = by_number.find(number);
    return found == by_number.end() ? nullptr : found->second;
  }
  void Drop(uintptr_t number) {
    const std::lock_guard lock(mutex);
    by_number.erase(number);
  }
};

DoneCall::Slots& DoneCall::All() {
  static constinit GlobalPerProcess<Slots> slots;
  return slots.Get();
}

DoneCall::DoneCall(const std::shared_ptr<const LoadedPlugin>& plugin)
    : slot_(std::make_shared<Slot>()) {
  slot_->plugin = plugin;
  number_ = All().Add(slot_);
}

DoneCall::~DoneCall() {
  {
    const std::lock_guard lock(slot_->mutex);
    slot_->has_owner = false;
    if (slot_->due) return;
  }
  All().Drop(number_);
}

void DoneCall::Done(void* state, TimCode code) {
  const auto number = reinterpret_cast<uintptr_t>(state);
  const std::shared_ptr<Slot> slot = All().Find(number);
  if (slot == nullptr) return;  // it has come, and nobody waits any more
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
  if (is_last) All().Drop(number);
  if (plugin == nullptr) return;
  constexpr char kName[] = "TimDeviceFns::on_done(): done()";
  if (twice) {
    static_cast<void>(plugin->Broke(StrCat(kName, " was called twice")));
  } else if (code < TIM_OK || code > TIM_INTERNAL_ERROR) {
    static_cast<void>(plugin->Broke(
        StrCat(kName, " gave the code ", code, ", which there is not")));
  }
}

void* DoneCall::state() const { return reinterpret_cast<void*>(number_); }

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
