#include "runtime/step_estimates.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace tim::runtime {
namespace {

class StepEstimates : public ::testing::Test {
 protected:
  StepEstimates() {
    plan_.devices.resize(2);
    plan_.devices[1].launch_us = 5;
    plan_.devices[1].gbytes_per_second = 10;
  }

  // A step that touches that many bytes.
  void Add(const std::string& label, int64_t bytes) {
    plan_.slots.push_back({.device = 1, .bytes = bytes});
    plan_.steps.push_back(
        {.label = label,
         .device = 1,
         .action = ir::KernelLaunch(),
         .operands = {static_cast<int>(plan_.slots.size()) - 1},
         .written = {true},
         .waits = {}});
  }
  void Decide(const std::string& node, const std::string& chosen) {
    plan_.decisions.push_back({.node = node, .chosen = chosen, .refused = {}});
  }

  ir::Plan plan_;
};

TEST_F(StepEstimates, AreThoseOfTheDecisions) {
  Add("a", 100);
  Add("b", 1);
  Decide("a", "opencl:conv2d (dense), (dense) -> dense, 12.5 us");
  Decide("b", "opencl:relu (dense) -> dense, 1e-05 us");
  const std::vector<double> us = EstimateSteps(plan_);
  ASSERT_EQ(us.size(), 2u);
  EXPECT_DOUBLE_EQ(us[0], 12.5);
  EXPECT_GT(us[1], 0);
}

TEST_F(StepEstimates, OfStepsOfANodeGoByTheirBytes) {
  Add("a", 99);
  Add("a", 299);
  Decide("a", "opencl:conv2d_winograd, 8 us");
  const std::vector<double> us = EstimateSteps(plan_);
  EXPECT_DOUBLE_EQ(us[0], 2);
  EXPECT_DOUBLE_EQ(us[1], 6);
}

TEST_F(StepEstimates, OfRecognizedNodesAreThoseOfTheirKernel) {
  Add("a+b", 100);
  Decide("a+b", "opencl:swish (dense) -> dense, 12.5 us");
  Decide("a+b", "recognized: swish");
  EXPECT_DOUBLE_EQ(EstimateSteps(plan_)[0], 12.5);
}

TEST_F(StepEstimates, OfOtherStepsGoByTheDevice) {
  Add("output t3", 9'999);
  for (const char* odd : {"", "view", "a, b us", "relu, -3 us", "relu, nan us",
                          "relu, inf us", "relu, 0 us", "12 us"}) {
    plan_.decisions.clear();
    Decide("output t3", odd);
    EXPECT_NEAR(EstimateSteps(plan_)[0], 6, 1e-9) << odd;
  }
  plan_.decisions.clear();
  EXPECT_NEAR(EstimateSteps(plan_)[0], 6, 1e-9);
  plan_.devices[1].gbytes_per_second = 0;
  plan_.devices[1].launch_us = -1;
  EXPECT_GT(EstimateSteps(plan_)[0], 0);
}

// A loop of launches has the cost of one in it.
TEST_F(StepEstimates, WorkIsWithoutALaunchOfTheNode) {
  constexpr int kSteps = 100;
  for (int i = 0; i < kSteps; ++i) Add("loop", 63);
  Add("small", 63);
  Add("output", 63);
  Decide("loop", "opencl:lstm (dense) -> dense, 255 us");
  Decide("small", "opencl:relu (dense) -> dense, 4 us");
  const auto work = EstimateWork(plan_);
  ASSERT_EQ(work.size(), size_t{kSteps + 2});
  for (int i = 0; i < kSteps; ++i) EXPECT_DOUBLE_EQ(work[i].value(), 2.5);
  EXPECT_EQ(work[kSteps], 0);
  EXPECT_EQ(work[kSteps + 1], std::nullopt);
}

TEST_F(StepEstimates, OfNoStepsAreNone) {
  EXPECT_TRUE(EstimateWork(plan_).empty());
  EXPECT_TRUE(EstimateSteps(plan_).empty());
}

}  // namespace
}  // namespace tim::runtime
