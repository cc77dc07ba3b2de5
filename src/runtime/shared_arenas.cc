// Lends arenas to runs, and makes larger ones where a plan needs them.
#include "runtime/shared_arenas.h"

#include <algorithm>
#include <iterator>

#include "device/device_pools.h"
#include "runtime/inside_run.h"

namespace tim::runtime {
namespace {

// Free arenas of a device make room for others of any kind.
bool NeedSameDevice(const ir::Plan& a, const ir::Plan& b) {
  return std::any_of(a.arenas.begin(), a.arenas.end(), [&](const auto& one) {
    return one.bytes > 0 && std::any_of(b.arenas.begin(), b.arenas.end(),
                                        [&](const auto& other) {
                                          return other.bytes > 0 &&
                                                 other.device == one.device;
                                        });
  });
}

}  // namespace

/// The place of a request for arenas among all, from when it comes until it
/// ends.
class SharedArenas::Turn {
 public:
  Turn(State& state, const ir::Plan& plan) : state_(state) {
    const std::lock_guard lock(state_.mutex);
    place_ = state_.waiting.insert(state_.waiting.end(), &plan);
  }
  ~Turn() {
    const std::lock_guard lock(state_.mutex);
    state_.waiting.erase(place_);
    state_.changed.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  /// Waits until it is the request's turn.
  void Await() {
    std::unique_lock lock(state_.mutex);
    state_.changed.wait(lock,
                        [this] { return !IsHeldUp(state_, **place_, place_); });
  }
  /// Whether later requests come first from now on, as long as no arenas come
  /// back; false where there is none, or where they do already.  The lock is
  /// held.
  bool LetOthersPass() {
    if (!state_.in_order || std::next(place_) == state_.waiting.end()) {
      return false;
    }
    state_.in_order = false;
    state_.changed.notify_all();
    return true;
  }
  /// Whether one of those who came before `end` comes first.  The lock is held.
  static bool IsHeldUp(const State& state, const ir::Plan& plan,
                       std::list<const ir::Plan*>::const_iterator end) {
    if (!state.in_order || IsInsideAnyRun()) return false;
    return std::any_of(state.waiting.begin(), end, [&](const ir::Plan* before) {
      return NeedSameDevice(*before, plan);
    });
  }

 private:
  State& state_;
  std::list<const ir::Plan*>::const_iterator place_;
};

SharedArenas::Lease::~Lease() { owner_->Return(*this); }

void SharedArenas::Lease::SetRun(std::weak_ptr<RunEvent> run, Ends ends) {
  State& state = owner_->state_.Get();
  const std::lock_guard lock(state.mutex);
  run_ = std::move(run);
  ends_ = ends;
  ++state.changes;
  state.changed.notify_all();
}

int64_t& SharedArenas::LeastOf(State& state, const ir::Arena& arena) const {
  state.least.resize(devices_.size());
  return state.least[static_cast<size_t>(arena.device)]
                    [static_cast<size_t>(arena.memory)];
}

void SharedArenas::Reserve(const ir::Plan& plan) {
  State& state = state_.Get();
  const std::lock_guard lock(state.mutex);
  for (const ir::Arena& arena : plan.arenas) {
    int64_t& least = LeastOf(state, arena);
    least = std::max(least, arena.bytes);
  }
}

// The smallest one that is large enough; one that is not makes room for it, and
// all of the device where that is not enough.  A new one is as large as any
// was, where there is memory for that.
Result<SharedArenas::Block> SharedArenas::TakeOne(const ir::Arena& arena) {
  State& state = state_.Get();
  const auto device = static_cast<size_t>(arena.device);
  Block dropped;
  int64_t bytes = 0;
  {
    const std::lock_guard lock(state.mutex);
    auto found = state.free.end();
    auto small = state.free.end();
    for (auto it = state.free.begin(); it != state.free.end(); ++it) {
      if (it->device != device || it->kind != arena.memory) continue;
      const int64_t size = it->buffer->bytes();
      if (size < arena.bytes) {
        small = it;
      } else if (found == state.free.end() || size < found->buffer->bytes()) {
        found = it;
      }
    }
    const auto taken = found != state.free.end() ? found : small;
    if (taken != state.free.end()) {
      dropped = std::move(*taken);
      state.free.erase(taken);
      if (dropped.buffer->bytes() >= arena.bytes) return dropped;
      state.bytes -= dropped.buffer->bytes();
    }
    bytes = std::max(LeastOf(state, arena), arena.bytes);
  }
  dropped.buffer.reset();
  Block made{.device = device, .kind = arena.memory, .buffer = nullptr};
  device::DevicePools& pools = devices_[device]->pools();
  auto buffer = pools.AllocateOutside(bytes, made.kind);
  if (buffer.status().code() == StatusCode::kOutOfMemory &&
      bytes > arena.bytes) {
    bytes = arena.bytes;
    buffer = pools.AllocateOutside(bytes, made.kind);
  }
  if (buffer.status().code() == StatusCode::kOutOfMemory && DropFree(device)) {
    buffer = pools.AllocateOutside(bytes, made.kind);
  }
  TIM_ASSIGN_OR_RETURN(made.buffer, std::move(buffer));
  const std::lock_guard lock(state.mutex);
  LeastOf(state, arena) = bytes;
  state.bytes += bytes;
  return made;
}

// Whether there were free arenas of the device, which are gone.
bool SharedArenas::DropFree(size_t device) {
  State& state = state_.Get();
  std::vector<Block> dropped;  // let go without the lock
  const std::lock_guard lock(state.mutex);
  for (Block& block : state.free) {
    if (block.device != device) continue;
    state.bytes -= block.buffer->bytes();
    dropped.push_back(std::move(block));
  }
  std::erase_if(state.free,
                [](const Block& block) { return block.buffer == nullptr; });
  return !dropped.empty();
}

Result<std::unique_ptr<SharedArenas::Lease>> SharedArenas::TakeNow(
    const ir::Plan& plan) {
  State& state = state_.Get();
  std::unique_ptr<Lease> lease(new Lease(shared_from_this()));
  for (const ir::Arena& arena : plan.arenas) {
    lease->arenas_.emplace_back();
    if (arena.bytes == 0) continue;
    auto block = TakeOne(arena);
    if (!block.ok()) {
      return block.status().WithContext(StrCat(
          "an arena of ", arena.bytes, " bytes for graph '", plan.graph, "'"));
    }
    device::Buffer& buffer = *block->buffer;
    lease->arenas_.back() = device::BufferRange{&buffer, 0, buffer.bytes()};
    lease->blocks_.push_back(*std::move(block));
  }
  const std::lock_guard lock(state.mutex);
  state.leases.push_back(lease.get());
  state.most_leases = std::max(state.most_leases, state.leases.size());
  return lease;
}

uint64_t SharedArenas::Changes() const {
  State& state = state_.Get();
  const std::lock_guard lock(state.mutex);
  return state.changes;
}

Result<std::unique_ptr<SharedArenas::Lease>> SharedArenas::TryTake(
    const ir::Plan& plan) {
  State& state = state_.Get();
  const uint64_t changes = Changes();
  {
    const std::lock_guard lock(state.mutex);
    if (Turn::IsHeldUp(state, plan, state.waiting.end())) {
      return std::unique_ptr<Lease>();
    }
  }
  const std::unique_lock taking(state.taking, std::try_to_lock);
  if (!taking.owns_lock()) return std::unique_ptr<Lease>();
  auto taken = TakeNow(plan);
  if (taken.status().code() != StatusCode::kOutOfMemory || !MayFit(plan)) {
    return taken;
  }
  const std::lock_guard lock(state.mutex);
  if (state.leases.empty() && state.changes == changes) return taken;
  return std::unique_ptr<Lease>();
}

Result<std::unique_ptr<SharedArenas::Lease>> SharedArenas::Take(
    const ir::Plan& plan) {
  Turn turn(state_.Get(), plan);
  while (true) {
    turn.Await();
    const uint64_t changes = Changes();
    auto taken = [&] {
      const std::lock_guard taking(state_.Get().taking);
      return TakeNow(plan);
    }();
    if (taken.status().code() != StatusCode::kOutOfMemory || !MayFit(plan)) {
      return taken;
    }
    if (!WaitForChange(changes, turn)) return taken;
  }
}

// False where the devices have no memory for it at any time.
bool SharedArenas::MayFit(const ir::Plan& plan) const {
  return std::all_of(plan.arenas.begin(), plan.arenas.end(),
                     [&](const ir::Arena& arena) {
                       const ir::DeviceInfo& info =
                           devices_[static_cast<size_t>(arena.device)]->info();
                       const auto holds = [&](int64_t limit) {
                         return limit <= 0 || arena.bytes <= limit;
                       };
                       return holds(info.global_memory_bytes) &&
                              holds(info.max_allocation_bytes);
                     });
}

bool SharedArenas::WaitForChange(uint64_t changes, Turn& turn) {
  struct User {
    std::shared_ptr<RunEvent> run;  // null: not known yet, or there is none
    Ends ends = Ends::kByItself;
  };
  State& state = state_.Get();
  std::vector<User> users;
  {
    const std::lock_guard lock(state.mutex);
    if (state.changes != changes) return true;
    for (const Lease* lease : state.leases) {
      users.push_back({lease->run_.lock(), lease->ends_});
    }
  }
  std::erase_if(users, [](const User& user) {
    return user.run != nullptr && IsInside(*user.run);
  });
  if (users.empty()) return false;
  for (const User& user : users) {
    if (user.run == nullptr || user.ends != Ends::kWhenAwaited) continue;
    static_cast<void>(user.run->Wait());
    return true;
  }
  // Others come back by themselves, and then all that are left call clients.
  const bool all_call_clients = std::all_of(
      users.begin(), users.end(),
      [](const User& user) { return user.ends == Ends::kByClients; });
  std::unique_lock lock(state.mutex);
  const auto has_changed = [&] { return state.changes != changes; };
  if (all_call_clients) {
    return state.changed.wait_for(lock, kStandstill, has_changed) ||
           turn.LetOthersPass();
  }
  state.changed.wait(lock, has_changed);
  return true;
}

void SharedArenas::Return(Lease& lease) {
  State& state = state_.Get();
  std::vector<Block> surplus;  // let go without the lock
  const std::lock_guard lock(state.mutex);
  std::move(lease.blocks_.begin(), lease.blocks_.end(),
            std::back_inserter(state.free));
  // A lease is listed, and waited for, once it has all of its arenas.
  if (std::erase(state.leases, &lease) != 0) {
    ++state.changes;
    state.in_order = true;
    state.changed.notify_all();
  }
  if (state.leases.empty()) surplus = TakeSurplus(state);
}

// Arenas stay that runs had at a time since there was no run.
std::vector<SharedArenas::Block> SharedArenas::TakeSurplus(State& state) {
  const size_t kept = std::max<size_t>(1, std::exchange(state.most_leases, 0));
  std::vector<Block> surplus;
  std::vector<std::array<size_t, 2>> counts(devices_.size());
  // Arenas that came back last are used first.
  for (size_t i = state.free.size(); i-- > 0;) {
    Block& block = state.free[i];
    if (++counts[block.device][static_cast<size_t>(block.kind)] <= kept) {
      continue;
    }
    state.bytes -= block.buffer->bytes();
    surplus.push_back(std::move(block));
    state.free.erase(state.free.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return surplus;
}

int64_t SharedArenas::bytes() const {
  State& state = state_.Get();
  const std::lock_guard lock(state.mutex);
  return state.bytes;
}

}  // namespace tim::runtime
