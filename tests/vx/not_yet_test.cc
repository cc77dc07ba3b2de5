// What is not implemented yet fails with a message that says so.
#include <gtest/gtest.h>

#include "tests/support/vx/vx_graph.h"
#include "tim/vx/platform/native.h"

namespace tim::testing {
namespace {

bool SaysNotYet() {
  return vx::LastError().find("not implemented yet") != std::string::npos;
}

TEST(NotYet, Platform) {
  EXPECT_TRUE(vx::platform::IDevice::Enumerate().empty());
  EXPECT_TRUE(SaysNotYet());
  ReluGraph g({1});
  EXPECT_EQ(vx::platform::Compile(g.graph, nullptr), nullptr);
}

}  // namespace
}  // namespace tim::testing
