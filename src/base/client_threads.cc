// Remembers which threads a client has lent to a thread.
#include "base/client_threads.h"

#include <utility>

namespace tim {
namespace {

thread_local constinit ClientThreads* t_threads = nullptr;

}  // namespace

ClientThreads* ClientThreads::Current() { return t_threads; }

ClientThreads::Scope::Scope(ClientThreads* threads)
    : outer_(std::exchange(t_threads, threads)) {}

ClientThreads::Scope::~Scope() { t_threads = outer_; }

}  // namespace tim
