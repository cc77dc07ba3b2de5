// What is not implemented yet fails with a message that says so.
#include <gtest/gtest.h>

#include "tests/support/vx/vx_graph.h"
#include "tim/lite/execution.h"

namespace tim::testing {
namespace {

bool SaysNotYet() {
  return vx::LastError().find("not implemented yet") != std::string::npos;
}

TEST(NotYet, CompileToBinaryLeavesTheGraphUsable) {
  ReluGraph g({1});
  size_t size = 7;
  EXPECT_FALSE(g.graph->CompileToBinary(nullptr, &size));
  EXPECT_TRUE(SaysNotYet());
  EXPECT_EQ(g.graph->ErrorMessage(), vx::LastError());
  EXPECT_TRUE(g.graph->Run());
}

TEST(NotYet, LiteExecution) {
  EXPECT_EQ(lite::Execution::Create("x", 1), nullptr);
  EXPECT_TRUE(SaysNotYet());
}

}  // namespace
}  // namespace tim::testing
