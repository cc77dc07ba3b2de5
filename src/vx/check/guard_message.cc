// Reads the messages of src/device/opencl/guard/guarded_step.cc.
#include "vx/check/guard_message.h"

#include <charconv>
#include <string_view>

namespace tim::vx::check {
namespace {

struct Form {
  const char* text;
  FaultKind kind;
};

// The first one that a message has counts.
constexpr Form kForms[] = {
    {"' writes outside of ", FaultKind::kWritesOutside},
    {"' writes to ", FaultKind::kWritesInput},
    {"' reads outside of an input, or gives", FaultKind::kReadsOutside},
    {"' reads outside of ", FaultKind::kReadsOutside},
    {" before it is written: ", FaultKind::kReadsUnwritten},
    {" unwritten, the first is ", FaultKind::kUnwritten},
};

// "output 0" of "... of output 0 '__global ...".
std::string OperandIn(std::string_view message) {
  size_t first = std::string_view::npos;
  std::string operand;
  for (const std::string_view kind :
       {"input ", "output ", "scratch ", "table "}) {
    const size_t at = message.find(kind);
    if (at == std::string_view::npos || at >= first) continue;
    size_t end = at + kind.size();
    while (end < message.size() && message[end] >= '0' && message[end] <= '9') {
      ++end;
    }
    if (end == at + kind.size()) continue;
    first = at;
    operand = message.substr(at, end - at);
  }
  return operand;
}

int64_t ElementIn(std::string_view message) {
  int64_t element = -1;
  for (const std::string_view mark : {": element ", "first is element "}) {
    const size_t at = message.find(mark);
    if (at == std::string_view::npos) continue;
    std::from_chars(message.data() + at + mark.size(),
                    message.data() + message.size(), element);
    break;
  }
  return element;
}

}  // namespace

GuardMessage ReadGuardMessage(const std::string& message) {
  GuardMessage read;
  if (message.find("(found by TIMCL_GUARD)") == std::string::npos) return read;
  // Behind "kernel '<function>' ": names of operations may be anything.
  const std::string_view all = message;
  const size_t kernel = all.find(": kernel '");
  if (kernel == std::string_view::npos) return read;
  const std::string_view told = all.substr(kernel);
  for (const Form& form : kForms) {
    if (told.find(form.text) == std::string_view::npos) continue;
    read.kind = form.kind;
    read.operand = OperandIn(told);
    read.element = ElementIn(told);
    break;
  }
  return read;
}

}  // namespace tim::vx::check
