// Lends arenas to runs, and makes larger ones where a plan needs them.
#include "runtime/shared_arenas.h"

#include <algorithm>
#include <iterator>

#include "device/device_pools.h"

namespace tim::runtime {

SharedArenas::Lease::~Lease() { owner_->Return(std::move(blocks_)); }

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

// The smallest one that is large enough; one that is not makes room for it.  A
// new one is as large as any was, where there is memory for that.
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
  TIM_ASSIGN_OR_RETURN(made.buffer, std::move(buffer));
  const std::lock_guard lock(state.mutex);
  LeastOf(state, arena) = bytes;
  state.bytes += bytes;
  return made;
}

Result<std::unique_ptr<SharedArenas::Lease>> SharedArenas::Take(
    const ir::Plan& plan) {
  State& state = state_.Get();
  {
    const std::lock_guard lock(state.mutex);
    state.most_leases = std::max(state.most_leases, ++state.leases);
  }
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
  return lease;
}

void SharedArenas::Return(std::vector<Block> blocks) {
  State& state = state_.Get();
  std::vector<Block> surplus;  // let go without the lock
  const std::lock_guard lock(state.mutex);
  std::move(blocks.begin(), blocks.end(), std::back_inserter(state.free));
  if (state.leases > 0 && --state.leases == 0) surplus = TakeSurplus(state);
}

// Arenas stay that runs had at a time since there was no run.
std::vector<SharedArenas::Block> SharedArenas::TakeSurplus(State& state) {
  const size_t kept = std::exchange(state.most_leases, 0);
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
