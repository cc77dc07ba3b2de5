// The C boundary: streams with thread pools of their clients.
#include "graph_api/error.h"
#include "graph_api/thread_pool.h"
#include "tim/graph/c.h"

using namespace tim;         // NOLINT
using namespace tim::graph;  // NOLINT

tim_graph_status_t tim_graph_threadpool_interop_stream_create(
    tim_graph_stream_t* stream, tim_graph_engine_t engine, void* threadpool) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
    TIM_RETURN_IF_ERROR(RequireNotNull(engine, "engine"));
    TIM_RETURN_IF_ERROR(RequireNotNull(threadpool, "thread pool"));
    TIM_ASSIGN_OR_RETURN(
        *stream,
        MakeThreadPoolStream(engine->shared_from_this(),
                             static_cast<threadpool_iface*>(threadpool)));
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_threadpool_interop_stream_get_threadpool(
    tim_graph_stream_t astream, void** threadpool) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(astream, "stream"));
    TIM_RETURN_IF_ERROR(RequireNotNull(threadpool, "thread pool"));
    TIM_ASSIGN_OR_RETURN(threadpool_iface * pool, ThreadPoolOf(*astream));
    *threadpool = pool;
    return OkStatus();
  });
}
