// What a small graph costs: time per run, programs built per process.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "base/options.h"
#include "device/host/host_device.h"
#include "device/opencl/opencl_device.h"
#include "runtime/cache/program_cache.h"
#include "tests/support/child_process.h"
#include "tests/support/devices/kept_programs.h"
#include "tests/support/status_macros.h"
#include "tests/support/vx/first_run.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/ops.h"
#include "vx/graph/context_impl.h"

namespace tim::vx {
namespace {

// y = relu(x) on 16 floats.
struct SmallGraph {
  explicit SmallGraph(const std::shared_ptr<device::BinaryStore>& programs) {
    const auto opencl = device::CreateOpenClDevice(0, GetOptions().on_device);
    EXPECT_OK(opencl);
    driver_keeps_programs = testing::DriverKeepsPrograms(**opencl);
    graph = CreateContext({device::CreateHostDevice(), *opencl},
                          {.strict = true, .programs = programs})
                ->CreateGraph();
    x = graph->CreateTensor(TensorSpec(DataType::FLOAT32, {16}, INPUT));
    y = graph->CreateTensor(TensorSpec(DataType::FLOAT32, {16}, OUTPUT));
    graph->CreateOperation<ops::Relu>()->BindInput(x).BindOutput(y);
  }

  void RunOnce(float value) {
    std::vector<float> data(16, value);
    ASSERT_TRUE(x->CopyDataToTensor(data.data()));
    ASSERT_TRUE(graph->Run()) << graph->ErrorMessage();
    ASSERT_TRUE(y->CopyDataFromTensor(data.data()));
    EXPECT_EQ(data[15], std::max(value, 0.0f));
  }

  bool driver_keeps_programs = false;
  std::shared_ptr<Graph> graph;
  std::shared_ptr<Tensor> x;
  std::shared_ptr<Tensor> y;
};

double MedianMicroseconds(Graph& graph) {
  std::vector<double> times(1001);
  for (double& time : times) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(graph.Run());
    time = std::chrono::duration<double, std::micro>(
               std::chrono::steady_clock::now() - start)
               .count();
  }
  std::nth_element(times.begin(), times.begin() + 500, times.end());
  return times[500];
}

TEST(RunCost, OneReluOnSixteenFloatsTakesLessThan100Microseconds) {
  SmallGraph small(runtime::ProgramCache::Create({}));
  small.RunOnce(-3);
  small.RunOnce(5);
  // The best of several medians: other work of the machine is not ours.
  double best = MedianMicroseconds(*small.graph);
  for (int i = 0; i < 9 && best >= 100; ++i) {
    best = std::min(best, MedianMicroseconds(*small.graph));
  }
  EXPECT_LT(best, 100);
  RecordProperty("median_us", std::to_string(best));
  std::printf("median of Run(): %.1f us\n", best);
}

// Both processes have a folder of PoCL's for themselves: other tests build
// kernels meanwhile.
TEST(RunCost, SecondProcessBuildsNoProgram) {
  constexpr char kFolder[] = "TIM_TEST_FOLDER";
  constexpr char kSecond[] = "TIM_TEST_SECOND";
  if (testing::IsChild()) {
    const auto programs =
        runtime::ProgramCache::Create({.folder = std::getenv(kFolder)});
    const std::set<std::string> kernels = testing::BuiltKernels();
    SmallGraph small(programs);
    small.RunOnce(2);
    if (std::getenv(kSecond) == nullptr) {
      EXPECT_GE(programs->builds(), 1);
      if (small.driver_keeps_programs) {
        EXPECT_NE(testing::BuiltKernels(), kernels);
      }
      return;
    }
    EXPECT_EQ(testing::BuiltKernels(), kernels);
    if (small.driver_keeps_programs) return;
    EXPECT_EQ(programs->builds(), 0);
    EXPECT_GE(programs->disk_hits(), 1);
    return;
  }
  const std::string folder = ::testing::TempDir() + "/warm_cache";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  std::map<std::string, std::string> variables = {
      {kFolder, folder}, {"POCL_CACHE_DIR", folder + "/pocl"}};
  const testing::ChildResult first = testing::RunAsChild(variables);
  EXPECT_EQ(first.exit_status, 0) << first.output;
  variables[kSecond] = "1";
  const testing::ChildResult second = testing::RunAsChild(variables);
  EXPECT_EQ(second.exit_status, 0) << second.output;
}

// What PoCL makes for a binary of a program, see BinaryStore::keeps().
bool IsOfAnySize(const std::string& kernel) {
  return kernel.find("/0-0-0") != std::string::npos;
}

TEST(RunCost, KernelsAreBuiltForTheirSizesOnly) {
  testing::WithNothingBuilt([] {
    const auto programs = runtime::ProgramCache::Create({});
    ASSERT_TRUE(programs->keeps());
    SmallGraph small(programs);
    if (!small.driver_keeps_programs) GTEST_SKIP() << "it is no PoCL";
    small.RunOnce(2);
    const std::set<std::string> built = testing::BuiltKernels();
    EXPECT_FALSE(built.empty());
    EXPECT_TRUE(std::none_of(built.begin(), built.end(), IsOfAnySize));
    // Whoever asks for a binary gets one.
    size_t size = 0;
    ASSERT_TRUE(small.graph->CompileToBinary(nullptr, &size));
    EXPECT_GT(testing::BuiltKernels().size(), built.size());
  });
}

TEST(RunCost, WithoutAnyPlatformTheHostRunsAndOneWarningNamesThePackage) {
  if (testing::IsChild()) {
    const auto context = Context::Create();
    ASSERT_NE(context, nullptr);
    ASSERT_NE(Context::Create(), nullptr);  // warns no second time
    const auto graph = context->CreateGraph();
    const auto x =
        graph->CreateTensor(TensorSpec(DataType::FLOAT32, {2}, INPUT));
    const auto y =
        graph->CreateTensor(TensorSpec(DataType::FLOAT32, {2}, OUTPUT));
    graph->CreateOperation<ops::Relu>()->BindInput(x).BindOutput(y);
    float data[] = {-1, 4};
    ASSERT_TRUE(x->CopyDataToTensor(data));
    ASSERT_TRUE(graph->Run()) << graph->ErrorMessage();
    ASSERT_TRUE(y->CopyDataFromTensor(data));
    EXPECT_EQ(data[0], 0);
    EXPECT_EQ(data[1], 4);
    return;
  }
  const testing::ChildResult child = testing::RunAsChild(
      {{"OCL_ICD_VENDORS", ::testing::TempDir() + "/no_such_folder"},
       {"TIMCL_LOG", "warning"}});
  EXPECT_EQ(child.exit_status, 0) << child.output;
  const std::string package = "pocl-opencl-icd";
  const size_t first = child.output.find(package);
  ASSERT_NE(first, std::string::npos) << child.output;
  EXPECT_EQ(child.output.find(package, first + 1), std::string::npos)
      << child.output;
}

}  // namespace
}  // namespace tim::vx
