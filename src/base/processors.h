// How many processors this process may use, and how they are divided.
#ifndef TIM_BASE_PROCESSORS_H_
#define TIM_BASE_PROCESSORS_H_

#include <functional>
#include <optional>
#include <string>

namespace tim {

/// The content of a file by its path, empty where it cannot be read.
using FileReader = std::function<std::string(const std::string& path)>;

/// As many processors as the CPU quotas of this process's control groups,
/// version 1 and 2, are worth: the smallest of them, rounded up.  Nothing where
/// there is no quota.  Reads /proc/self/cgroup, /proc/self/mountinfo and the
/// groups' own files.
std::optional<int> ProcessorsOfQuota(const FileReader& read);

/// Those that the calling thread may run on, as many as the quota allows, at
/// least 1.  The quota is that of the first call.  Any thread.
int UsableProcessors();

/// Number of memory domains (NUMA nodes) of this machine that have processors;
/// 1 where the system does not tell.  Reads
/// /sys/devices/system/node/has_cpu.
int MemoryDomainsOf(const FileReader& read);
/// Memory domains as the files of this machine tell them.
int MemoryDomains();

}  // namespace tim

#endif  // TIM_BASE_PROCESSORS_H_
