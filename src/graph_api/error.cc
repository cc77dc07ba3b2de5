// Turns failures into the codes of the C boundary, and keeps their messages.
#include "graph_api/error.h"

#include <string>

#include "graph_api/verbose.h"

namespace tim::graph {
namespace {

std::string& LastMessage() {
  thread_local std::string message;
  return message;
}

}  // namespace

tim_graph_status_t CodeOf(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return tim_graph_success;
    case StatusCode::kInvalidArgument:
    case StatusCode::kNotFound:
      return tim_graph_invalid_arguments;
    case StatusCode::kUnimplemented:
      return tim_graph_unimplemented;
    case StatusCode::kOutOfMemory:
      return tim_graph_out_of_memory;
    default:
      return tim_graph_runtime_error;
  }
}

tim_graph_status_t Answer(const Status& status) noexcept {
  return Answer(CodeOf(status.code()), status);
}

tim_graph_status_t Answer(tim_graph_status_t code,
                          const Status& status) noexcept {
  if (status.ok()) return tim_graph_success;
  try {
    LastMessage() = status.message();
    verbose::Refusal(code, status.message());
  } catch (...) {
    LastMessage().clear();
  }
  return code;
}

}  // namespace tim::graph

const char* tim_graph_last_message(void) {
  return tim::graph::LastMessage().c_str();
}
