#include "device/opencl/program/program_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/kernels/user_kernel.h"
#include "tests/support/status_macros.h"

namespace tim::device {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

ir::UserLaunch UserLaunch(const std::string& text, uint64_t edition = 0) {
  ir::UserLaunch launch = testing::UserKernel(text).launch();
  launch.edition = edition;
  return launch;
}

TEST(ProgramSource, UsersNeedNoPragmaForHalves) {
  const ir::UserLaunch users = UserLaunch("__kernel void f(half x) {}\n");
  EXPECT_THAT(SourceOf(users, "device").head,
              HasSubstr("#ifdef cl_khr_fp16\n"
                        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"));
  ir::KernelLaunch launch;
  launch.text = users.text;
  const auto source = SourceOf(launch, "device");
  ASSERT_OK(source);
  EXPECT_THAT(source->head, Not(HasSubstr("cl_khr_fp16")));
}

TEST(ProgramSource, ATextIsBuiltWhereNothingIsEmbedded) {
  ir::KernelLaunch launch;
  launch.text = "__kernel void f() {}\n";
  launch.function = "f";
  const auto unnamed = SourceOf(launch, "device");
  ASSERT_OK(unnamed);
  EXPECT_EQ(unnamed->name, "kernel 'f'");
  EXPECT_EQ(unnamed->text, launch.text);
  launch.source = "bench.f";
  const auto named = SourceOf(launch, "device");
  ASSERT_OK(named);
  EXPECT_EQ(named->name, "bench.f");
  EXPECT_EQ(named->key, unnamed->key);
  EXPECT_THAT(unnamed->head, EndsWith("#line 1 \"kernel 'f'\"\n"));
  EXPECT_THAT(named->head, EndsWith("#line 1 \"bench.f\"\n"));
}

TEST(ProgramSource, EditionsAreOfIncompleteTextsOnly) {
  const auto key = [](const std::string& text, uint64_t edition) {
    return SourceOf(UserLaunch(text, edition), "device").key;
  };
  EXPECT_TRUE(SourceOf(UserLaunch("int a;"), "device").complete);
  EXPECT_EQ(key("int a;", 1), key("int a;", 2));
  EXPECT_EQ(key("int a;", 0), key("int a;", 0));
  const std::string included = "#include \"a.h\"\n";
  EXPECT_FALSE(SourceOf(UserLaunch(included), "device").complete);
  EXPECT_EQ(key(included, 1), key(included, 1));
  EXPECT_NE(key(included, 1), key(included, 2));
  EXPECT_NE(key(included, 0), key(included, 0));
}

}  // namespace
}  // namespace tim::device
