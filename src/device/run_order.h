// Order of a run against work that the library does not know.
#ifndef TIM_DEVICE_RUN_ORDER_H_
#define TIM_DEVICE_RUN_ORDER_H_

namespace tim::device {

/// Work that a client has enqueued in queues of its own, and what one run has
/// to do with it.  Streams of devices that know such queues ask for the
/// thread's order whenever they are given work; others never do.  The device
/// derives its own.
class RunOrder {
 public:
  virtual ~RunOrder() = default;

  /// Order of the calling thread, or null.
  static RunOrder* Current();

  /// Makes `order` the thread's until it is destroyed; null: work that is
  /// enqueued meanwhile is of no client's run.  Scopes of a thread nest.
  class Scope {
   public:
    explicit Scope(RunOrder* order);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    RunOrder* const outer_;
  };
};

}  // namespace tim::device

#endif  // TIM_DEVICE_RUN_ORDER_H_
