// A run, as it goes, in the trace.
#ifndef TIM_RUNTIME_RUN_TRACE_H_
#define TIM_RUNTIME_RUN_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/trace.h"
#include "device/device.h"
#include "runtime/executable.h"
#include "runtime/run_text.h"

namespace tim::runtime {

/// The runs of one context, told of as they go, by one thread at a time.
///
/// Devices have a row for each of their streams.  What is handed over there
/// lasts, as the host sees it, from then to when it is seen to be complete; its
/// steps share that time as they were estimated.  Of chains, whose shares are
/// the same in all runs, the first kOpenedRuns are opened into their launches:
/// of the shortest the writing would else take a twentieth.  Host steps,
/// and what the host waits for, are in the row of the thread that does it.
class RunTrace {
 public:
  static constexpr int kOpenedRuns = 1000;

  /// \param streams per device of the plan, null where it is not used.
  RunTrace(const Executable& executable,
           std::span<const std::unique_ptr<device::Stream>> streams);

  void BeginRun();
  /// Around the handing over of a group; the second where that went well.
  void BeginGroup() { group_begin_ = TraceBegin(); }
  void EndGroup(const StepGroup& group);
  /// All is handed over.
  void EndEnqueue();

  /// Around a wait of the host for a step, during the handing over.
  void BeginWait() { wait_begin_ = TraceBegin(); }
  void EndWait(size_t step);
  /// The run was seen to have ended, before anybody waits for it.
  void SeeEnd();
  /// With BeginWait() before it: the run has ended.
  void EndRun();

 private:
  // The queue of a device.
  struct Row {
    std::unique_ptr<TraceTrack> track;
    std::vector<const RunText::Group*> pending;
    int64_t begin = 0;  // of what is pending
  };

  // Events up to a step are complete.
  void Complete(Row& row, size_t step, int64_t now);

  const RunText& text_;
  std::vector<Row> rows_;  // per device; of the host without a track
  int runs_ = 0;           // up to kOpenedRuns
  int64_t begin_ = 0;
  int64_t group_begin_ = 0;
  int64_t wait_begin_ = 0;
  int64_t seen_end_ = 0;  // 0: not yet
};

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_RUN_TRACE_H_
