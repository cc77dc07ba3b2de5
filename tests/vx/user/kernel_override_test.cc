// TIMCL_KERNEL_OVERRIDE: kernels of custom operators from files, which may
// change while the program runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "tests/support/child_process.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/core/kernel_files.h"

namespace tim::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Folder {
 public:
  Folder() {
    std::string pattern = ::testing::TempDir() + "timcl_kernels_XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// `test` in a process with the variable, on a folder that is empty; the output
// of that.
std::string WithFolder(const std::function<void(const std::string&)>& test) {
  if (IsChild()) {
    test(std::getenv("TIMCL_KERNEL_OVERRIDE"));
    return "";
  }
  const Folder folder;
  const ChildResult child =
      RunAsChild({{"TIMCL_KERNEL_OVERRIDE", folder.path()}});
  EXPECT_EQ(child.exit_status, 0) << child.output;
  return child.output;
}

void WriteFile(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

// y[i] = `value`, of the element x.
std::string Kernel(const std::string& value) {
  return "__kernel void f(__global const float* in, __global float* y) {\n"
         "  const float x = in[get_global_id(0)];\n"
         "  y[get_global_id(0)] = " +
         value + ";\n}\n";
}

TEST(KernelOverride, CountsFromTheNextRunOn) {
  const std::string log = WithFolder([](const std::string& folder) {
    const std::string path = folder + "/TestOp.cl";
    TestOpGraph g(OpPlan{});
    EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(1, 2, 3, 4));
    WriteFile(path, Kernel("x + 1"));
    EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(2, 3, 4, 5));
    // As many bytes, in the same moment.
    WriteFile(path, Kernel("x + 2"));
    EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(3, 4, 5, 6));
    // A new graph finds it, runs that do not block too.
    TestOpGraph other(OpPlan{});
    const std::vector<float> x = {5, 6, 7, 8};
    std::vector<float> y(4);
    vx::RunEvent run = other.graph->RunAsync({x.data()}, {y.data()});
    EXPECT_TRUE(run && run.Wait()) << vx::LastError();
    EXPECT_THAT(y, ElementsAre(7, 8, 9, 10));
    std::filesystem::remove(path);
    EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(1, 2, 3, 4));
  });
  if (IsChild()) return;
  EXPECT_THAT(log, Not(HasSubstr("TIMCL_KERNEL_OVERRIDE")));
}

TEST(KernelOverride, WhatDoesNotBuildKeepsTheKernelOfBefore) {
  const std::string log = WithFolder([](const std::string& folder) {
    const std::string path = folder + "/TestOp.cl";
    WriteFile(path, Kernel("x + 1"));
    TestOpGraph g(OpPlan{});
    EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(2, 3, 4, 5));
    WriteFile(path, Kernel("x + no_such_name"));
    for (int run = 0; run < 3; ++run) {
      EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(2, 3, 4, 5));
    }
    // Another kernel than the operator calls, and parameters that do not fit.
    WriteFile(path, "__kernel void g(__global float* y) { y[0] = 1; }\n");
    EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(2, 3, 4, 5));
    WriteFile(path, Kernel("x + 3"));
    EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(4, 5, 6, 7));
  });
  if (IsChild()) return;
  EXPECT_THAT(log, AllOf(HasSubstr("[warning] graph g1: TIMCL_KERNEL_OVERRIDE"),
                         HasSubstr("/TestOp.cl' does not work; the kernel of "
                                   "before is kept: "),
                         HasSubstr("no_such_name"),
                         HasSubstr("the program has no kernel 'f'")));
  // Once, not in each run.
  const size_t first = log.find("the kernel of before is kept");
  const size_t second = log.find("the kernel of before is kept", first + 1);
  EXPECT_EQ(log.find("the kernel of before is kept", second + 1),
            std::string::npos);
}

TEST(KernelOverride, TheFirstThatDoesNotBuildLeavesTheOperatorsOwn) {
  const std::string log = WithFolder([](const std::string& folder) {
    WriteFile(folder + "/TestOp.cl", "no kernel at all");
    TestOpGraph g(OpPlan{});
    EXPECT_TRUE(g.graph->Compile()) << vx::LastError();
    EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(1, 2, 3, 4));
    WriteFile(folder + "/TestOp.cl", Kernel("-x"));
    EXPECT_TRUE(g.graph->Compile()) << vx::LastError();
    EXPECT_THAT(g.Run({1, 2, 3, 4}), ElementsAre(-1, -2, -3, -4));
  });
  if (IsChild()) return;
  EXPECT_THAT(log, HasSubstr("the kernel of before is kept"));
}

TEST(KernelOverride, AMistakeOfTheGraphIsStillAnError) {
  WithFolder([](const std::string& folder) {
    WriteFile(folder + "/TestOp.cl", Kernel("x"));
    OpPlan plan;
    plan.function = "";
    TestOpGraph g(plan);
    EXPECT_FALSE(g.graph->Run());
    EXPECT_THAT(vx::LastError(), HasSubstr("set no func_name_"));
    EXPECT_FALSE(g.graph->Run());
    EXPECT_THAT(vx::LastError(), HasSubstr("Compile() failed before"));
  });
}

// s += x: the state goes on through a new kernel, and one that fails.
TEST(KernelOverride, StatesStayAsTheyAre) {
  WithFolder([](const std::string& folder) {
    const std::string head =
        "__kernel void f(__global const float* x, __global float* s) {\n"
        "  s[get_global_id(0)] += ";
    OpPlan plan;
    plan.source = head + "x[get_global_id(0)];\n}\n";
    const auto graph = OpenClGraph();
    const std::vector<float> start = {10, 20};
    const auto x = graph->CreateTensor(Floats({2}, vx::INPUT));
    const auto s = graph->CreateTensor(Floats({2}, vx::VARIABLE), start.data());
    graph->CreateOperation<TestOp>(plan)->BindInput(x).BindOutput(s);
    Write<float>(x, {1, 2});
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    WriteFile(folder + "/TestOp.cl", head + "100;\n}\n");
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    EXPECT_THAT(Read(s), ElementsAre(111, 122));
    WriteFile(folder + "/TestOp.cl", head);
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    EXPECT_THAT(Read(s), ElementsAre(211, 222));
  });
}

TEST(KernelFiles, AreThoseOfTheOperatorsName) {
  const Folder folder;
  WriteFile(folder.path() + "/Gate.cl", "a");
  vx::KernelFiles files(folder.path());
  EXPECT_EQ(files.TextOf("user.Gate"), "a");
  EXPECT_EQ(files.TextOf("user.Other"), std::nullopt);
  EXPECT_EQ(files.TextOf("user.../Gate"), std::nullopt);
  EXPECT_TRUE(files.HasNew());
  EXPECT_THAT(files.NewPaths(), HasSubstr("/Gate.cl'"));
  files.Accept();
  EXPECT_FALSE(files.HasNew());
}

TEST(KernelFiles, ATimeWithoutAChangeIsNoChange) {
  const Folder folder;
  const std::string path = folder.path() + "/Gate.cl";
  WriteFile(path, "a");
  vx::KernelFiles files(folder.path());
  files.TextOf("user.Gate");
  files.Accept();
  const auto now = std::filesystem::last_write_time(path);
  std::filesystem::last_write_time(path, now + std::chrono::seconds(5));
  EXPECT_FALSE(files.Refresh());
  WriteFile(path, "b");
  std::filesystem::last_write_time(path, now - std::chrono::seconds(5));
  EXPECT_TRUE(files.Refresh());
  EXPECT_EQ(files.TextOf("user.Gate"), "b");
  files.Reject();
  EXPECT_EQ(files.TextOf("user.Gate"), "a");
  EXPECT_FALSE(files.Refresh()) << "a rejected text waits for a change";
  WriteFile(folder.path() + "/New.cl", "c");
  EXPECT_FALSE(files.Refresh()) << "nobody has asked for it";
}

TEST(KernelFiles, WhatCannotBeReadIsNotThere) {
  const Folder folder;
  std::filesystem::create_directory(folder.path() + "/Gate.cl");
  vx::KernelFiles files(folder.path());
  EXPECT_EQ(files.TextOf("user.Gate"), std::nullopt);
}

}  // namespace
}  // namespace tim::testing
