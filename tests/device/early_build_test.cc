// Launches that build a kernel and run nothing, and the local sizes of those
// that leave them open.
#include "device/opencl/first_use/early_build.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "device/opencl/first_use/group_sizes.h"
#include "tests/support/kernels/test_launcher.h"
#include "tests/support/kernels/user_kernel.h"
#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

using Sizes = std::array<int64_t, 3>;

struct Launch {
  Sizes global;
  Sizes local;
};

const std::vector<Launch> kLaunches = {
    {{1, 1, 1}, {1, 1, 1}},          {{2, 1, 1}, {1, 1, 1}},
    {{1000, 1, 1}, {1000, 1, 1}},    {{4096, 1, 1}, {256, 1, 1}},
    {{65534, 1, 1}, {2114, 1, 1}},   {{65535, 1, 1}, {3855, 1, 1}},
    {{1 << 30, 1, 1}, {4096, 1, 1}}, {{640, 480, 1}, {40, 1, 1}},
    {{224, 224, 3}, {56, 56, 1}},    {{1, 1, 1000}, {1, 1, 1000}},
    {{1, 1, 4096}, {1, 1, 4096}},    {{1, 70000, 3}, {1, 7, 3}},
    {{60000, 60000, 1}, {1, 1, 1}},  {{16, 16, 16}, {16, 16, 16}},
    {{40000, 1, 512}, {8, 1, 512}},
};

TEST(EarlyBuild, TheNumberOfGroupsIs0ModuloTwoToThe64) {
  for (const auto& [global, local] : kLaunches) {
    const auto empty = EmptyLaunch(global, local);
    ASSERT_TRUE(empty) << global[0] << " " << global[1] << " " << global[2];
    ASSERT_EQ(empty->global.dimensions(), 3u);
    uint64_t groups = 1;
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(empty->local.get()[i], static_cast<size_t>(local[i]));
      EXPECT_GT(empty->global.get()[i], 0u);
      EXPECT_EQ(empty->global.get()[i] % local[i], 0u);
      groups *= empty->global.get()[i] / local[i];
    }
    EXPECT_EQ(groups, 0u);
  }
}

TEST(EarlyBuild, TheGridIsAsWideAsThatOfTheLaunch) {
  const auto is_wide = [](const auto& sizes) {
    return std::max<uint64_t>(sizes[0], sizes[1]) >= 65535;
  };
  for (const auto& [global, local] : kLaunches) {
    const auto empty = EmptyLaunch(global, local);
    ASSERT_TRUE(empty);
    EXPECT_EQ(is_wide(empty->global.get()), is_wide(global))
        << global[0] << " " << global[1] << " " << global[2];
  }
}

TEST(EarlyBuild, NoLaunchIsGivenWhereNoneIsNarrowEnough) {
  EXPECT_FALSE(EmptyLaunch({40000, 40000, int64_t{1} << 30},
                           {40000, 40000, int64_t{1} << 30}));
}

// What a kernel with open sizes sees, of a user or built in.
std::vector<int32_t> SeenLocalSizes(const Sizes& global, bool user) {
  constexpr char kText[] =
      "#ifdef BUILT_IN\n"
      "#define OFFSET , int offset\n"
      "#else\n"
      "#define OFFSET\n"
      "enum { offset = 0 };\n"
      "#endif\n"
      "__kernel void f(__global int* sizes OFFSET) {\n"
      "  const size_t i =\n"
      "      get_global_id(0) + get_global_id(1) + get_global_id(2);\n"
      "  if (i == 0) {\n"
      "    for (int d = 0; d < 3; ++d) sizes[offset + d] = get_local_size(d);\n"
      "  }\n"
      "}\n";
  testing::UserKernel kernel(kText);
  kernel.Out(ir::DataType::kInt32, {3});
  kernel.Sizes({global.begin(), global.end()});
  if (user) {
    EXPECT_OK(kernel.Run());
    return kernel.Operand<int32_t>(0);
  }
  ir::KernelLaunch launch;
  launch.text = kernel.launch().text;
  launch.function = kernel.launch().function;
  launch.range = kernel.launch().range;
  launch.options = "-DBUILT_IN";
  launch.arguments = {ir::TensorArg{0, 4}};
  std::vector<std::byte> bytes(12);
  EXPECT_OK(testing::RunLaunch(launch, {{&bytes, true}}));
  std::vector<int32_t> sizes(3);
  std::memcpy(sizes.data(), bytes.data(), bytes.size());
  return sizes;
}

TEST(EarlyBuild, OpenLocalSizesAreThoseOfTheDriver) {
  if (!testing::HasTestDevice()) GTEST_SKIP() << "no OpenCL device";
  const std::vector<Sizes> globals = {
      {1, 1, 1},     {7, 1, 1},      {100, 1, 1},   {1000, 1, 1},
      {4096, 1, 1},  {65534, 1, 1},  {10007, 1, 1}, {20014, 1, 1},
      {640, 480, 1}, {17, 13, 5},    {224, 224, 3}, {1, 1, 1000},
      {3, 1000, 1},  {300, 300, 30}, {6, 10, 15},   {2048, 2, 1}};
  for (const Sizes& global : globals) {
    EXPECT_EQ(SeenLocalSizes(global, true), SeenLocalSizes(global, false))
        << global[0] << " " << global[1] << " " << global[2];
  }
}

// On a machine with many cores.
TEST(EarlyBuild, EachCoreHasAGroupWhereGroupsStayLarge) {
  ir::DeviceInfo device;
  device.compute_units = 16;
  device.max_work_group_size = 4096;
  device.max_work_item_sizes = {4096, 4096, 4096};
  EXPECT_EQ(PoclLocalSizes({4096, 1, 1}, device, 8), (Sizes{256, 1, 1}));
  EXPECT_EQ(PoclLocalSizes({64, 1, 1}, device, 8), (Sizes{64, 1, 1}));
  EXPECT_EQ(PoclLocalSizes({1 << 20, 1, 1}, device, 8), (Sizes{4096, 1, 1}));
  EXPECT_EQ(PoclLocalSizes({10007, 1, 1}, device, 8), (Sizes{1, 1, 1}));
}

}  // namespace
}  // namespace tim::device
