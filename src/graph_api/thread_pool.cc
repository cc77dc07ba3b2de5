// Hands the library's loops to a client's thread pool.
#include "graph_api/thread_pool.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace tim::graph {
namespace {

class PoolThreads final : public ClientThreads {
 public:
  explicit PoolThreads(threadpool_iface* pool) : pool_(*pool) {}

  int count() const override { return std::max(pool_.get_num_threads(), 1); }

  void Run(int calls, const std::function<void(int)>& body) override {
    if (pool_.get_in_parallel()) {
      for (int i = 0; i < calls; ++i) body(i);
      return;
    }
    pool_.parallel_for(calls, [&body](int i, int) { body(i); });
    if ((pool_.get_flags() & threadpool_iface::ASYNCHRONOUS) != 0) {
      pool_.wait();
    }
  }

 private:
  threadpool_iface& pool_;
};

}  // namespace

std::unique_ptr<ClientThreads> ThreadsOf(threadpool_iface* pool) {
  return std::make_unique<PoolThreads>(pool);
}

Result<tim_graph_stream*> MakeThreadPoolStream(
    std::shared_ptr<tim_graph_engine> engine, threadpool_iface* pool) {
  if (engine->kind() != tim_graph_cpu) {
    return InvalidArgument(
        "a stream with a thread pool is of a cpu engine; this one is of kind ",
        tim_graph_engine_kind2str(engine->kind()));
  }
  tim_graph_stream* const stream = tim_graph_stream::Make(
      std::move(engine), unsigned{tim_graph_stream_default_flags});
  stream->set_threads(ThreadsOf(pool), pool);
  return stream;
}

Result<threadpool_iface*> ThreadPoolOf(const Stream& stream) {
  if (stream.thread_pool() != nullptr) {
    return static_cast<threadpool_iface*>(stream.thread_pool());
  }
  return InvalidArgument(
      "the stream has no thread pool; threadpool_interop::make_stream() makes "
      "one that has");
}

}  // namespace tim::graph
