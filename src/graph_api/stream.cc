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
  while (!runs_.empty() && runs_.front()->Ready()) {
    Status status = runs_.front()->Wait();
    if (failure_.ok()) failure_ = std::move(status);
    runs_.erase(runs_.begin());
  }
}

void Stream::Add(std::shared_ptr<runtime::RunEvent> run) {
  last_ = run;
  runs_.push_back(std::move(run));
  if (runs_.size() > kMostKept) DropEnded();
}

Status Stream::Wait() {
  for (const auto& run : runs_) {
    Status status = run->Wait();
    if (failure_.ok()) failure_ = std::move(status);
  }
  runs_.clear();
  last_ = nullptr;
  if (gpu_ != nullptr) {
    Status status = gpu_->Wait();
    if (failure_.ok()) failure_ = std::move(status);
  }
  return std::exchange(failure_, OkStatus());
}

}  // namespace tim::graph
