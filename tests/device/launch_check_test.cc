#include "device/launch_check.h"

#include <gtest/gtest.h>

#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

ir::DeviceInfo Device() {
  ir::DeviceInfo info;
  info.name = "small device";
  info.max_work_group_size = 64;
  info.max_work_item_sizes = {64, 64, 2};
  info.local_memory_bytes = 1024;
  return info;
}

ir::NdRange Range(std::array<int64_t, 3> global, std::array<int64_t, 3> local,
                  int dimensions) {
  return {.dimensions = dimensions, .global = global, .local = local};
}

ir::KernelLaunch Launch(std::array<int64_t, 3> global,
                        std::array<int64_t, 3> local, int dimensions) {
  ir::KernelLaunch launch;
  launch.function = "f";
  launch.range = Range(global, local, dimensions);
  return launch;
}

TEST(LaunchCheck, AcceptsWhatTheDeviceCanRun) {
  EXPECT_OK(CheckLimits(Launch({7, 1, 1}, {0, 0, 0}, 1), Device(), {}));
  EXPECT_OK(CheckLimits(Launch({16, 8, 4}, {8, 4, 2}, 3), Device(), {}));
  EXPECT_OK(CheckLimits(Launch({16, 0, 0}, {4, 0, 0}, 1), Device(), {}));
}

TEST(LaunchCheck, RefusesEmptyAndNegativeSizes) {
  EXPECT_ERROR(CheckLimits(Launch({16, 0, 1}, {0, 0, 0}, 2), Device(), {}),
               "kernel 'f' (global [16, 0], local [0, 0]): global size 0 of "
               "dimension 1 must be at least 1");
  EXPECT_ERROR(CheckLimits(Launch({-4, 1, 1}, {0, 0, 0}, 1), Device(), {}),
               "global size -4");
  EXPECT_ERROR(CheckLimits(Launch({4, 1, 1}, {-1, 0, 0}, 1), Device(), {}),
               "local size -1");
}

TEST(LaunchCheck, ZeroBesideOtherLocalSizesIsOne) {
  using Sizes = std::array<int64_t, 3>;
  EXPECT_EQ(LocalSizes(Range({4, 4, 1}, {0, 0, 0}, 2), {}), (Sizes{0, 0, 0}));
  EXPECT_EQ(LocalSizes(Range({4, 4, 1}, {0, 2, 0}, 2), {}), (Sizes{1, 2, 0}));
  EXPECT_EQ(LocalSizes(Range({4, 4, 4}, {2, 0, 0}, 3), {}), (Sizes{2, 1, 1}));
  // What is beyond the dimensions does not count.
  EXPECT_EQ(LocalSizes(Range({4, 4, 4}, {0, 7, 7}, 1), {}), (Sizes{0, 0, 0}));
  EXPECT_OK(CheckLimits(Launch({4, 4, 1}, {2, 0, 0}, 2), Device(), {}));
  EXPECT_OK(CheckLimits(Launch({4, 4, 1}, {0, 2, 0}, 2), Device(), {}));
}

TEST(LaunchCheck, GlobalSizesFitTheAddressBits) {
  const int64_t large = int64_t{1} << 32;
  ir::DeviceInfo small = Device();
  small.address_bits = 32;
  const ir::KernelLaunch launch = Launch({large, 1, 1}, {0, 0, 0}, 1);
  EXPECT_OK(CheckLimits(launch, Device(), {}));
  EXPECT_ERROR(CheckLimits(launch, small, {}),
               "global size 4294967296 of dimension 0 exceeds the 32 bits of "
               "small device");
}

TEST(LaunchCheck, RefusesWhatOverflows) {
  const int64_t huge = int64_t{1} << 62;
  EXPECT_ERROR(CheckLimits(Launch({huge, huge, 1}, {0, 0, 0}, 2), Device(), {}),
               "overflows");
}

TEST(LaunchCheck, RefusesLocalSizesThatDoNotDivide) {
  const Status status =
      CheckLimits(Launch({16, 1, 1}, {3, 0, 0}, 1), Device(), {});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_ERROR(status, "local size 3 does not divide global size 16");
}

TEST(LaunchCheck, RefusesWorkGroupsOverTheLimits) {
  EXPECT_ERROR(CheckLimits(Launch({64, 64, 1}, {16, 8, 0}, 2), Device(), {}),
               "a work-group of 128 items exceeds the limit 64");
  EXPECT_ERROR(CheckLimits(Launch({4, 4, 4}, {1, 1, 4}, 3), Device(), {}),
               "local size 4 of dimension 2 exceeds the limit 2");
  EXPECT_ERROR(CheckLimits(Launch({16, 1, 1}, {16, 0, 0}, 1), Device(),
                           {.work_group_size = 8}),
               "exceeds the limit 8");
}

TEST(LaunchCheck, RequiredWorkGroupSizeMustBeGivenOrLeftOpen) {
  const KernelLimits limits = {.required_local = {4, 1, 1}};
  EXPECT_OK(CheckLimits(Launch({16, 1, 1}, {4, 0, 0}, 1), Device(), limits));
  EXPECT_ERROR(CheckLimits(Launch({16, 1, 1}, {8, 0, 0}, 1), Device(), limits),
               "reqd_work_group_size is [4, 1, 1]");
  const ir::KernelLaunch open = Launch({16, 1, 1}, {0, 0, 0}, 1);
  EXPECT_OK(CheckLimits(open, Device(), limits));
  EXPECT_EQ(LocalSizes(open.range, limits), (std::array<int64_t, 3>{4, 0, 0}));
  EXPECT_ERROR(CheckLimits(Launch({18, 1, 1}, {0, 0, 0}, 1), Device(), limits),
               "local size 4 does not divide global size 18 of dimension 0");
  EXPECT_ERROR(CheckLimits(open, Device(), {.required_local = {4, 2, 1}}),
               "reqd_work_group_size is [4, 2, 1]");
}

TEST(LaunchCheck, TakesOneToThreeDimensions) {
  EXPECT_ERROR(CheckLimits(Launch({1, 1, 1}, {0, 0, 0}, 0), Device(), {}),
               "found 0");
  EXPECT_ERROR(CheckLimits(Launch({1, 1, 1}, {0, 0, 0}, 4), Device(), {}),
               "found 4");
}

TEST(LaunchCheck, LocalMemoryIsSummed) {
  ir::KernelLaunch launch = Launch({16, 1, 1}, {0, 0, 0}, 1);
  launch.arguments = {ir::LocalArg{512}, int32_t{1}, ir::LocalArg{512}};
  EXPECT_OK(CheckLimits(launch, Device(), {}));
  launch.arguments.emplace_back(ir::LocalArg{1});
  EXPECT_ERROR(CheckLimits(launch, Device(), {}),
               "1025 bytes of local memory exceed the 1024 of small device");
  launch.arguments = {ir::LocalArg{512}};
  EXPECT_OK(CheckLimits(launch, Device(), {.local_memory_bytes = 512}));
  EXPECT_ERROR(CheckLimits(launch, Device(), {.local_memory_bytes = 513}),
               "1025 bytes of local memory exceed the 1024");
  launch.arguments = {ir::LocalArg{0}};
  EXPECT_ERROR(CheckLimits(launch, Device(), {}),
               "a local argument of 0 bytes");
}

TEST(LaunchCheck, UsersLaunchesKeepTheSameRules) {
  ir::UserLaunch launch;
  launch.function = "g";
  launch.range = Range({16, 1, 1}, {3, 0, 0}, 1);
  EXPECT_ERROR(CheckLimits(launch, Device(), {}),
               "kernel 'g' (global [16], local [3]): local size 3 does not");
  launch.range.local = {4, 0, 0};
  EXPECT_OK(CheckLimits(launch, Device(), {}));
  launch.arguments = {ir::LocalArg{1024}, ir::LocalArg{1}};
  EXPECT_ERROR(CheckLimits(launch, Device(), {}),
               "1025 bytes of local memory exceed the 1024 of small device");
}

}  // namespace
}  // namespace tim::device
