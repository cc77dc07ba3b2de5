#include "bench/timing/processors.h"

#include <sched.h>

namespace tim::bench {

std::vector<int> AllowedProcessors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof(allowed), &allowed);
  std::vector<int> processors;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) processors.push_back(cpu);
  }
  return processors;
}

bool StayOn(const std::vector<int>& processors) {
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  for (const int cpu : processors) CPU_SET(cpu, &chosen);
  return sched_setaffinity(0, sizeof(chosen), &chosen) == 0;
}

}  // namespace tim::bench
