// The C boundary: streams.
#include "graph_api/error.h"
#include "graph_api/stream.h"
#include "tim/graph/c.h"

using namespace tim;         // NOLINT
using namespace tim::graph;  // NOLINT

tim_graph_status_t tim_graph_stream_create(tim_graph_stream_t* stream,
                                           tim_graph_engine_t engine,
                                           unsigned flags) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
    TIM_RETURN_IF_ERROR(RequireNotNull(engine, "engine"));
    constexpr unsigned kKnown =
        tim_graph_stream_in_order | tim_graph_stream_out_of_order |
        tim_graph_stream_profiling | tim_graph_stream_asynchronous;
    if ((flags & ~kKnown) != 0) {
      return InvalidArgument("stream flags ", flags, " have unknown bits");
    }
    *stream = tim_graph_stream::Make(engine->shared_from_this(), flags);
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_stream_get_engine(const_tim_graph_stream_t stream,
                                               tim_graph_engine_t* engine) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
    TIM_RETURN_IF_ERROR(RequireNotNull(engine, "engine"));
    *engine = stream->engine().get();
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_stream_wait(tim_graph_stream_t stream) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
    return stream->Wait();
  });
}

tim_graph_status_t tim_graph_stream_destroy(tim_graph_stream_t stream) {
  return Answer([&]() -> Status {
    if (stream != nullptr) stream->Drop();
    return OkStatus();
  });
}
