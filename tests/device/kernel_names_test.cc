// Arguments that stand at each other's places are seen before a kernel runs:
// the suite runs with TIMCL_CHECK_NAMES=1.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/kernels/opencl_test.h"
#include "tests/support/plans/plan_builder.h"

namespace tim::device {
namespace {

using testing::EmptyStore;

class KernelNames : public testing::OpenClTest {
 protected:
  Status Prepare(const ir::KernelLaunch& launch) {
    const ir::Action action = launch;
    const ir::Action* const actions[] = {&action};
    EmptyStore store;
    return device_->Prepare(actions, ir::OpRegistry(), store).status();
  }
  Status PrepareChain(const ir::KernelLaunch& launch) {
    const ir::Action action = launch;
    ChainLink link{.action = &action, .buffers = {}};
    for (const ir::KernelArg& argument : launch.arguments) {
      if (!std::holds_alternative<ir::TensorArg>(argument)) continue;
      link.buffers.push_back(static_cast<int>(link.buffers.size()));
    }
    EmptyStore store;
    return device_->PrepareChain({&link, 1}, store).status();
  }
};

ir::KernelLaunch Transpose() {
  const auto desc = testing::Desc(ir::DataType::kFloat32, {5, 3, 2});
  ir::TensorDesc output = desc;
  output.shape = ir::Shape();
  auto node = testing::MakeNode("tim.Transpose",
                                {{"perm", std::vector<int64_t>{2, 0, 1}}},
                                {desc}, {output});
  EXPECT_OK(node);
  auto launches =
      testing::LaunchesOf(*node, "transpose", testing::TestDevice());
  EXPECT_OK(launches);
  return launches->at(0);
}

// As if the two calls that add them stood in the wrong order.
void Swap(const char* one, const char* other, ir::KernelLaunch* launch) {
  const auto index = [&](const char* name) {
    return std::find(launch->names.begin(), launch->names.end(), name) -
           launch->names.begin();
  };
  std::swap(launch->arguments.at(index(one)),
            launch->arguments.at(index(other)));
  std::swap(launch->names.at(index(one)), launch->names.at(index(other)));
}

TEST_F(KernelNames, ThoseOfTheParametersAreTaken) {
  EXPECT_OK(Prepare(Transpose()));
  EXPECT_OK(PrepareChain(Transpose()));
}

TEST_F(KernelNames, TwoSwappedStridesAreSeen) {
  ir::KernelLaunch launch = Transpose();
  Swap("x0", "x1", &launch);
  constexpr char kError[] =
      "kernel 'transpose': parameter 10 is 'x0', but it is given 'x1': ";
  EXPECT_ERROR(Prepare(launch), kError);
  EXPECT_ERROR(PrepareChain(launch), kError);
}

TEST_F(KernelNames, TwoSwappedTensorsAreSeen) {
  ir::KernelLaunch launch = Transpose();
  Swap("x", "y", &launch);
  constexpr char kError[] =
      "kernel 'transpose': parameter 0 is 'x', but it is given 'y': ";
  EXPECT_ERROR(Prepare(launch), kError);
  EXPECT_ERROR(PrepareChain(launch), kError);
}

TEST_F(KernelNames, KernelsOfTheLibraryMustBeGivenThem) {
  ir::KernelLaunch launch = Transpose();
  launch.names.clear();
  constexpr char kError[] =
      "kernel 'transpose' of ops/movement/transpose.cl: 15 arguments have 0 "
      "names";
  EXPECT_ERROR(Prepare(launch), kError);
  EXPECT_ERROR(PrepareChain(launch), kError);
}

}  // namespace
}  // namespace tim::device
