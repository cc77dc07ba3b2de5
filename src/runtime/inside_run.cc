// Tells runs that a thread is in the middle of, so that none waits for itself.
#include "runtime/inside_run.h"

namespace tim::runtime {
namespace {

thread_local constinit const InsideRun* t_innermost = nullptr;

}  // namespace

InsideRun::InsideRun(const RunEvent& run) : run_(&run), outer_(t_innermost) {
  t_innermost = this;
}

InsideRun::~InsideRun() { t_innermost = outer_; }

bool IsInside(const RunEvent& run) {
  for (const InsideRun* at = t_innermost; at != nullptr; at = at->outer_) {
    if (at->run_ == &run) return true;
  }
  return false;
}

}  // namespace tim::runtime
