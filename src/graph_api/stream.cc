// Keeps the runs of a stream until they have ended.
#include "graph_api/stream.h"

#include <algorithm>
#include <utility>

namespace tim::graph {
namespace {

constexpr size_t kMostKept = 8;

}  // namespace

Stream::~Stream() { static_cast<void>(Wait()); }

void Stream::DropEnded() {
  while (!runs_.empty() && runs_.front().run->Ready()) {
    Status status = runs_.front().run->Wait();
    if (failure_.ok()) failure_ = std::move(status);
    runs_.erase(runs_.begin());
  }
}

void Stream::Add(std::shared_ptr<runtime::RunEvent> run,
                 std::shared_ptr<const void> keeper) {
  last_ = run;
  runs_.push_back({.keeper = std::move(keeper), .run = std::move(run)});
  if (runs_.size() > kMostKept) DropEnded();
}

bool Stream::Settle() {
  for (const InFlight& each : runs_) {
    Status status = each.run->Wait();
    if (failure_.ok()) failure_ = std::move(status);
  }
  runs_.clear();
  last_ = nullptr;
  return (gpu_ == nullptr || gpu_->Settle()) && failure_.ok();
}

Status Stream::Wait() {
  Settle();
  if (gpu_ != nullptr) {
    Status status = gpu_->Wait();
    if (failure_.ok()) failure_ = std::move(status);
  }
  return std::exchange(failure_, OkStatus());
}

}  // namespace tim::graph
