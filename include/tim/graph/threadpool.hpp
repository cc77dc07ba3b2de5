// Streams of cpu engines whose work on the host a client's thread pool does.
#ifndef TIM_GRAPH_THREADPOOL_HPP_
#define TIM_GRAPH_THREADPOOL_HPP_

#include "tim/graph/common.hpp"
#include "tim/graph/threadpool_iface.hpp"

namespace tim {
namespace graph {
namespace threadpool_interop {

/// Work of the host goes to `pool`, which must live as long as the stream.
inline stream make_stream(const engine& aengine, threadpool_iface* pool) {
  tim_graph_stream_t made = nullptr;
  error::wrap_c_api(
      tim_graph_threadpool_interop_stream_create(&made, aengine.get(), pool),
      "could not create a stream with a thread pool");
  return stream(made);
}

inline threadpool_iface* get_threadpool(const stream& astream) {
  void* pool = nullptr;
  error::wrap_c_api(
      tim_graph_threadpool_interop_stream_get_threadpool(astream.get(), &pool),
      "could not get the thread pool of a stream");
  return static_cast<threadpool_iface*>(pool);
}

}  // namespace threadpool_interop
}  // namespace graph
}  // namespace tim

#endif  // TIM_GRAPH_THREADPOOL_HPP_
