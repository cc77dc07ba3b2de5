// Calls that run at once: values, devices, nodes, and what is kept between
// calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tim/values/device.h"
#include "tim/values/mode.h"
#include "tim/values/node.h"
#include "tim/values/value.h"

namespace tim::values {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const bool g_lenient = [] {
  setenv("TIMCL_STRICT", "0", 1);
  return true;
}();

Value Floats(const Shape& shape, const std::vector<float>& data) {
  return Value::Of<float>(shape, data);
}

class OnDevice : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    before_ = Device();
    const Device device(GetParam());
    if (!device.ok()) GTEST_SKIP() << "no device " << GetParam();
    ASSERT_TRUE(Device::SetDefault(device));
  }
  void TearDown() override { Device::SetDefault(before_); }

  Device before_;
};

INSTANTIATE_TEST_SUITE_P(Devices, OnDevice,
                         ::testing::Values("host", "opencl:0"),
                         [](const auto& info) {
                           return info.param.substr(0, 4);
                         });

TEST_P(OnDevice, AddsAndRectifies) {
  const Value x = Floats({3, 2}, {0.5f, -2, 3, 4, 5, -6});
  const Value b = Floats({3}, {-1, 0, 1});
  const Value sum = Call("tim.Add", {x, b});
  ASSERT_TRUE(sum.ok()) << sum.error();
  const Value y = Call("tim.Relu", {sum});
  EXPECT_EQ(y.spec().shape.ToString(), "[3, 2]");
  EXPECT_EQ(y.device().spec(), GetParam());
  EXPECT_THAT(y.ToVector<float>(), ElementsAre(0, 0, 4, 3, 5, 0));
  EXPECT_TRUE(y.Wait());
  EXPECT_TRUE(y.ready());
  EXPECT_EQ(y.ToString(), "float32 [3, 2] {0, 0, 4, 3, 5, 0}");
}

}  // namespace
}  // namespace tim::values
