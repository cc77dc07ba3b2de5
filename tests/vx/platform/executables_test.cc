// Executables: compiled copies of graphs, on every device and core.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "tests/support/vx/fake_platform.h"
#include "tests/support/vx/platform_objects.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Values = std::vector<float>;
using vx::TensorAttribute;
using vx::platform::IDevice;
using vx::platform::IExecutable;
using vx::platform::IExecutor;
using vx::platform::ITensorHandle;
using vx::platform::NativeExecutable;
using vx::platform::NativeTensorHandle;

// y = relu(x) of three numbers, compiled for an executor; the source graph is
// gone.
struct ReluExecutable {
  explicit ReluExecutable(const std::shared_ptr<IExecutor>& on) : executor(on) {
    const ReluGraph source({3});
    executable = executor->Compile(source.graph);
    EXPECT_NE(executable, nullptr) << vx::LastError();
    if (executable == nullptr) return;
    input = executable->AllocateTensor(source.input->GetSpec());
    output = executable->AllocateTensor(source.output->GetSpec());
  }

  void SetTensors() {
    executable->SetInput(input);
    executable->SetOutput(output);
  }
  bool Write(const Values& values) {
    return input->CopyDataToTensor(values.data(), 0);
  }
  Values Read() {
    Values values(3, -1);
    EXPECT_TRUE(output->CopyDataFromTensor(values.data())) << vx::LastError();
    return values;
  }

  std::shared_ptr<IExecutor> executor;
  std::shared_ptr<IExecutable> executable;
  std::shared_ptr<ITensorHandle> input, output;
};

std::shared_ptr<IExecutor> HostExecutor() {
  return DeviceWithCores(1)->CreateExecutor();
}

TEST(Executables, RunOnEveryCoreOfEveryDevice) {
  for (const auto& device : IDevice::Enumerate()) {
    for (uint32_t core = 0; core < device->CoreCount(); ++core) {
      SCOPED_TRACE(device->Name() + ", core " + std::to_string(core));
      ReluExecutable relu(device->CreateExecutor(static_cast<int>(core), 1));
      ASSERT_NE(relu.executable, nullptr);
      relu.SetTensors();
      for (const float value : {1.0f, 2.0f}) {
        ASSERT_TRUE(relu.Write({value, -value, value}));
        ASSERT_TRUE(relu.executable->Submit(relu.executable))
            << vx::LastError();
        ASSERT_TRUE(relu.executor->Trigger()) << vx::LastError();
        EXPECT_EQ(relu.Read(), (Values{value, 0, value}));
      }
    }
  }
}

TEST(Executables, RunAtOnceAndBehindTheQueue) {
  ReluExecutable relu(HostExecutor());
  relu.SetTensors();
  ASSERT_TRUE(relu.Write({1, -1, 1}));
  ASSERT_TRUE(relu.executable->Trigger()) << vx::LastError();
  EXPECT_EQ(relu.Read(), (Values{1, 0, 1}));
  ASSERT_TRUE(relu.Write({2, -2, 2}));
  ASSERT_TRUE(relu.executable->Trigger(true)) << vx::LastError();
  relu.executable->GetOutput({relu.output});
  EXPECT_EQ(relu.Read(), (Values{2, 0, 2}));
}

TEST(Executables, KnowTheirTensorsAndTheirExecutor) {
  ReluExecutable relu(HostExecutor());
  EXPECT_EQ(relu.executable->Executor(), relu.executor);
  EXPECT_NE(relu.executable->NBGraph(), nullptr);
  EXPECT_THAT(relu.executable->Getinputs(), IsEmpty());
  relu.SetTensors();
  EXPECT_THAT(relu.executable->Getinputs(), ElementsAre(relu.input));
  EXPECT_THAT(relu.executable->GetInputs(), ElementsAre(relu.input));
  EXPECT_THAT(relu.executable->GetOutputs(), ElementsAre(relu.output));
  EXPECT_EQ(relu.output->GetSpec().attr_, TensorAttribute::OUTPUT);
}

TEST(Executables, TensorsTakeDataWhenTheyAreMade) {
  ReluExecutable relu(HostExecutor());
  Values data = {5, -5, 5};
  relu.input =
      relu.executable->AllocateTensor(relu.input->GetSpec(), data.data(), 1);
  data.assign(3, 0);
  relu.executable->SetInputs({relu.input});
  relu.executable->SetOutputs({relu.output});
  ASSERT_TRUE(relu.executable->Trigger()) << vx::LastError();
  EXPECT_EQ(relu.Read(), (Values{5, 0, 5}));
}

TEST(Executables, WriteOutputsAndUseMemoryOfTheClient) {
  ReluExecutable relu(HostExecutor());
  relu.SetTensors();
  const Values zeros(3, 0);
  EXPECT_TRUE(relu.output->CopyDataToTensor(zeros.data(), 12));
  alignas(64) float mine[16] = {7, -7, 7};
  ASSERT_TRUE(relu.input->GetTensor()->SwapHandle(mine, false, nullptr));
  ASSERT_TRUE(relu.executable->Trigger()) << vx::LastError();
  EXPECT_EQ(relu.Read(), (Values{7, 0, 7}));
}

TEST(Executables, InputsThatAreNotSetAreTold) {
  ReluExecutable relu(HostExecutor());
  const std::string expected =
      "an executable has 0 of 1 inputs and 0 of 1 outputs set";
  EXPECT_FALSE(relu.executable->Verify());
  EXPECT_THAT(vx::LastError(), HasSubstr(expected));
  EXPECT_FALSE(relu.executable->Trigger());
  EXPECT_THAT(vx::LastError(), HasSubstr(expected));
  EXPECT_FALSE(relu.executable->Submit(relu.executable));
  relu.SetTensors();
  EXPECT_TRUE(relu.executable->Trigger()) << "afterwards it runs";
}

TEST(Executables, TensorsTooManyOrOfAnotherKindAreRefused) {
  ReluExecutable relu(HostExecutor()), other(HostExecutor());
  const auto refused = [&](const std::shared_ptr<ITensorHandle>& handle,
                           const std::string& reason) {
    relu.executable->SetInput(handle);
    EXPECT_THAT(vx::LastError(), HasSubstr(reason));
    EXPECT_THAT(relu.executable->Getinputs(), IsEmpty());
  };
  refused(nullptr, "SetInput(): the handle is null");
  refused(std::make_shared<NativeTensorHandle>(nullptr), "handle is null");
  refused(other.input, "not of this executable");
  refused(std::make_shared<NativeTensorHandle>(ReluGraph({3}).input),
          "not of this executable");
  refused(relu.output, "with another attribute");
  relu.executable->SetOutput(relu.input);
  EXPECT_THAT(vx::LastError(), HasSubstr("SetOutput(): tensor t0"));
  relu.SetTensors();
  relu.executable->SetInput(relu.input);
  EXPECT_THAT(vx::LastError(), HasSubstr("has 1 inputs, which are set"));
  relu.executable->SetOutput(relu.output);
  EXPECT_THAT(vx::LastError(), HasSubstr("has 1 outputs, which are set"));
  EXPECT_TRUE(relu.executable->Trigger()) << vx::LastError();
}

TEST(Executables, TensorsThatCannotBeMadeAreNull) {
  ReluExecutable relu(HostExecutor());
  EXPECT_EQ(
      relu.executable->AllocateTensor(Floats({3}, TensorAttribute::CONSTANT)),
      nullptr);
  EXPECT_THAT(vx::LastError(), HasSubstr("INPUT and OUTPUT"));
  EXPECT_EQ(
      relu.executable->AllocateTensor(Floats({0}, TensorAttribute::INPUT)),
      nullptr);
  EXPECT_THAT(vx::LastError(), HasSubstr("extent of 0"));
}

TEST(Executables, TensorsOfAnotherSizeFailVerify) {
  ReluExecutable relu(HostExecutor());
  relu.executable->SetInput(
      relu.executable->AllocateTensor(Floats({4}, TensorAttribute::INPUT)));
  relu.executable->SetOutput(relu.output);
  EXPECT_FALSE(relu.executable->Verify());
  EXPECT_THAT(vx::LastError(), HasSubstr("4"));
  EXPECT_FALSE(relu.executable->Trigger());
}

TEST(Executables, OfBytesThatAreNoBinaryFail) {
  const auto executor = HostExecutor();
  const std::vector<char> rubbish(100, 'x');
  for (const std::vector<char>& bytes : {rubbish, std::vector<char>()}) {
    const auto executable =
        std::make_shared<NativeExecutable>(executor, bytes, 1, 1);
    const auto in =
        executable->AllocateTensor(Floats({3}, TensorAttribute::INPUT));
    const auto out =
        executable->AllocateTensor(Floats({3}, TensorAttribute::OUTPUT));
    if (in != nullptr) executable->SetInput(in);
    if (out != nullptr) executable->SetOutput(out);
    EXPECT_FALSE(executable->Verify());
    EXPECT_FALSE(executable->Trigger());
    EXPECT_NE(vx::LastError(), "");
  }
}

TEST(Executables, OfBinariesThatAreCutShortFail) {
  const ReluGraph source({3});
  size_t size = 0;
  ASSERT_TRUE(source.graph->CompileToBinary(nullptr, &size));
  std::vector<char> binary(size);
  ASSERT_TRUE(source.graph->CompileToBinary(binary.data(), &size));
  const auto executor = HostExecutor();
  NativeExecutable whole(executor, binary, 1, 1);
  EXPECT_NE(whole.NBGraph(), nullptr) << vx::LastError();
  binary.pop_back();
  binary.shrink_to_fit();
  NativeExecutable cut(executor, binary, 1, 1);
  EXPECT_EQ(cut.NBGraph(), nullptr);
  EXPECT_THAT(vx::LastError(), HasSubstr("the binary graph is cut short"));
  EXPECT_FALSE(cut.Verify());
}

TEST(Executables, OfNoExecutorFailEveryCall) {
  NativeExecutable executable(nullptr, std::vector<char>(8), 1, 1);
  EXPECT_EQ(executable.NBGraph(), nullptr);
  EXPECT_EQ(executable.AllocateTensor(Floats({3}, TensorAttribute::INPUT)),
            nullptr);
  EXPECT_FALSE(executable.Verify());
  EXPECT_FALSE(executable.Trigger());
  EXPECT_FALSE(executable.Trigger(true));
  EXPECT_FALSE(executable.Submit(nullptr));
  executable.SetInput(nullptr);
  executable.GetOutput({});
  EXPECT_THAT(vx::LastError(), HasSubstr("executor was destroyed"));
}

TEST(Executables, OfGraphsThatDoNotCompileAreNull) {
  EXPECT_EQ(HostExecutor()->Compile(HostGraph()), nullptr);
  EXPECT_THAT(vx::LastError(), HasSubstr("is empty"));
}

TEST(Executables, HandlesWithoutATensorFail) {
  NativeTensorHandle handle(nullptr);
  float value = 0;
  EXPECT_FALSE(handle.CopyDataToTensor(&value, 4));
  EXPECT_FALSE(handle.CopyDataFromTensor(&value));
  EXPECT_EQ(handle.GetTensor(), nullptr);
  EXPECT_EQ(handle.GetSpec().shape_.size(), 0u);
  const ReluGraph g({1});
  NativeTensorHandle of_a_graph(g.input);
  EXPECT_TRUE(of_a_graph.CopyDataToTensor(&value, 4));
}

// What is left is used and must neither crash nor leak.
TEST(Executables, EverythingMayBeDestroyedInAnyOrder) {
  std::array<int, 5> order;
  std::iota(order.begin(), order.end(), 0);
  do {
    auto device = DeviceWithCores(2);
    auto context = HostContext();
    auto executor = device->CreateExecutor(0, 1, context);
    auto relu = std::make_unique<ReluExecutable>(executor);
    relu->SetTensors();
    relu->executor = nullptr;
    ASSERT_TRUE(relu->Write({1, -1, 1}));
    ASSERT_TRUE(relu->executable->Submit(relu->executable));
    ASSERT_TRUE(executor->Trigger(true));
    for (const int object : order) {
      if (object == 0) device = nullptr;
      if (object == 1) context = nullptr;
      if (object == 2) executor = nullptr;
      if (object == 3) relu->executable = nullptr;
      if (object == 4) relu->input = nullptr;
    }
    EXPECT_EQ(relu->Read(), (Values{1, 0, 1}));
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(ExecutablesOnTheFakeDevice, RunSideBySide) {
  FakePlatform on;
  ReluExecutable a(on.Executor(0)), b(on.Executor(1));
  std::array<int, 2> called = {};
  for (int run = 1; run <= 20; ++run) {
    const auto value = static_cast<float>(run);
    int number = 0;
    for (ReluExecutable* relu : {&a, &b}) {
      if (run == 1) relu->SetTensors();
      ASSERT_TRUE(relu->Write({value, -value, static_cast<float>(number)}));
      ASSERT_TRUE(relu->executable->Submit(relu->executable));
      ASSERT_TRUE(relu->executor->Trigger(true, [&, number](const void* data) {
        EXPECT_EQ(data, nullptr);
        ++called[number];
        return true;
      })) << vx::LastError();
      ++number;
    }
    on.device->WaitDeviceIdle();
    EXPECT_EQ(a.Read(), (Values{value, 0, 0}));
    EXPECT_EQ(b.Read(), (Values{value, 0, 1}));
  }
  EXPECT_THAT(called, ElementsAre(20, 20));
  EXPECT_GE(on.fake->steps_run(), 40);
}

TEST(ExecutablesOnTheFakeDevice, TellOfALostDevice) {
  FakePlatform on;
  ReluExecutable relu(on.Executor(0));
  relu.SetTensors();
  ASSERT_TRUE(relu.executable->Trigger()) << vx::LastError();
  on.fake->LoseAtStep(1);
  std::string reason;
  ASSERT_TRUE(relu.executable->Submit(relu.executable));
  ASSERT_TRUE(relu.executor->Trigger(true, [&](const void* data) {
    reason = data != nullptr ? static_cast<const char*>(data) : "none";
    return true;
  }));
  on.device->WaitDeviceIdle();
  EXPECT_THAT(reason, HasSubstr("lost"));
  EXPECT_EQ(vx::LastError(), reason);
}

}  // namespace
}  // namespace tim::testing
