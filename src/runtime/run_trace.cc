// Measures what the host sees of a run, and gives its steps their shares.
#include "runtime/run_trace.h"

#include <algorithm>
#include <limits>

namespace tim::runtime {

RunTrace::RunTrace(const Executable& executable,
                   std::span<const std::unique_ptr<device::Stream>> streams)
    : text_(executable.trace_text()), rows_(streams.size()) {
  // Further streams of a device share its row.
  const size_t devices = executable.plan().devices.size();
  for (size_t i = 1; i < std::min(streams.size(), devices); ++i) {
    if (streams[i] == nullptr) continue;
    const ir::DeviceInfo& info = executable.device(static_cast<int>(i)).info();
    rows_[i].track = std::make_unique<TraceTrack>(
        StrCat(info.kind, ": ", info.name, " queue"));
  }
}

void RunTrace::BeginRun() {
  for (Row& row : rows_) row.pending.clear();
  seen_end_ = 0;
  runs_ = std::min(runs_, kOpenedRuns) + 1;
  begin_ = TraceBegin();
}

void RunTrace::EndGroup(const StepGroup& group) {
  const RunText::Group& text = text_.of(group);
  Row& row = rows_[text.device];
  if (row.track == nullptr) {
    RecordTrace(text.measured.opened, group_begin_, TraceNow());
    return;
  }
  if (row.pending.empty()) row.begin = group_begin_;
  row.pending.push_back(&text);
}

void RunTrace::EndEnqueue() {
  RecordTrace(text_.enqueue(), begin_, TraceNow());
}

void RunTrace::EndWait(size_t step) {
  const int64_t now = TraceNow();
  RecordTrace(text_.wait(), wait_begin_, now);
  for (Row& row : rows_) {
    const auto holds = [step](const auto* group) {
      return group->last == step;
    };
    if (std::any_of(row.pending.begin(), row.pending.end(), holds)) {
      Complete(row, step, now);
    }
  }
}

void RunTrace::SeeEnd() {
  if (seen_end_ == 0) seen_end_ = TraceNow();
}

void RunTrace::EndRun() {
  const int64_t now = TraceNow();
  RecordTrace(text_.wait(), wait_begin_, now);
  const int64_t end = seen_end_ != 0 ? seen_end_ : now;
  for (Row& row : rows_) {
    Complete(row, std::numeric_limits<size_t>::max(), end);
  }
}

void RunTrace::Complete(Row& row, size_t step, int64_t now) {
  size_t count = 0;
  double total = 0;
  for (const RunText::Group* group : row.pending) {
    if (group->last > step) break;
    total += group->us;
    ++count;
  }
  if (count == 0) return;
  const int track = row.track->number();
  const int64_t begin = row.begin;
  const auto length = static_cast<double>(std::max<int64_t>(0, now - begin));
  if (count > 1) RecordTrace(text_.queue(), begin, now, track);
  double done = 0;
  int64_t last = begin;
  for (size_t i = 0; i < count; ++i) {
    const RunText::Group& group = *row.pending[i];
    done += group.us;
    const int64_t next =
        i + 1 == count ? std::max(begin, now)
                       : begin + static_cast<int64_t>(length * (done / total));
    const RunText::Texts& texts = count == 1 ? group.measured : group.estimated;
    RecordTrace(runs_ <= kOpenedRuns ? texts.opened : texts.closed, last, next,
                track);
    last = next;
  }
  row.pending.erase(row.pending.begin(),
                    row.pending.begin() + static_cast<ptrdiff_t>(count));
  row.begin = std::max(row.begin, now);
}

}  // namespace tim::runtime
