#include "base/processors.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <string_view>
#include <thread>
#include <vector>

#include "base/ascii.h"
#include "base/fork/keep_one.h"
#include "base/str_cat.h"

namespace tim {
namespace {

constexpr int kNoLimit = std::numeric_limits<int>::max();

enum class Version { kOne, kTwo };

// A mounted tree of control groups.
struct Hierarchy {
  Version version = Version::kOne;
  std::string root;   // The group that is seen at `mount`.
  std::string mount;  // A folder.
};

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find(separator, start), text.size());
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

// Whether "rw,cpu,cpuacct" or the like names the controller of quotas.
bool HasCpu(const std::string& list) {
  const std::vector<std::string> words = Split(list, ',');
  return std::find(words.begin(), words.end(), "cpu") != words.end();
}

// Of /proc/self/mountinfo: "31 23 0:28 root mount options … - type source
// options".
std::vector<Hierarchy> HierarchiesOf(const std::string& mountinfo) {
  std::vector<Hierarchy> found;
  for (const std::string& line : Split(mountinfo, '\n')) {
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const auto left = Split(line.substr(0, dash), ' ');
    const auto right = Split(line.substr(dash + 3), ' ');
    if (left.size() < 5 || right.size() < 3) continue;
    if (right[0] == "cgroup2") {
      found.push_back({Version::kTwo, left[3], left[4]});
    } else if (right[0] == "cgroup" && HasCpu(right[2])) {
      found.push_back({Version::kOne, left[3], left[4]});
    }
  }
  return found;
}

// Of /proc/self/cgroup, "number:controllers:/group" per hierarchy: the group of
// this process; version 2 has no controllers.
std::string GroupOf(Version version, const std::string& cgroup) {
  for (const std::string& line : Split(cgroup, '\n')) {
    const size_t first = line.find(':');
    if (first == std::string::npos) continue;
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string list = line.substr(first + 1, second - first - 1);
    if (version == Version::kTwo ? list.empty() : HasCpu(list)) {
      return line.substr(second + 1);
    }
  }
  return "";
}

// The group below what is mounted, as "/a/b"; empty for what is mounted itself,
// which also stands for groups out of sight.
std::string Below(const std::string& root, std::string_view group) {
  if (root != "/") {
    if (!group.starts_with(root)) return "";
    group.remove_prefix(root.size());
  }
  return group.starts_with('/') && group.size() > 1 ? std::string(group) : "";
}

// `quota` microseconds of `period`.
int Worth(int64_t quota, int64_t period) {
  if (quota <= 0 || period <= 0) return kNoLimit;
  const int64_t processors = (quota - 1) / period + 1;
  return static_cast<int>(std::min<int64_t>(processors, kNoLimit));
}

std::optional<int64_t> TakeNumber(std::string_view* text) {
  const std::string_view word = TakeWord(text);
  int64_t number = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

int LimitOfGroup(Version version, const std::string& folder,
                 const FileReader& read) {
  const std::string text =
      version == Version::kTwo
          ? read(StrCat(folder, "/cpu.max"))
          : StrCat(read(StrCat(folder, "/cpu.cfs_quota_us")), " ",
                   read(StrCat(folder, "/cpu.cfs_period_us")));
  // "max 100000", or -1 and 100000, where there is none.
  std::string_view numbers = text;
  const std::optional<int64_t> quota = TakeNumber(&numbers);
  const std::optional<int64_t> period = TakeNumber(&numbers);
  if (!quota.has_value() || !period.has_value()) return kNoLimit;
  return Worth(*quota, *period);
}

// The group's own quota holds, and those of the groups that it is in.
int LimitOf(const Hierarchy& hierarchy, std::string group,
            const FileReader& read) {
  int limit = kNoLimit;
  while (true) {
    limit = std::min(limit, LimitOfGroup(hierarchy.version,
                                         StrCat(hierarchy.mount, group), read));
    if (group.empty()) return limit;
    group.erase(group.rfind('/'));
  }
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

int ProcessorsOfAffinity() {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof(usable), &usable) == 0) {
    return CPU_COUNT(&usable);
  }
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

std::optional<int> ProcessorsOfQuota(const FileReader& read) {
  const std::string cgroup = read("/proc/self/cgroup");
  int limit = kNoLimit;
  for (const Hierarchy& hierarchy :
       HierarchiesOf(read("/proc/self/mountinfo"))) {
    const std::string group =
        Below(hierarchy.root, GroupOf(hierarchy.version, cgroup));
    limit = std::min(limit, LimitOf(hierarchy, group, read));
  }
  if (limit == kNoLimit) return std::nullopt;
  return limit;
}

int UsableProcessors() {
  static constinit std::atomic<const int*> quota = nullptr;
  const int limit = KeepOne(
      quota, [] { return ProcessorsOfQuota(ReadFile).value_or(kNoLimit); });
  return std::max(1, std::min(ProcessorsOfAffinity(), limit));
}

// The file has a list of numbers and ranges of them: "0-1,4".
int MemoryDomainsOf(const FileReader& read) {
  int64_t domains = 0;
  for (const std::string& range :
       Split(read("/sys/devices/system/node/has_cpu"), ',')) {
    const size_t dash = range.find('-');
    std::string_view first = std::string_view(range).substr(0, dash);
    std::string_view last = first;
    if (dash != std::string::npos)
      last = std::string_view(range).substr(dash + 1);
    const std::optional<int64_t> from = TakeNumber(&first);
    const std::optional<int64_t> to = TakeNumber(&last);
    if (!from || !to || *to < *from) return 1;
    domains += *to - *from + 1;
  }
  return static_cast<int>(std::clamp<int64_t>(domains, 1, 4096));
}

int MemoryDomains() { return MemoryDomainsOf(ReadFile); }

}  // namespace tim
