// The program kernels: its plans, its results, its JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "bench/operators/measure_operators.h"
#include "bench/operators/plan_edit.h"
#include "bench/operators/quantized_cases.h"
#include "bench/operators/report.h"
#include "bench/timing/json_file.h"
#include "bench/timing/median.h"
#include "bench/timing/timed_plan.h"
#include "tests/support/long_tests.h"
#include "tests/support/plans/plan_steps.h"
#include "tests/support/status_macros.h"
#include "tim/vx/context.h"
#include "tim/vx/error.h"
#include "tim/vx/graph.h"
#include "vx/graph/graph_impl.h"

namespace tim::bench {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

// Of those of codes, which are many, one that computes and one that moves.
bool IsTested(const std::string& name) {
  const bool is_of_codes = name.rfind("u8_", 0) == 0 ||
                           name.find("_int8") != std::string::npos ||
                           name.find("_uint8") != std::string::npos;
  return !is_of_codes || name == "conv2d_3x3_64_56_int8" ||
         name == "u8_add_blocked";
}

// Names in their order; in short runs some of them.
std::vector<std::string> TestedNames() {
  std::vector<std::string> names;
  testing::Sample sample(3);
  for (const char* name : {"conv2d_3x3_64_56",
                           "conv2d_resnet50_float32",
                           "matmul_768x1024x768",
                           "fully_connected_1024_1000_batch1",
                           "conv2d_depthwise_3x3_32_112",
                           "max_pool_3x3_64_112",
                           "conv2d_3x3_64_56_int8",
                           "relu_1024x4096",
                           "add_1024x4096",
                           "select_1024x4096",
                           "transpose_1024x4096",
                           "slice_1024x4096",
                           "concat_1024x4096",
                           "tile_1024x4096",
                           "reduce_fastest_1024x4096",
                           "reduce_slowest_1024x4096",
                           "softmax_1024x4096",
                           "layer_norm_1024x4096",
                           "cumsum_1024x4096",
                           "gather_rows_256x16384",
                           "topk_8_of_100000",
                           "u8_add_blocked"}) {
    if (sample.Takes()) names.emplace_back(name);
  }
  return names;
}

TEST(Kernels, JsonHasEveryOperatorWithItsShareOfALimit) {
  const auto devices = MeasuredDevices();
  if (!devices.ok()) GTEST_SKIP() << devices.status().message();
  const std::vector<std::string> expected = TestedNames();
  const auto is_asked = [&](const std::string& name) {
    const bool is_taken =
        std::count(expected.begin(), expected.end(), name) > 0;
    return IsTested(name) && (is_taken || testing::RunsLongTests());
  };
  const auto results = MeasureOperators(Effort::kQuick, is_asked);
  ASSERT_OK(results);
  const std::string path = ::testing::TempDir() + "/kernels.json";
  ASSERT_OK(WriteJson(ToJson(*results, nullptr), path));
  const auto read = ReadJson(path);
  ASSERT_OK(read);
  std::vector<std::string> names;
  for (const json& result : *read) {
    names.push_back(result["name"]);
    const std::string unit = result.contains("gflops") ? "gflops" : "gbps";
    EXPECT_GT(result[unit], 0) << result;
    EXPECT_GT(result["limit"], 0) << result;
    EXPECT_GT(result["run_share"], 0) << result;
    EXPECT_NEAR(result["share"].get<double>(),
                result[unit].get<double>() / result["limit"].get<double>(),
                1e-9);
  }
  EXPECT_EQ(names, expected);
}

// Between pools, channels lie in blocks, and what is measured takes them as
// they come.
TEST(QuantizedCases, AreOfTheLayoutThatTheirNameTells) {
  const auto context = vx::Context::Create();
  ASSERT_NE(context, nullptr) << vx::LastError();
  int blocked = 0;
  for (const BandwidthCase& quantized : QuantizedCases()) {
    if (quantized.name.find("_blocked") == std::string::npos) continue;
    const auto graph = context->CreateGraph();
    quantized.build(*graph);
    ASSERT_TRUE(graph->Compile()) << quantized.name << vx::LastError();
    const ir::Plan kernels =
        OnlyOperations(*vx::CompiledPlan(*graph), quantized.operation);
    EXPECT_FALSE(kernels.steps.empty()) << quantized.name;
    EXPECT_EQ(testing::CountSource(kernels, "ops/movement/reorder.cl"), 0)
        << quantized.name;
    ++blocked;
  }
  EXPECT_EQ(blocked, 12);
}

TEST(KernelReport, ShowsClblastBesideTheSameOperator) {
  const std::vector<OperatorResult> results = {
      {.name = "a", .unit = "gflops", .rate = 30, .limit = 40},
      {.name = "b", .unit = "gbps", .rate = 5, .limit = 20}};
  const json list = ToJson(results, {{{"name", "a"}, {"gflops", 12.5}}});
  EXPECT_EQ(list[0]["share"], 0.75);
  EXPECT_EQ(list[0]["clblast_gflops"], 12.5);
  EXPECT_EQ(list[1]["gbps"], 5);
  EXPECT_FALSE(list[1].contains("clblast_gflops"));
  EXPECT_EQ(list[1]["share"], 0.25);
}

// Two operations whose values take turns in the same memory, and constants.
ir::Plan TwoOperations() {
  ir::Plan plan;
  plan.devices.resize(2);
  plan.arenas = {{.device = 1, .bytes = 128}};
  for (const int64_t offset : {0, 64, 0}) {
    plan.slots.push_back({.device = 1, .offset = offset, .bytes = 64});
  }
  plan.slots.push_back(
      {.kind = ir::SlotKind::kConstant, .device = 1, .bytes = 64});
  plan.constants = {
      {.device = 1, .bytes = 64, .data = nullptr, .constants = {}}};
  const auto step = [&](const char* label, std::vector<int> operands) {
    std::vector<bool> written(operands.size());
    written.back() = true;
    plan.steps.push_back({.label = label,
                          .device = 1,
                          .action = ir::KernelLaunch(),
                          .operands = std::move(operands),
                          .written = std::move(written),
                          .waits = {}});
  };
  step("Conv2d#1+Relu#2", {0, 3, 1});
  step("reorder of Conv2d", {1, 2});
  return plan;
}

TEST(OnlyOperations, KeepsTheStepsOfATypeApartInMemory) {
  const ir::Plan plan = OnlyOperations(TwoOperations(), "Conv2d");
  ASSERT_EQ(plan.steps.size(), 1u);
  EXPECT_EQ(plan.steps[0].label, "Conv2d#1+Relu#2");
  EXPECT_NE(plan.slots[0].offset, plan.slots[2].offset);
  EXPECT_OK(ir::Verify(plan));
  EXPECT_EQ(OnlyOperations(TwoOperations(), "Relu").steps.size(), 1u);
  EXPECT_TRUE(OnlyOperations(TwoOperations(), "Matmul").steps.empty());
}

TEST(Repeated, GivesEveryTimeConstantsOfItsOwn) {
  const ir::Plan plan = Repeated(OnlyOperations(TwoOperations(), "Conv2d"), 3);
  ASSERT_EQ(plan.steps.size(), 3u);
  ASSERT_EQ(plan.constants.size(), 3u);
  std::vector<int> constants;
  for (const ir::Step& step : plan.steps) {
    EXPECT_EQ(step.operands[0], 0);
    constants.push_back(plan.slots[step.operands[1]].index);
  }
  EXPECT_THAT(constants, ElementsAre(0, 1, 2));
  for (const ir::ConstantBlock& block : plan.constants) {
    ASSERT_NE(block.data, nullptr);
    EXPECT_EQ(std::memcmp(block.data.get(), plan.constants[0].data.get(), 64),
              0);
  }
  EXPECT_NE(plan.constants[1].data, plan.constants[0].data);
  EXPECT_NE(plan.constants[2].data, plan.constants[1].data);
  EXPECT_OK(ir::Verify(plan));
}

TEST(WithRandomInputs, FillsWhatNoStepWrites) {
  const ir::Plan plan =
      WithRandomInputs(OnlyOperations(TwoOperations(), "Conv2d"));
  ASSERT_EQ(plan.slots[0].kind, ir::SlotKind::kConstant);
  EXPECT_EQ(plan.slots[1].kind, ir::SlotKind::kArena);  // written
  const ir::ConstantBlock& block = plan.constants[plan.slots[0].index];
  EXPECT_EQ(block.bytes, 64);
  const auto* values = reinterpret_cast<const float*>(block.data.get());
  EXPECT_NE(values[0], values[1]);
  EXPECT_OK(ir::Verify(plan));
}

TEST(MedianSeconds, FirstFailureIsTheResult) {
  const auto fails = [] { return InvalidArgument("no such plan"); };
  EXPECT_ERROR(MedianSeconds({{"broken", fails}}, Effort::kQuick),
               "broken: invalid argument: no such plan");
}

TEST(Median, IsTheMiddleOne) {
  EXPECT_EQ(Median({5}), 5);
  EXPECT_EQ(Median({9, 1, 4}), 4);
}

TEST(ReadJson, SaysWhatIsWrongWithAFile) {
  const std::string path = ::testing::TempDir() + "/broken.json";
  EXPECT_ERROR(ReadJson(path + ".none"), "cannot be read");
  ASSERT_OK(WriteJson(json(), path));
  EXPECT_OK(ReadJson(path));
  std::FILE* file = std::fopen(path.c_str(), "w");
  std::fputs("{", file);
  std::fclose(file);
  EXPECT_ERROR(ReadJson(path), "is not JSON");
  EXPECT_ERROR(WriteJson(json(), "/no/such/folder/x"), "cannot be written");
}

}  // namespace
}  // namespace tim::bench
