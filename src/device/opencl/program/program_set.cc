#include "device/opencl/program/program_set.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/guarded.h"
#include "base/parallel_for.h"
#include "base/trace.h"
#include "device/opencl/program/program_build.h"

namespace tim::device {
namespace {

// Graphs made with ever new sources must not fill the memory.
constexpr size_t kMaxPrograms = 256;

}  // namespace

void ProgramSet::DropOldest() {
  const auto older = [](const auto& a, const auto& b) {
    return a.second.last_use < b.second.last_use;
  };
  while (entries_.size() > kMaxPrograms) {
    const auto oldest =
        std::min_element(entries_.begin(), entries_.end(), older);
    if (oldest->second.built.wait_for(std::chrono::seconds(0)) !=
        std::future_status::ready) {
      return;
    }
    entries_.erase(oldest);
  }
}

ProgramSet::Futures ProgramSet::Claim(std::span<const ProgramSource> sources,
                                      std::vector<Task>* tasks) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Futures futures;
  for (const ProgramSource& source : sources) {
    auto it = entries_.find(source.key);
    if (it == entries_.end()) {
      Task& task = tasks->emplace_back();
      task.source = &source;
      Entry entry = {.built = task.promise.get_future().share()};
      it = entries_.emplace(source.key, std::move(entry)).first;
    } else {
      TraceInstant("cache", "program is there:", source.name);
    }
    it->second.last_use = ++uses_;
    futures.push_back(it->second.built);
  }
  DropOldest();
  return futures;
}

void ProgramSet::Finish(Task& task, Built built) {
  if (!built.ok()) {
    const std::lock_guard<std::mutex> lock(mutex_);
    entries_.erase(task.source->key);
  }
  task.promise.set_value(std::move(built));
  task.finished = true;
}

Result<ProgramSet::Futures> ProgramSet::Build(
    std::span<const ProgramSource> sources, BinaryStore& store) {
  std::vector<Task> tasks;
  const auto build = [&](size_t i) {
    Finish(tasks[i], GuardedCall([&] {
             return BuildProgram(context_, device_, *tasks[i].source, store);
           }));
    return OkStatus();
  };
  auto futures = GuardedCall([&]() -> Result<Futures> {
    Futures claimed = Claim(sources, &tasks);
    TIM_RETURN_IF_ERROR(ParallelFor(tasks.size(), build));
    return claimed;
  });
  // Other threads may wait for what was claimed and, for want of memory, not
  // built.
  for (Task& task : tasks) {
    if (!task.finished) Finish(task, futures.status());
  }
  return futures;
}

std::vector<ProgramSet::Built> ProgramSet::Get(
    std::span<const ProgramSource> sources, BinaryStore& store) {
  // Own work first: two threads that wait for each other's programs both end.
  const Result<Futures> futures = Build(sources, store);
  if (!futures.ok()) return {sources.size(), futures.status()};
  std::vector<Built> programs;
  for (const std::shared_future<Built>& future : *futures) {
    programs.push_back(future.get());
  }
  return programs;
}

ProgramSet::Built ProgramSet::Get(const ProgramSource& source,
                                  BinaryStore& store) {
  return std::move(Get({&source, 1}, store)[0]);
}

}  // namespace tim::device
