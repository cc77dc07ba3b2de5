// The interface of thread pools that clients lend to streams of cpu engines.
#ifndef TIM_GRAPH_THREADPOOL_IFACE_HPP_
#define TIM_GRAPH_THREADPOOL_IFACE_HPP_

#include <cstdint>
#include <functional>

namespace tim {
namespace graph {
namespace threadpool_interop {

/// Implemented by a client.  A stream that has one hands it the work of the
/// host; the pool must live as long as the stream.
struct threadpool_iface {
  virtual ~threadpool_iface() {}

  /// Threads that may work at a time.
  virtual int get_num_threads() const = 0;
  /// Whether the calling thread is in a parallel_for() of the pool.
  virtual bool get_in_parallel() const = 0;
  /// body(i, n) for every i from 0 to n - 1.  Returns when all have returned,
  /// unless get_flags() has ASYNCHRONOUS.
  virtual void parallel_for(int n,
                            const std::function<void(int, int)>& body) = 0;
  virtual std::uint64_t get_flags() const = 0;
  /// Blocks until every parallel_for() so far is done.
  virtual void wait() = 0;

  static constexpr std::uint64_t ASYNCHRONOUS = 1;
};

}  // namespace threadpool_interop
}  // namespace graph
}  // namespace tim

#endif  // TIM_GRAPH_THREADPOOL_IFACE_HPP_
