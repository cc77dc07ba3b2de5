// Thread pools of clients as the library uses threads.
#ifndef TIM_GRAPH_API_THREAD_POOL_H_
#define TIM_GRAPH_API_THREAD_POOL_H_

#include <memory>

#include "base/client_threads.h"
#include "base/status.h"
#include "graph_api/engine.h"
#include "graph_api/stream.h"
#include "tim/graph/threadpool_iface.hpp"

namespace tim::graph {

using threadpool_interop::threadpool_iface;

/// Threads of `pool`, which outlives them.  Within a parallel section of the
/// pool the calling thread does the work.
std::unique_ptr<ClientThreads> ThreadsOf(threadpool_iface* pool);

/// A stream of a cpu engine whose host work the pool does; it is its client's.
Result<tim_graph_stream*> MakeThreadPoolStream(
    std::shared_ptr<tim_graph_engine> engine, threadpool_iface* pool);

/// kInvalidArgument where the stream has none.
Result<threadpool_iface*> ThreadPoolOf(const Stream& stream);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_THREAD_POOL_H_
