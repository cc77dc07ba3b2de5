// Keeps per thread what memory of devices is asked for.
#include "device/memory_use.h"

#include <utility>

namespace tim::device {
namespace {

thread_local constinit MemoryUse t_use = MemoryUse::kRuns;

}  // namespace

MemoryUse CurrentMemoryUse() { return t_use; }

MemoryUseScope::MemoryUseScope(MemoryUse use)
    : before_(std::exchange(t_use, use)) {}

MemoryUseScope::~MemoryUseScope() { t_use = before_; }

}  // namespace tim::device
