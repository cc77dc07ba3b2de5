// Threads that a client lends.
#ifndef TIM_BASE_CLIENT_THREADS_H_
#define TIM_BASE_CLIENT_THREADS_H_

#include <functional>

namespace tim {

/// Where a thread has such, ParallelFor() and the host's steps use them instead
/// of threads of the library and the thread itself.
class ClientThreads {
 public:
  virtual ~ClientThreads() = default;

  /// As many calls as can be made at a time, 1 or more.
  virtual int count() const = 0;
  /// body(0) … body(calls - 1), at most once each, on threads of the client's
  /// choice; returns when they have returned.  `body` throws nothing.
  virtual void Run(int calls, const std::function<void(int)>& body) = 0;

  /// Threads lent to the calling thread, or null.
  static ClientThreads* Current();

  /// Lends them to this thread until it is destroyed.  Scopes nest.
  class Scope {
   public:
    explicit Scope(ClientThreads* threads);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    ClientThreads* const outer_;
  };
};

}  // namespace tim

#endif  // TIM_BASE_CLIENT_THREADS_H_
