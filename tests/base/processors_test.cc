#include "base/processors.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <map>
#include <optional>
#include <string>
#include <thread>

namespace tim {
namespace {

using Files = std::map<std::string, std::string>;

std::optional<int> Quota(const Files& files) {
  return ProcessorsOfQuota([&](const std::string& path) {
    const auto file = files.find(path);
    return file == files.end() ? std::string() : file->second;
  });
}

// A machine of version 2 with this process in /a/b.
Files VersionTwo(const std::string& quota) {
  return {{"/proc/self/cgroup", "0::/a/b\n"},
          {"/proc/self/mountinfo",
           "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
           "31 22 0:28 / /cg rw,nosuid shared:9 master:3 - cgroup2 cgroup2 "
           "rw,nsdelegate\n"},
          {"/cg/a/b/cpu.max", quota}};
}

// A machine of version 1, as seen in a container that is told its path there.
Files VersionOne(const std::string& quota, const std::string& period) {
  return {{"/proc/self/cgroup",
           "12:cpuset:/box/c1\n4:cpu,cpuacct:/box/c1/job\n0::/box/c1\n"},
          {"/proc/self/mountinfo",
           "40 30 0:33 /box/c1 /cg/cpuset ro - cgroup cgroup rw,cpuset\n"
           "41 30 0:34 /box/c1 /cg/cpu,cpuacct ro,nosuid master:11 - cgroup "
           "cgroup rw,cpu,cpuacct\n"
           "42 30 0:35 /box/c1 /cg/unified ro - cgroup2 cgroup rw\n"},
          {"/cg/cpu,cpuacct/job/cpu.cfs_quota_us", quota},
          {"/cg/cpu,cpuacct/job/cpu.cfs_period_us", period}};
}

TEST(ProcessorsOfQuota, VersionTwoIsRoundedUp) {
  EXPECT_EQ(Quota(VersionTwo("200000 100000\n")), 2);
  EXPECT_EQ(Quota(VersionTwo("200001 100000\n")), 3);
  EXPECT_EQ(Quota(VersionTwo("150000 100000\n")), 2);
  EXPECT_EQ(Quota(VersionTwo("1000 100000\n")), 1);
  EXPECT_EQ(Quota(VersionTwo("40000 10000\n")), 4);
  EXPECT_EQ(Quota(VersionTwo("9223372036854775807 1\n")), std::nullopt);
}

TEST(ProcessorsOfQuota, VersionOneIsRoundedUp) {
  EXPECT_EQ(Quota(VersionOne("350000\n", "100000\n")), 4);
  EXPECT_EQ(Quota(VersionOne("400000\n", "100000\n")), 4);
  EXPECT_EQ(Quota(VersionOne("50000\n", "100000\n")), 1);
}

TEST(ProcessorsOfQuota, NoneIsNoLimit) {
  EXPECT_EQ(Quota(VersionTwo("max 100000\n")), std::nullopt);
  EXPECT_EQ(Quota(VersionOne("-1\n", "100000\n")), std::nullopt);
  EXPECT_EQ(Quota({}), std::nullopt);
  Files files = VersionTwo("");
  EXPECT_EQ(Quota(files), std::nullopt);
  files.erase("/proc/self/mountinfo");
  EXPECT_EQ(Quota(files), std::nullopt);
}

TEST(ProcessorsOfQuota, NonsenseIsNoLimit) {
  for (const char* text :
       {"0 100000", "100000", "100000 0", "100000 -5", "-7 100000", "a b",
        "99999999999999999999 100000", "\n\n", " "}) {
    EXPECT_EQ(Quota(VersionTwo(text)), std::nullopt) << text;
  }
  for (const char* text : {":", "::", "0::", "0:", "0::b", "x"}) {
    Files files = VersionTwo("200000 100000");
    files["/proc/self/cgroup"] = text;
    EXPECT_EQ(Quota(files), std::nullopt) << text;
  }
  for (const char* text : {" - ", "1 2 3 4 5", "1 - cgroup2 a b", " - a\n"}) {
    Files files = VersionTwo("200000 100000");
    files["/proc/self/mountinfo"] = text;
    EXPECT_EQ(Quota(files), std::nullopt) << text;
  }
}

TEST(ProcessorsOfQuota, TheSmallestOfTheGroupsAboveHolds) {
  Files files = VersionTwo("400000 100000");
  files["/cg/a/cpu.max"] = "300000 100000";
  EXPECT_EQ(Quota(files), 3);
  files["/cg/cpu.max"] = "100000 50000";
  EXPECT_EQ(Quota(files), 2);
  files["/cg/a/b/cpu.max"] = "100000 100000";
  EXPECT_EQ(Quota(files), 1);
}

// As in a container with a namespace of its own, or out of its sight.
TEST(ProcessorsOfQuota, WhatIsMountedStandsForGroupsOutOfSight) {
  for (const char* group : {"0::/\n", "0::/../../b\n", "0::/elsewhere\n"}) {
    Files files = VersionTwo("");
    files["/proc/self/cgroup"] = group;
    files["/cg/cpu.max"] = "300000 100000";
    EXPECT_EQ(Quota(files), 3) << group;
  }
  Files files = VersionOne("", "");
  files["/proc/self/cgroup"] = "4:cpu,cpuacct:/box/c11\n";
  files["/cg/cpu,cpuacct/cpu.cfs_quota_us"] = "200000";
  files["/cg/cpu,cpuacct/cpu.cfs_period_us"] = "100000";
  EXPECT_EQ(Quota(files), 2);
}

TEST(ProcessorsOfQuota, OtherControllersAreNotMistakenForIt) {
  Files files = VersionOne("", "");
  files["/cg/cpuset/cpu.cfs_quota_us"] = "100000";
  files["/cg/cpuset/cpu.cfs_period_us"] = "100000";
  EXPECT_EQ(Quota(files), std::nullopt);
}

TEST(MemoryDomains, AreThoseWithProcessors) {
  const std::pair<const char*, int> lists[] = {
      {"0\n", 1},   {"0-1\n", 2}, {"0,2-4\n", 4}, {"0-1,4", 3},
      {"", 1},      {"\n", 1},    {"none\n", 1},  {"3-1\n", 1},
      {"0-x\n", 1}, {",", 1},     {"-1\n", 1},    {"0-99999999\n", 4096}};
  for (const auto& [list, domains] : lists) {
    EXPECT_EQ(MemoryDomainsOf([&](const std::string& path) -> std::string {
                return path == "/sys/devices/system/node/has_cpu" ? list : "";
              }),
              domains)
        << list;
  }
  EXPECT_GE(MemoryDomains(), 1);
}

TEST(UsableProcessors, AreThoseThatTheThreadMayRunOn) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  EXPECT_GE(UsableProcessors(), 1);
  EXPECT_LE(UsableProcessors(), CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int i = 0; CPU_COUNT(&one) == 0; ++i) {
    if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
  }
  std::thread([&] {
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_EQ(UsableProcessors(), 1);
  }).join();
}

}  // namespace
}  // namespace tim
