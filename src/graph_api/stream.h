// Streams: the order of executes.
#ifndef TIM_GRAPH_API_STREAM_H_
#define TIM_GRAPH_API_STREAM_H_

#include <memory>
#include <vector>

#include "base/client_threads.h"
#include "base/status.h"
#include "graph_api/client_held.h"
#include "graph_api/engine.h"
#include "graph_api/gpu_stream.h"
#include "runtime/run_event.h"
#include "tim/graph/c.h"

namespace tim::graph {

/// Executes of one engine, in the order of the calls.  One thread at a time.
class Stream {
 public:
  Stream(std::shared_ptr<tim_graph_engine> engine, unsigned flags)
      : engine_(std::move(engine)), flags_(flags) {}
  /// Waits for what is in flight.
  virtual ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  const std::shared_ptr<tim_graph_engine>& engine() const { return engine_; }
  /// An execute may return before its end, on a cpu engine.
  bool asynchronous() const {
    return (flags_ & tim_graph_stream_asynchronous) != 0;
  }

  /// The last run of a cpu engine, which the next one follows; null: none.
  const std::shared_ptr<runtime::RunEvent>& last() const { return last_; }
  /// A run that follows last().
  /// \param keeper is dropped some time after the run has ended.
  void Add(std::shared_ptr<runtime::RunEvent> run,
           std::shared_ptr<const void> keeper);
  /// Blocks until all is done.  The first failure of a run since the last call.
  Status Wait();
  /// Blocks until all runs are done, and leaves their failure to Wait().  False
  /// where there is one.
  bool Settle();

  /// Runs of a gpu engine; null for others, and until it is set.
  GpuStream* gpu() const { return gpu_.get(); }
  void set_gpu(std::unique_ptr<GpuStream> gpu) { gpu_ = std::move(gpu); }

  /// Threads of the client that do the host's work, and their handle; or null.
  ClientThreads* threads() const { return threads_.get(); }
  void* thread_pool() const { return thread_pool_; }
  void set_threads(std::unique_ptr<ClientThreads> threads, void* pool) {
    threads_ = std::move(threads);
    thread_pool_ = pool;
  }

 private:
  struct InFlight {
    std::shared_ptr<const void> keeper;
    std::shared_ptr<runtime::RunEvent> run;
  };
  void DropEnded();

  const std::shared_ptr<tim_graph_engine> engine_;
  const unsigned flags_;
  std::shared_ptr<runtime::RunEvent> last_;
  std::vector<InFlight> runs_;  ///< Oldest first.
  Status failure_;  ///< Of the first run that failed and is dropped.
  std::unique_ptr<GpuStream> gpu_;
  std::unique_ptr<ClientThreads> threads_;
  void* thread_pool_ = nullptr;
};

}  // namespace tim::graph

struct tim_graph_stream final : tim::graph::Stream,
                                tim::graph::ClientHeld<tim_graph_stream> {
  using Stream::Stream;
};

#endif  // TIM_GRAPH_API_STREAM_H_
