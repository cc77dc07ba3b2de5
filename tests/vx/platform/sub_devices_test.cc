// Cores of a real device: kernels on two of them run at the same time.
#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "tests/support/vx/platform_objects.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using vx::platform::IDevice;
using vx::platform::IExecutor;

// Two kernels that see each other: each raises its own flag, and waits for the
// other one's, in memory of the host that both work in.
constexpr char kMeet[] =
    "__kernel void meet(__global const volatile int* other,\n"
    "                   __global volatile int* mine, __global int* met,\n"
    "                   int turns) {\n"
    "  *mine = 1;\n"
    "  int i = 0;\n"
    "  while (*other == 0 && i < turns) ++i;\n"
    "  *met = *other;\n"
    "}\n";

OpPlan Meet() {
  OpPlan plan;
  plan.inputs = 1;
  plan.outputs = 2;
  plan.name = "Meet";
  plan.source = kMeet;
  plan.function = "meet";
  plan.scalars = Scalars(int32_t{2000000000});
  plan.shapes = [](OpPlan::Op& op) {
    op.outputs_size_[0] = {1};
    op.outputs_size_[1] = {1};
  };
  plan.enqueue = Sizes(1, {1, 0, 0}, {0, 0, 0});
  return plan;
}

// As wide as what devices import without a copy.
struct alignas(64) Flag {
  std::array<int32_t, 16> value = {};
};

vx::TensorSpec FlagSpec(vx::TensorAttribute attribute) {
  return vx::TensorSpec(vx::DataType::INT32, {1}, attribute);
}

class SubDevices : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto devices = IDevice::Enumerate();
    const auto opencl = runtime::SelectDevices("opencl:0");
    if (devices[0]->CoreCount() < 2 || !opencl.ok()) {
      GTEST_SKIP() << "no OpenCL device that can be parted";
    }
    if (!(*opencl)[1]->info().orders_stores) {
      GTEST_SKIP() << "the device does not work in the host's memory";
    }
    device_ = devices[0];
    for (int core = 0; core < 2; ++core) {
      executors_.push_back(device_->CreateExecutor(core, 1));
      ASSERT_NE(executors_[core], nullptr) << vx::LastError();
    }
  }

  std::shared_ptr<IDevice> device_;
  std::vector<std::shared_ptr<IExecutor>> executors_;
};

// A graph of the operation, and its tensors.
struct MeetGraph {
  explicit MeetGraph(const std::shared_ptr<vx::Context>& context)
      : graph(context->CreateGraph()),
        other(graph->CreateTensor(FlagSpec(vx::INPUT))),
        mine(graph->CreateTensor(FlagSpec(vx::OUTPUT))),
        met(graph->CreateTensor(FlagSpec(vx::OUTPUT))) {
    auto op = graph->CreateOperation<TestOp>(Meet());
    (*op).BindInput(other).BindOutputs({mine, met});
  }

  std::shared_ptr<vx::Graph> graph;
  std::shared_ptr<vx::Tensor> other, mine, met;
};

TEST_F(SubDevices, RunGraphsAtTheSameTime) {
  std::array<Flag, 2> flags;
  MeetGraph a(executors_[0]->Contex()), b(executors_[1]->Contex());
  int core = 0;
  for (MeetGraph* g : {&a, &b}) {
    void* const mine = flags[core].value.data();
    void* const other = flags[1 - core].value.data();
    ASSERT_TRUE(g->mine->SwapHandle(mine, false, nullptr));
    ASSERT_TRUE(g->other->SwapHandle(other, false, nullptr));
    ASSERT_TRUE(g->graph->Compile()) << vx::LastError();
    ++core;
  }
  std::thread first([&] { EXPECT_TRUE(a.graph->Run()); });
  std::thread second([&] { EXPECT_TRUE(b.graph->Run()); });
  first.join();
  second.join();
  EXPECT_EQ(Read<int32_t>(a.met)[0], 1) << "the other kernel had not begun";
  EXPECT_EQ(Read<int32_t>(b.met)[0], 1) << "the other kernel had not begun";
}

// The same by executors alone.
TEST_F(SubDevices, RunExecutablesAtTheSameTime) {
  std::array<Flag, 2> flags;
  std::vector<std::shared_ptr<vx::platform::IExecutable>> executables;
  for (int core = 0; core < 2; ++core) {
    const MeetGraph g(executors_[core]->Contex());
    const auto executable = executors_[core]->Compile(g.graph);
    ASSERT_NE(executable, nullptr) << vx::LastError();
    const auto other = executable->AllocateTensor(g.other->GetSpec());
    const auto mine = executable->AllocateTensor(g.mine->GetSpec());
    executable->SetInput(other);
    executable->SetOutputs(
        {mine, executable->AllocateTensor(g.met->GetSpec())});
    ASSERT_TRUE(other->GetTensor()->SwapHandle(flags[1 - core].value.data(),
                                               false, nullptr));
    ASSERT_TRUE(mine->GetTensor()->SwapHandle(flags[core].value.data(), false,
                                              nullptr));
    ASSERT_TRUE(executable->Submit(executable)) << vx::LastError();
    executables.push_back(executable);
  }
  for (const auto& executor : executors_) {
    ASSERT_TRUE(executor->Trigger(true)) << vx::LastError();
  }
  device_->WaitDeviceIdle();
  for (const auto& executable : executables) {
    int32_t met = 0;
    ASSERT_TRUE(executable->GetOutputs()[1]->CopyDataFromTensor(&met));
    EXPECT_EQ(met, 1) << "the other kernel had not begun";
  }
}

// Many runs on every core at once, each with its own threads and programs.
TEST_F(SubDevices, RunSideBySideManyTimes) {
  std::vector<std::thread> threads;
  for (int core = 0; core < 2; ++core) {
    threads.emplace_back([&, core] {
      ReluGraph g({1000}, executors_[core]->Contex()->CreateGraph());
      for (int run = 1; run <= 200; ++run) {
        const auto value = static_cast<float>(run + core);
        Write<float>(g.input, std::vector<float>(1000, value));
        ASSERT_TRUE(g.graph->Run()) << vx::LastError();
        ASSERT_EQ(Read(g.output), std::vector<float>(1000, value));
      }
    });
  }
  // And on the whole device, which has these cores, too.
  ReluGraph g({1000}, vx::Context::Create()->CreateGraph());
  for (int run = 1; run <= 200; ++run) {
    const auto value = static_cast<float>(run);
    Write<float>(g.input, std::vector<float>(1000, value));
    ASSERT_TRUE(g.graph->Run()) << vx::LastError();
    ASSERT_EQ(Read(g.output), std::vector<float>(1000, value));
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tim::testing
