// Answers of functions of the C boundary.
#ifndef TIM_GRAPH_API_ERROR_H_
#define TIM_GRAPH_API_ERROR_H_

#include "base/guarded.h"
#include "base/status.h"
#include "tim/graph/c.h"

namespace tim::graph {

/// Code for a failure whose call says nothing more.
tim_graph_status_t CodeOf(StatusCode code);

/// CodeOf() the status; the message of a failure becomes this thread's
/// tim_graph_last_message().
tim_graph_status_t Answer(const Status& status) noexcept;
/// The same with the code that the call has for this failure.
tim_graph_status_t Answer(tim_graph_status_t code,
                          const Status& status) noexcept;
/// Of `call()`, a Status; what it throws is a failure, too.
template <typename Call>
requires std::is_invocable_v<Call> tim_graph_status_t Answer(const Call& call)
noexcept {
  return Answer(GuardedCall([&]() -> Status { return call(); }));
}

/// kInvalidArgument says what is null.
inline Status RequireNotNull(const void* object, const char* what) {
  if (object != nullptr) return OkStatus();
  return InvalidArgument("the ", what, " is null");
}

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_ERROR_H_
