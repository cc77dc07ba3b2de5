#include "device/opencl/program/program_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/kernels/user_kernel.h"
#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ProgramSource Source(const ir::KernelLaunch& launch) {
  auto source = SourceOf(launch, "device");
  EXPECT_OK(source);
  return *std::move(source);
}

ir::KernelLaunch UserLaunch(const std::string& text, uint64_t edition = 0) {
  ir::KernelLaunch launch = testing::UserKernel(text).launch();
  launch.edition = edition;
  return launch;
}

TEST(ProgramSource, UsersNeedNoPragmaForHalves) {
  ir::KernelLaunch launch = UserLaunch("__kernel void f(half x) {}\n");
  EXPECT_THAT(Source(launch).head,
              HasSubstr("#ifdef cl_khr_fp16\n"
                        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"));
  launch.user_kernel = false;
  EXPECT_THAT(Source(launch).head, Not(HasSubstr("cl_khr_fp16")));
}

TEST(ProgramSource, EditionsAreOfIncompleteTextsOnly) {
  const auto key = [](const std::string& text, uint64_t edition) {
    return Source(UserLaunch(text, edition)).key;
  };
  EXPECT_TRUE(Source(UserLaunch("int a;")).complete);
  EXPECT_EQ(key("int a;", 1), key("int a;", 2));
  EXPECT_EQ(key("int a;", 0), key("int a;", 0));
  const std::string included = "#include \"a.h\"\n";
  EXPECT_FALSE(Source(UserLaunch(included)).complete);
  EXPECT_EQ(key(included, 1), key(included, 1));
  EXPECT_NE(key(included, 1), key(included, 2));
  EXPECT_NE(key(included, 0), key(included, 0));
}

}  // namespace
}  // namespace tim::device
