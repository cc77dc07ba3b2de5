// Runs of one stream of a gpu engine.
#ifndef TIM_GRAPH_API_GPU_STREAM_H_
#define TIM_GRAPH_API_GPU_STREAM_H_

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "device/opencl/interop/client_memory.h"
#include "device/opencl/interop/client_queue.h"
#include "device/opencl/interop/client_run.h"
#include "runtime/compiled_graph.h"
#include "runtime/port_binding.h"
#include "runtime/run_event.h"

namespace tim::graph {

/// Memory of one port in one run.
struct GpuPort {
  /// On the device; null: `host` says where.
  std::shared_ptr<const device::ClientMemory> memory = nullptr;
  runtime::PortMemory host = {};
  device::OutputUse use = {};  ///< Of an output on the device.
  /// Keeps what `host` points to until the run has ended; may be null.
  std::shared_ptr<const void> keeper = nullptr;
};

/// In order, without a wait of the host where the plan has no work for it.  One
/// thread at a time.
class GpuStream {
 public:
  /// \param queue a client's, whose commands runs are ordered among; null: none
  /// so far.
  GpuStream(std::shared_ptr<device::Device> device,
            std::unique_ptr<device::ClientQueue> queue)
      : device_(std::move(device)), queue_(std::move(queue)) {}
  /// Waits for what is in flight.
  ~GpuStream();

  /// Hands a run of `graph` to the device, behind all runs of the stream, what
  /// its queue has now, and `waits`; it blocks while more runs of the graph are
  /// in flight than it has contexts for.  The event, which stays until the next
  /// call, is reached when the run has ended.  Where a plan has work for the
  /// host a thread does the run, and sets the event.
  /// \param graph null: a run that does nothing.
  /// \param arenas see GivenArenas.
  Result<device::Event*> Execute(
      const std::shared_ptr<runtime::CompiledGraph>& graph,
      std::span<const GpuPort> inputs, std::span<const GpuPort> outputs,
      std::span<const std::unique_ptr<device::Event>> waits = {},
      std::span<const GpuPort> arenas = {});

  /// Blocks until all runs, and what else is in the queue, are done.  The first
  /// failure of a run since the last call.
  Status Wait();
  /// Blocks until all runs are done, and leaves their failure to Wait().  False
  /// where there is one.
  bool Settle();

  /// The queue; a new one where the stream had none.
  Result<device::ClientQueue*> Queue();

 private:
  struct InFlight;
  using Graph = std::shared_ptr<runtime::CompiledGraph>;

  Status OrderAfter(std::span<const std::unique_ptr<device::Event>> waits,
                    InFlight* run) const;
  // Each sets last_.
  Status Start(const Graph& graph, const std::shared_ptr<InFlight>& run);
  Status StartOnThread(const Graph& graph,
                       const std::shared_ptr<InFlight>& run);
  Status DoNothing(std::span<const std::unique_ptr<device::Event>> waits);
  void DropEnded();

  const std::shared_ptr<device::Device> device_;
  std::unique_ptr<device::ClientQueue> queue_;
  std::vector<std::shared_ptr<runtime::RunEvent>> runs_;  ///< Oldest first.
  Status failure_;  ///< Of the first run that failed and is dropped.
  std::unique_ptr<device::Event> last_;  ///< Of the last run; or null.
};

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_GPU_STREAM_H_
