// Arenas that the runs of several executables use in turn.
#ifndef TIM_RUNTIME_SHARED_ARENAS_H_
#define TIM_RUNTIME_SHARED_ARENAS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/fork/per_process.h"
#include "base/status.h"
#include "device/device.h"
#include "ir/plan.h"
#include "ir/tensor_desc.h"
#include "runtime/given_arenas.h"
#include "runtime/port_binding.h"

namespace tim::runtime {

/// Arenas for the runs in flight, one set for each run, each as large as the
/// largest plan needs it.  Any thread; held by whoever uses it.
class SharedArenas : public std::enable_shared_from_this<SharedArenas> {
 public:
  /// An arena of one device and kind of memory.
  struct Block {
    size_t device = 0;
    ir::MemoryKind kind = ir::MemoryKind::kDevice;
    std::unique_ptr<device::Buffer> buffer;
  };

  /// The arenas of one run, for the next one when it is destroyed: no work uses
  /// them then.
  class Lease {
   public:
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    /// Memory for each arena of the plan; none for arenas of no bytes.
    GivenArenas arenas() const { return arenas_; }

   private:
    friend class SharedArenas;
    explicit Lease(std::shared_ptr<SharedArenas> owner)
        : owner_(std::move(owner)) {}

    const std::shared_ptr<SharedArenas> owner_;
    std::vector<Block> blocks_;
    std::vector<PortMemory> arenas_;
  };

  /// \param devices of all plans.
  explicit SharedArenas(std::vector<std::shared_ptr<device::Device>> devices)
      : devices_(std::move(devices)) {}

  /// Arenas of any content.  kOutOfMemory names arena and graph.
  Result<std::unique_ptr<Lease>> Take(const ir::Plan& plan);
  /// Makes arenas from now on as large as this plan needs them.
  void Reserve(const ir::Plan& plan);
  /// Bytes of all arenas that there are.
  int64_t bytes() const;

 private:
  struct State {
    std::mutex mutex;
    std::vector<Block> free;
    std::vector<std::array<int64_t, 2>> least;  // by device and kind
    size_t leases = 0;
    size_t most_leases = 0;  // since there were none
    int64_t bytes = 0;       // of those in leases, too
  };

  int64_t& LeastOf(State& state, const ir::Arena& arena) const;
  Result<Block> TakeOne(const ir::Arena& arena);
  void Return(std::vector<Block> blocks);
  // The lock is held.
  std::vector<Block> TakeSurplus(State& state);

  const std::vector<std::shared_ptr<device::Device>> devices_;
  mutable PerProcess<State> state_;
};

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_SHARED_ARENAS_H_
