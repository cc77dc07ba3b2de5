#include "bench/networks/process.h"

#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace tim::bench {

Status PinThreads(int count) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof(allowed), &allowed);
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&chosen) < count; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &chosen);
  }
  if (count < 1 || CPU_COUNT(&chosen) < count) {
    return InvalidArgument("threads: expected 1 to ", CPU_COUNT(&allowed),
                           ", found ", count);
  }
  if (sched_setaffinity(0, sizeof(chosen), &chosen) != 0) {
    return FailedPrecondition("the system refuses to pin this process");
  }
  setenv("POCL_MAX_PTHREAD_COUNT", std::to_string(count).c_str(), 1);
  // PoCL's thread i on processor i.
  bool first = true;
  for (int cpu = 0; cpu < count; ++cpu) first &= CPU_ISSET(cpu, &chosen) != 0;
  if (first) setenv("POCL_AFFINITY", "1", 1);
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
