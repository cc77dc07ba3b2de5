// Arenas that the runs of several executables use in turn.
#ifndef TIM_RUNTIME_SHARED_ARENAS_H_
#define TIM_RUNTIME_SHARED_ARENAS_H_

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
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
#include "runtime/run_event.h"

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

  /// How a run ends.
  enum class Ends : uint8_t {
    kByItself,
    kWhenAwaited,  ///< Devices do it: whoever waits ends it.
    kByClients,    ///< It calls their functions, which may wait for others.
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
    /// Tells who waits for arenas of the run that uses these, if it has an
    /// event.
    void SetRun(std::weak_ptr<RunEvent> run, Ends ends);

   private:
    friend class SharedArenas;
    explicit Lease(std::shared_ptr<SharedArenas> owner)
        : owner_(std::move(owner)) {}

    const std::shared_ptr<SharedArenas> owner_;
    std::vector<Block> blocks_;
    std::vector<PortMemory> arenas_;
    // The owner's lock.
    std::weak_ptr<RunEvent> run_;
    Ends ends_ = Ends::kByItself;
  };

  /// \param devices of all plans.
  explicit SharedArenas(std::vector<std::shared_ptr<device::Device>> devices)
      : devices_(std::move(devices)) {}

  /// Arenas of any content.  Where there is no memory for them, waits until a
  /// run has ended that has some.  First come, first served: waits for those
  /// that wait for memory of one of its devices before it does, too, but not
  /// inside of a run, whose end they may wait for.  kOutOfMemory, naming arena
  /// and graph, where there is none but runs that this thread is inside of, or
  /// where runs that call functions of clients, which may wait for this thread,
  /// have all and none of them ends for a quarter of a second.  Where they may
  /// wait for others that came later, those come first then, and it waits for
  /// a quarter of a second more.
  Result<std::unique_ptr<Lease>> Take(const ir::Plan& plan);
  /// The same without a wait: null where Take() would.
  Result<std::unique_ptr<Lease>> TryTake(const ir::Plan& plan);
  /// Makes arenas from now on as large as this plan needs them.
  void Reserve(const ir::Plan& plan);
  /// Bytes of all arenas that there are.
  int64_t bytes() const;

 private:
  class Turn;
  struct State {
    // Held while arenas of a plan are taken one after the other: who finds no
    // memory has not met another one who is about to find none.
    std::mutex taking;
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<Block> free;
    std::vector<std::array<int64_t, 2>> least;  // by device and kind
    std::vector<Lease*> leases;                 // oldest first
    size_t most_leases = 0;                     // since there were none
    uint64_t changes = 0;  // leases that came back or got their run
    std::list<const ir::Plan*> waiting;  // plans of Take(), first come first
    bool in_order = true;  // else nobody waits for those who came before
    int64_t bytes = 0;     // of those in leases, too
  };

  int64_t& LeastOf(State& state, const ir::Arena& arena) const;
  Result<Block> TakeOne(const ir::Arena& arena);
  // kOutOfMemory where there is no memory at the moment.  The caller holds
  // State::taking.
  Result<std::unique_ptr<Lease>> TakeNow(const ir::Plan& plan);
  bool MayFit(const ir::Plan& plan) const;
  uint64_t Changes() const;
  // Whether leases have changed since there were as many changes, or others
  // come first now; waits for that where it may.
  bool WaitForChange(uint64_t changes, Turn& turn);
  void Return(Lease& lease);
  bool DropFree(size_t device);
  // The lock is held.
  std::vector<Block> TakeSurplus(State& state);

  const std::vector<std::shared_ptr<device::Device>> devices_;
  mutable PerProcess<State> state_;
};

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_SHARED_ARENAS_H_
