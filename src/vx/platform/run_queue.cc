// Hands runs to the devices as long as nothing else is to be done before them.
#include "vx/platform/run_queue.h"

#include <algorithm>
#include <utility>

#include "vx/core/failure.h"

namespace tim::vx::platform {
namespace {

Status WaitForAll(const std::vector<EventPtr>& events) {
  Status first;
  for (const EventPtr& event : events) {
    const Status status = event->Wait();
    if (first.ok()) first = status;
  }
  return first;
}

// Work that is left when the devices have some of it; `after` may be null.
struct Rest {
  EventPtr after;
  std::vector<EventPtr> started;
  std::vector<QueuedRun> runs;
  IDevice::async_callback callback;

  Status Do() const {
    if (after != nullptr) static_cast<void>(after->Wait());
    Status first = WaitForAll(started);
    for (const QueuedRun& queued : runs) {
      const Status status = queued.run();
      if (first.ok()) first = status;
      if (queued.is_end) break;
    }
    return first;
  }
};

}  // namespace

RunQueue::~RunQueue() {
  if (!worker_.IsCalling()) static_cast<void>(worker_.Wait());
  WaitForDevices();
}

// The lock is held.  What it starts is taken out of `runs`.  Behind calls of
// the thread nothing is started: a callback reads what its runs have written.
std::vector<EventPtr> RunQueue::Start(State& state,
                                      std::vector<QueuedRun>* runs) {
  while (!state.in_flight.empty() && state.in_flight.front()->Ready()) {
    KeepFailure(state, state.in_flight.front());
  }
  if (state.last != nullptr && state.last->Ready()) state.last = nullptr;
  std::vector<EventPtr> started;
  if (!worker_.IsIdle()) return started;
  for (const QueuedRun& queued : *runs) {
    if (queued.try_start == nullptr) break;
    EventPtr event = queued.try_start(state.last);
    if (event == nullptr) break;
    state.last = event;
    started.push_back(std::move(event));
  }
  return started;
}

// The lock is held.  Two threads may have waited for the event.
void RunQueue::KeepFailure(State& state, const EventPtr& ended) {
  const EventPtr event = ended;
  if (std::erase(state.in_flight, event) == 0) return;
  const Status status = event->Wait();
  if (!status.ok()) queues_->Keep(status);
}

bool RunQueue::Launch(std::vector<QueuedRun> runs, Mode mode,
                      IDevice::async_callback callback) {
  if (mode == Mode::kWait && worker_.IsCalling()) {
    return Fail(FailedPrecondition(
        "a callback of Trigger() waits for the queue that calls it, which "
        "would never end; trigger with async = true"));
  }
  // Whatever ends with these ends without the lock.
  std::vector<QueuedRun> handed_over;
  Rest rest{.after = nullptr,
            .started = {},
            .runs = std::move(runs),
            .callback = std::move(callback)};
  Status status;
  Status posted;
  bool on_thread = true;
  {
    State& state = state_.Get();
    const std::lock_guard lock(state.mutex);
    rest.after = state.last;
    rest.started = Start(state, &rest.runs);
    const auto next =
        rest.runs.begin() + static_cast<std::ptrdiff_t>(rest.started.size());
    handed_over.assign(std::make_move_iterator(rest.runs.begin()),
                       std::make_move_iterator(next));
    rest.runs.erase(rest.runs.begin(), next);
    on_thread = !rest.runs.empty() || rest.callback != nullptr;
    if (!on_thread) {
      if (mode == Mode::kReturn) {
        state.in_flight.insert(state.in_flight.end(), rest.started.begin(),
                               rest.started.end());
      }
    } else if (mode == Mode::kReturn) {
      posted = worker_.Post([queues = queues_, rest = std::move(rest)] {
        const Status done = rest.Do();
        if (!done.ok()) queues->Keep(done);
        Tell(rest.callback, done);
      });
    } else {
      posted = worker_.Post([&] {
        status = rest.Do();
        Tell(rest.callback, status);
      });
    }
  }
  if (!posted.ok()) return Fail(posted);
  if (mode == Mode::kReturn) return true;
  if (on_thread) {
    const Status waited = worker_.Wait();
    if (!waited.ok()) return Fail(waited);
  } else {
    status = WaitForAll(rest.started);
  }
  return status.ok() || Adopt(status);
}

void RunQueue::WaitForDevices() {
  State& state = state_.Get();
  std::vector<EventPtr> events;
  {
    const std::lock_guard lock(state.mutex);
    events.assign(state.in_flight.begin(), state.in_flight.end());
    if (state.last != nullptr) events.push_back(state.last);
  }
  for (const EventPtr& event : events) {
    static_cast<void>(event->Wait());
    const std::lock_guard lock(state.mutex);
    KeepFailure(state, event);
  }
}

Status RunQueue::Wait() {
  TIM_RETURN_IF_ERROR(worker_.Wait());
  WaitForDevices();
  return OkStatus();
}

}  // namespace tim::vx::platform
