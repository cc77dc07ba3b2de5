#include "bench/networks/process.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "bench/timing/processors.h"

namespace tim::bench {

Status PinThreads(int count) {
  std::vector<int> chosen = AllowedProcessors();
  const auto allowed = static_cast<int>(chosen.size());
  if (count < 1 || count > allowed) {
    return InvalidArgument("threads: expected 1 to ", allowed, ", found ",
                           count);
  }
  chosen.resize(count);
  if (!StayOn(chosen)) {
    return FailedPrecondition("the system refuses to pin this process");
  }
  setenv("POCL_MAX_PTHREAD_COUNT", std::to_string(count).c_str(), 1);
  // PoCL's thread i on processor i: these are the first.
  if (chosen.back() == count - 1) setenv("POCL_AFFINITY", "1", 1);
  return OkStatus();
}

int64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t total = 0;
  int64_t resident = 0;
  statm >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace tim::bench
