// Programs of users' texts that include files: nothing keeps them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/options.h"
#include "device/opencl/opencl_device.h"
#include "runtime/cache/program_cache.h"
#include "tests/support/plans/plan_builder.h"
#include "tests/support/plans/plan_run.h"
#include "tests/support/status_macros.h"

namespace tim::runtime {
namespace {

namespace fs = std::filesystem;
using testing::CompilePlan;
using testing::Devices;
using testing::Floats;
using testing::PlanBuilder;
using testing::RunOnce;

class IncludedText : public ::testing::Test {
 protected:
  void SetUp() override {
    if (device::CountOpenClDevices() == 0) GTEST_SKIP() << "no OpenCL device";
    devices_ = {*device::CreateOpenClDevice(0, GetOptions().on_device)};
    std::string pattern = ::testing::TempDir() + "timcl_included_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    cache_ = ProgramCache::Create({.folder = (root_ / "cache").string()});
  }
  void TearDown() override { fs::remove_all(root_); }

  void WriteHeader(int value) {
    std::ofstream(root_ / "value.h") << "#define VALUE " << value << "\n";
  }

  // What the kernel makes of the header.
  float Value(uint64_t edition) {
    ir::UserLaunch launch;
    launch.text =
        "#include \"value.h\"\n"
        "__kernel void f(__global float* y) { y[0] = VALUE; }\n";
    launch.function = "f";
    launch.options = "-I " + root_.string();
    launch.edition = edition;
    launch.arguments = {ir::UserTensorArg{.operand = 0,
                                          .type = ir::DataType::kFloat32,
                                          .dims = {1},
                                          .written = true,
                                          .name = "output 0"}};
    PlanBuilder plan(devices_, 1);
    plan.Input();
    const int out = plan.Temporary(0);
    plan.Launch(0, launch, {out});
    plan.Copy(0, out, plan.Output());
    const auto executable = CompilePlan(plan, cache_);
    EXPECT_OK(executable);
    const auto context = ExecutionContext::Create(*executable);
    EXPECT_OK(context);
    const auto values = RunOnce(**context, Floats{0});
    EXPECT_OK(values);
    return (*values)[0];
  }

  Devices devices_;
  fs::path root_;
  std::shared_ptr<ProgramCache> cache_;
};

TEST_F(IncludedText, AnEditionIsBuiltOnce) {
  WriteHeader(1);
  EXPECT_EQ(Value(1), 1);
  EXPECT_EQ(Value(1), 1);
  EXPECT_EQ(cache_->builds(), 1);
  WriteHeader(2);
  EXPECT_EQ(Value(2), 2);
  EXPECT_EQ(cache_->builds(), 2);
}

TEST_F(IncludedText, WithoutAnEditionNothingIsShared) {
  for (int value = 1; value < 4; ++value) {
    WriteHeader(value);
    EXPECT_EQ(Value(0), value);
  }
  EXPECT_GE(cache_->builds(), 3);
}

TEST_F(IncludedText, NoStoreKeepsIt) {
  WriteHeader(1);
  EXPECT_EQ(Value(1), 1);
  EXPECT_EQ(cache_->memory_hits() + cache_->disk_hits(), 0);
  for (const auto& entry : fs::directory_iterator(root_ / "cache")) {
    ADD_FAILURE() << entry.path();
  }
}

}  // namespace
}  // namespace tim::runtime
