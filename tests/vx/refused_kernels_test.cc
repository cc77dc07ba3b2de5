// Graphs on devices that cannot run every kernel that they are given, and what
// is left to the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/options.h"
#include "device/host/host_device.h"
#include "device/opencl/opencl_device.h"
#include "tests/support/devices/fake_device.h"
#include "tests/support/devices/forwarding_device.h"
#include "tests/support/vx/binary_graph.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/context_impl.h"

namespace tim::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// An OpenCL device whose kernels allow work-groups of so many items.
class LimitedDevice final : public OneByOne {
 public:
  LimitedDevice(std::shared_ptr<device::Device> device, int64_t limit)
      : OneByOne(std::move(device)), limit_(limit) {}

  Result<std::unique_ptr<device::PreparedStep>> PrepareChain(
      std::span<const device::ChainLink>, device::BinaryStore&) override {
    return Unimplemented("no chains");
  }
  device::PreparedSteps PrepareEach(std::span<const ir::Action* const> steps,
                                    const ir::OpRegistry& operators,
                                    device::BinaryStore& store) override {
    auto prepared = ForwardingDevice::PrepareEach(steps, operators, store);
    for (size_t i = 0; i < steps.size(); ++i) {
      const auto* launch = std::get_if<ir::KernelLaunch>(steps[i]);
      if (launch == nullptr) continue;
      int64_t items = 1;
      for (const int64_t size : launch->range.local) {
        items *= std::max<int64_t>(size, 1);
      }
      if (items <= limit_) continue;
      ++refused_;
      prepared[i] = InvalidArgument(launch->function, " has ", items, " items");
    }
    return prepared;
  }

  int refused() const { return refused_; }

 private:
  const int64_t limit_;
  int refused_ = 0;
};

std::shared_ptr<device::Device> OpenCl() {
  auto device = device::CreateOpenClDevice(0, GetOptions().on_device);
  return device.ok() ? *device : nullptr;
}

struct Network {
  explicit Network(const std::shared_ptr<vx::Context>& context)
      : graph(context->CreateGraph()) {
    input = graph->CreateTensor(Floats({16, 16, 8, 1}, vx::INPUT));
    output = graph->CreateTensor(Floats({16, 16, 4, 1}, vx::OUTPUT));
    const std::vector<float> weights(3 * 3 * 8 * 4, 0.125f);
    const auto kernel =
        graph->CreateTensor(Floats({3, 3, 8, 4}, vx::CONSTANT), weights.data());
    const auto sums =
        graph->CreateTensor(Floats({16, 16, 4, 1}, vx::TRANSIENT));
    const auto soft =
        graph->CreateTensor(Floats({16, 16, 4, 1}, vx::TRANSIENT));
    graph
        ->CreateOperation<vx::ops::Conv2d>(vx::PadType::SAME,
                                           std::array<uint32_t, 2>{1, 1},
                                           std::array<uint32_t, 2>{1, 1})
        ->BindInputs({input, kernel})
        .BindOutput(sums);
    graph->CreateOperation<vx::ops::Softmax>(1.0f, 0)
        ->BindInput(sums)
        .BindOutput(soft);
    graph->CreateOperation<vx::ops::Sigmoid>()->BindInput(soft).BindOutput(
        output);
    std::vector<float> values(16 * 16 * 8);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(i % 13) / 7 - 1;
    }
    Write(input, values);
  }

  std::shared_ptr<vx::Graph> graph;
  std::shared_ptr<vx::Tensor> input, output;
};

TEST(RefusedKernels, AGraphRunsWhereWorkGroupsMustBeSmall) {
  const auto opencl = OpenCl();
  if (opencl == nullptr) GTEST_SKIP() << "no OpenCL device";
  Network expected(HostContext());
  ASSERT_TRUE(expected.graph->Run()) << vx::LastError();
  const std::vector<float> reference = Read(expected.output);
  for (const int64_t limit : {int64_t{16}, int64_t{1}}) {
    const auto limited = std::make_shared<LimitedDevice>(opencl, limit);
    Network network(vx::CreateContext({device::CreateHostDevice(), limited}));
    ASSERT_TRUE(network.graph->Run()) << vx::LastError();
    const std::vector<float> actual = Read(network.output);
    for (size_t i = 0; i < reference.size(); ++i) {
      ASSERT_NEAR(actual[i], reference[i], 1e-5) << i;
    }
    EXPECT_TRUE(limit > 1 || limited->refused() > 0);
  }
}

TEST(RefusedKernels, AStoredPlanOfThemIsCompiledAnew) {
  const auto opencl = OpenCl();
  if (opencl == nullptr) GTEST_SKIP() << "no OpenCL device";
  const auto host = device::CreateHostDevice();
  Network network(vx::CreateContext({host, opencl}));
  ASSERT_TRUE(network.graph->Run()) << vx::LastError();
  const std::vector<char> blob = ToBinary(*network.graph);
  const auto limited = std::make_shared<LimitedDevice>(opencl, 1);
  LoadedBinary loaded(blob, *network.graph,
                      vx::CreateContext({host, limited})->CreateGraph());
  Write(loaded.inputs[0], Read(network.input));
  ASSERT_TRUE(loaded.graph->Run()) << vx::LastError();
  EXPECT_GT(limited->refused(), 0);
  const std::vector<float> expected = Read(network.output);
  const std::vector<float> actual = Read(loaded.outputs[0]);
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(actual[i], expected[i], 1e-5) << i;
  }
}

std::string LogOfCompile(const std::shared_ptr<FakeDevice>& fake) {
  ReluGraph g(
      {1000},
      vx::CreateContext({device::CreateHostDevice(), fake})->CreateGraph());
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(g.graph->Compile()) << vx::LastError();
  EXPECT_TRUE(g.graph->Run()) << vx::LastError();
  return ::testing::internal::GetCapturedStderr();
}

TEST(HostSteps, ThatTakeTheTimeOfAGraphAreAWarning) {
  const std::string log = LogOfCompile(
      std::make_shared<FakeDevice>(FakeOptions{.runs_eval = false}));
  EXPECT_THAT(log, HasSubstr("[warning] operation Relu#"));
  EXPECT_THAT(log, HasSubstr("runs on the host, and not on fake device, which "
                             "takes about 100 % of the graph's time"));
  EXPECT_THAT(log, HasSubstr("TIMCL_STRICT=1"));
  EXPECT_THAT(log, HasSubstr("it has no kernel"));
  EXPECT_THAT(log, HasSubstr("input 0: "));
  EXPECT_EQ(log.find("[warning]"), log.rfind("[warning]"));
}

TEST(HostSteps, ThereAreNoneWhereTheDeviceRunsAll) {
  EXPECT_THAT(LogOfCompile(std::make_shared<FakeDevice>()),
              Not(HasSubstr("[warning]")));
}

}  // namespace
}  // namespace tim::testing
