// Counts forks, and keeps other threads out of what they would leave half done.
#include "base/fork/fork.h"

#include <pthread.h>

#include <atomic>

namespace tim {
namespace {

constinit std::atomic<uint32_t> g_forks = 0;
constinit std::mutex g_mutex;

void Unlock() { g_mutex.unlock(); }

// Registered before any thread can be in a section: whoever registered at first
// use could be interrupted by a fork.
[[gnu::constructor]] void Register() {
  pthread_atfork([] { g_mutex.lock(); }, Unlock,
                 [] {
                   g_forks.fetch_add(1, std::memory_order_relaxed);
                   Unlock();
                 });
}

}  // namespace

uint32_t Forks() { return g_forks.load(std::memory_order_relaxed); }

std::mutex& ForkMutex() { return g_mutex; }

}  // namespace tim
