#include "device/opencl/program_set.h"

#include <algorithm>
#include <chrono>

#include "device/opencl/parallel_for.h"
#include "device/opencl/program_build.h"

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

std::vector<std::shared_future<ProgramSet::Built>> ProgramSet::Claim(
    std::span<const ProgramSource> sources, std::vector<Task>* tasks) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::shared_future<Built>> futures;
  for (const ProgramSource& source : sources) {
    const auto [it, added] = entries_.try_emplace(source.key);
    if (added) {
      Task& task = tasks->emplace_back();
      task.source = &source;
      it->second.built = task.promise.get_future().share();
    }
    it->second.last_use = ++uses_;
    futures.push_back(it->second.built);
  }
  DropOldest();
  return futures;
}

void ProgramSet::Build(Task& task, BinaryStore& store) {
  Built built = BuildProgram(context_, device_, *task.source, store);
  if (!built.ok()) {
    const std::lock_guard<std::mutex> lock(mutex_);
    entries_.erase(task.source->key);
  }
  task.promise.set_value(std::move(built));
}

Result<std::vector<cl::Program>> ProgramSet::Get(
    std::span<const ProgramSource> sources, BinaryStore& store) {
  std::vector<Task> tasks;
  const auto futures = Claim(sources, &tasks);
  // Own work first: two threads that wait for each other's programs both end.
  ParallelFor(tasks.size(), [&](size_t i) { Build(tasks[i], store); });
  std::vector<cl::Program> programs;
  for (const auto& future : futures) {
    const Built& built = future.get();
    if (!built.ok()) return built.status();
    programs.push_back(*built);
  }
  return programs;
}

}  // namespace tim::device
