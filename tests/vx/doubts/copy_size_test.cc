// Sizes that CopyDataToTensor() is given.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/vx/doubts.h"

namespace tim::testing {
namespace {

using ::testing::HasSubstr;
using vx::ShapeType;

TEST(CopySize, AnotherOneIsAWarningOncePerTensor) {
  const auto graph = HostContext(Lenient::kYes)->CreateGraph();
  const std::vector<float> values(1024, 2.0f);
  for (const auto attribute : {vx::INPUT, vx::CONSTANT, vx::VARIABLE}) {
    const auto tensor = graph->CreateTensor(Floats({1024}, attribute));
    const std::string log = LogOf([&] {
      EXPECT_TRUE(tensor->CopyDataToTensor(values.data()));
      EXPECT_TRUE(tensor->CopyDataToTensor(values.data(), 4096));
    });
    EXPECT_EQ(log, "");
    const std::string said = LogOf([&] {
      EXPECT_TRUE(tensor->CopyDataToTensor(values.data(), 16));
      EXPECT_TRUE(tensor->CopyDataToTensor(values.data(), 16));
    });
    EXPECT_EQ(Count(said, "[warning]"), 1) << said;
    EXPECT_THAT(said, HasSubstr("given 16 bytes, and copies the 4096"));
    EXPECT_EQ(Read(tensor), values);
  }
}

TEST(CopySize, AnotherOneIsAnErrorWhereThatIsAskedFor) {
  const auto graph = HostContext(Lenient::kNo)->CreateGraph();
  const std::vector<float> values(1024, 2.0f);
  const auto tensor = graph->CreateTensor(Floats({1024}, vx::INPUT));
  for (const uint32_t size : {16u, 8192u}) {
    EXPECT_FALSE(tensor->CopyDataToTensor(values.data(), size));
    EXPECT_THAT(vx::LastError(), HasSubstr("TIMCL_LENIENT=0"));
  }
  EXPECT_EQ(Read(tensor), std::vector<float>(1024, 0.0f));
  EXPECT_TRUE(tensor->CopyDataToTensor(values.data(), 4096));
  EXPECT_TRUE(tensor->CopyDataToTensor(values.data()));
  EXPECT_EQ(Read(tensor), values);
}

}  // namespace
}  // namespace tim::testing
