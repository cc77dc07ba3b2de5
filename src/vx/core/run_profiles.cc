// Prints each profile once: with its graph's end, or at the process's.
#include "vx/core/run_profiles.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "base/fork/per_process.h"
#include "base/options.h"
#include "vx/core/profile_data.h"

namespace tim::vx {
namespace {

using runtime::Profiler;

// Profilers that this process has still to print.
struct Waiting {
  std::mutex mutex;
  std::set<const Profiler*> profilers;
  bool at_exit = false;
};

constinit GlobalPerProcess<Waiting> g_waiting;

void Print(const Profiler& profiler) {
  const GraphProfile profile = ProfileOf(profiler.profile());
  if (profile) std::fputs(ToString(profile).c_str(), stderr);
}

void PrintAll() {
  Waiting& waiting = g_waiting.Get();
  const std::lock_guard lock(waiting.mutex);
  for (const Profiler* profiler : waiting.profilers) Print(*profiler);
  waiting.profilers.clear();
}

void Add(const Profiler* profiler) {
  Waiting& waiting = g_waiting.Get();
  const std::lock_guard lock(waiting.mutex);
  waiting.profilers.insert(profiler);
  if (!std::exchange(waiting.at_exit, true)) std::atexit(PrintAll);
}

void PrintAndDelete(const Profiler* profiler) {
  Waiting& waiting = g_waiting.Get();
  {
    const std::lock_guard lock(waiting.mutex);
    if (waiting.profilers.erase(profiler) > 0) Print(*profiler);
  }
  delete profiler;
}

}  // namespace

std::shared_ptr<Profiler> ProfileIfAsked(runtime::CompiledGraph& graph) {
  if (!GetOptions().profile) return nullptr;
  const std::shared_ptr<Profiler> profiler(new Profiler(graph.executable()),
                                           PrintAndDelete);
  Add(profiler.get());
  graph.ObserveRuns(profiler);
  return profiler;
}

}  // namespace tim::vx
