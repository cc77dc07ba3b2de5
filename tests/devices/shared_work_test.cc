// Batches and pipelines over several devices, and links that are measured.
// Numbers are those of the acceptance checks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <variant>

#include "device/opencl/opencl_device.h"
#include "nlohmann/json.hpp"
#include "runtime/links.h"
#include "tests/devices/fake_context.h"
#include "tests/support/child_process.h"
#include "tests/support/forked_process.h"
#include "tests/support/status_macros.h"
#include "tests/support/vx/test_op.h"
#include "tim/devices/devices.h"
#include "tim/vx/placement.h"
#include "tim/vx/run_event.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

FakeOptions Fast(const std::string& name, double launch_us) {
  return {
      .max_delay_us = 0, .name = name, .gflops = 1e6, .launch_us = launch_us};
}

int Count(const ir::Plan& plan, int device, bool calls) {
  return static_cast<int>(std::count_if(
      plan.steps.begin(), plan.steps.end(), [&](const ir::Step& step) {
        return step.device == device &&
               std::holds_alternative<ir::HostCall>(step.action) == calls;
      }));
}

// ---- batches ----------------------------------------------------------------

// N pictures of 4 x 4 through a convolution and a product.
struct Pictures {
  Pictures(const std::shared_ptr<vx::Context>& context, uint32_t items)
      : graph(context->CreateGraph()),
        input(graph->CreateTensor(
            Floats({4, 4, 4, items}, vx::TensorAttribute::INPUT))),
        output(graph->CreateTensor(
            Floats({16, items}, vx::TensorAttribute::OUTPUT))) {
    const auto tensor = [&](const vx::ShapeType& shape) {
      return graph->CreateTensor(Floats(shape, vx::TensorAttribute::TRANSIENT));
    };
    const std::vector<float> filter(4 * 4, 0.25f);
    const auto weights = graph->CreateTensor(
        Floats({1, 1, 4, 4}, vx::TensorAttribute::CONSTANT), filter.data());
    const auto convolved = tensor({4, 4, 4, items});
    const auto activated = tensor({4, 4, 4, items});
    const auto flat = tensor({64, items});
    const auto convolution = graph->CreateOperation<vx::ops::Conv2d>(
        vx::PadType::VALID, std::array<uint32_t, 2>{1, 1},
        std::array<uint32_t, 2>{1, 1});
    (*convolution).BindInputs({input, weights}).BindOutput(convolved);
    (*graph->CreateOperation<vx::ops::Tanh>())
        .BindInput(convolved)
        .BindOutput(activated);
    (*graph->CreateOperation<vx::ops::Reshape>(
         std::vector<uint32_t>{64, items}))
        .BindInput(activated)
        .BindOutput(flat);
    std::vector<float> matrix(64 * 16);
    for (size_t i = 0; i < matrix.size(); ++i) {
      matrix[i] = 0.01f * static_cast<float>(i % 7);
    }
    const auto factors = graph->CreateTensor(
        Floats({64, 16}, vx::TensorAttribute::CONSTANT), matrix.data());
    (*graph->CreateOperation<vx::ops::FullyConnected>(0, 16))
        .BindInputs({flat, factors})
        .BindOutput(output);
  }

  std::vector<float> Run() {
    std::vector<float> values(
        static_cast<size_t>(input->GetSpec().GetElementNum()));
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = 0.1f * static_cast<float>(i % 23) - 1;
    }
    Write(input, values);
    EXPECT_TRUE(graph->Run()) << vx::LastError();
    return Read(output);
  }

  std::shared_ptr<vx::Graph> graph;
  std::shared_ptr<vx::Tensor> input;
  std::shared_ptr<vx::Tensor> output;
};

// Check 25.
TEST(BatchSplit, SharesItemsBySpeed) {
  const FakeSet set({Fast("fast", 100), Fast("slow", 300)});
  Pictures split(set.ContextWith("split=batch"), 8);
  Pictures host(HostContext(), 8);
  EXPECT_EQ(split.Run(), host.Run());
  EXPECT_EQ(PartitionOf(*split.graph).chosen,
            "batch split: 6 on fake:0 2 on fake:1");
  const ir::Plan& plan = *vx::CompiledPlan(*split.graph);
  // Nothing is joined or divided by the host, and results go where they stay.
  EXPECT_EQ(Count(plan, 0, true), 0) << ir::Dump(plan);
  EXPECT_EQ(Count(plan, 0, false), 0) << ir::Dump(plan);
  EXPECT_EQ(plan.arenas[0].bytes, 0);
  EXPECT_GT(set.fakes[0]->steps_run(), 0);
  EXPECT_GT(set.fakes[1]->steps_run(), 0);
}

TEST(BatchSplit, IsTakenByItselfWhereItPays) {
  const FakeSet set({Fast("a", 5000), Fast("b", 5000)});
  Pictures split(set.ContextWith("split=auto"), 8);
  Pictures host(HostContext(), 8);
  EXPECT_EQ(split.Run(), host.Run());
  EXPECT_THAT(PartitionOf(*split.graph).chosen, HasSubstr("batch split: 4"));
  Pictures one(set.ContextWith("split=auto"), 1);
  one.Run();
  EXPECT_THAT(PartitionOf(*one.graph).chosen, Not(HasSubstr("batch split")));
}

TEST(BatchSplit, RefusesWhatItemsShare) {
  const FakeSet set({Fast("fast", 100), Fast("slow", 300)});
  const auto context = set.ContextWith("split=batch");
  Pictures one(context, 1);
  EXPECT_TRUE(CompileFailsWith(*one.graph, "has 1 items"));

  const auto softmax = context->CreateGraph();
  const auto in =
      softmax->CreateTensor(Floats({4, 8}, vx::TensorAttribute::INPUT));
  const auto out =
      softmax->CreateTensor(Floats({4, 8}, vx::TensorAttribute::OUTPUT));
  (*softmax->CreateOperation<vx::ops::Softmax>(1.0f, 1))
      .BindInput(in)
      .BindOutput(out);
  EXPECT_TRUE(CompileFailsWith(*softmax, "Softmax#1"));
  EXPECT_THAT(vx::LastError(), HasSubstr("cannot be done item by item"));

  const auto stateful = context->CreateGraph();
  const auto from =
      stateful->CreateTensor(Floats({4, 8}, vx::TensorAttribute::INPUT));
  const auto state =
      stateful->CreateTensor(Floats({4, 8}, vx::TensorAttribute::VARIABLE));
  const auto to =
      stateful->CreateTensor(Floats({4, 8}, vx::TensorAttribute::OUTPUT));
  (*stateful->CreateOperation<vx::ops::Add>())
      .BindInputs({from, state})
      .BindOutput(to);
  EXPECT_TRUE(CompileFailsWith(*stateful, "the graph has the state"));
}

// ---- pipelines --------------------------------------------------------------

double Since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - begin)
      .count();
}

FakeOptions Stage(const std::string& name) {
  return {.max_delay_us = 0,
          .step_us = 5000,
          .one_at_a_time = true,
          .name = name,
          .gflops = 1e6,
          .launch_us = 5000};
}

// Check 26.
TEST(Pipeline, KeepsItemsInFlight) {
  constexpr int kItems = 20;
  const FakeSet set({Stage("first"), Stage("second"), Stage("third")});
  const auto graph = set.ContextWith("pipeline=3")->CreateGraph();
  const auto input =
      graph->CreateTensor(Floats({16}, vx::TensorAttribute::INPUT));
  const auto output = AddChain<vx::ops::Tanh>(*graph, input, 3);
  ASSERT_TRUE(graph->Compile()) << vx::LastError();
  EXPECT_THAT(DevicesOf(*graph), ElementsAre(1, 2, 3));

  std::vector<std::vector<float>> inputs(kItems, std::vector<float>(16));
  std::vector<std::vector<float>> outputs(kItems, std::vector<float>(16));
  for (int i = 0; i < kItems; ++i) inputs[i].assign(16, 0.1f * i);
  ASSERT_TRUE(graph->Run());
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(graph->Run());
  const double serial = Since(begin) * kItems / 4;

  begin = std::chrono::steady_clock::now();
  std::vector<vx::RunEvent> runs;
  for (int i = 0; i < kItems; ++i) {
    runs.push_back(graph->RunAsync({inputs[i].data()}, {outputs[i].data()}));
  }
  for (vx::RunEvent& run : runs) EXPECT_TRUE(run.Wait()) << vx::LastError();
  EXPECT_LE(Since(begin), 0.45 * serial);
  for (int i = 0; i < kItems; ++i) {
    Write(input, inputs[i]);
    ASSERT_TRUE(graph->Run());
    EXPECT_EQ(outputs[i], Read(output)) << i;
  }
}

// Check 26: the others are as if it had not been there.
TEST(Pipeline, AnItemThatFailsIsTheOnlyOne) {
  constexpr int kItems = 20;
  constexpr int kBad = 7;
  const FakeSet set({Stage("first"), Stage("second"), Stage("third")});
  const auto graph = set.ContextWith("pipeline=3")->CreateGraph();
  OpPlan plan;
  plan.host = [](OpPlan::Op&, const OpPlan::Inputs& in,
                 const OpPlan::Outputs& out) {
    if (in.at(0).Data<float>()[0] == kBad) throw std::runtime_error("too hot");
    std::copy_n(in.at(0).Data<float>(), 16, out.at(0).Data<float>());
  };
  const auto input =
      graph->CreateTensor(Floats({16}, vx::TensorAttribute::INPUT));
  const auto copied =
      graph->CreateTensor(Floats({16}, vx::TensorAttribute::TRANSIENT));
  graph->CreateOperation<TestOp>(plan)->BindInput(input).BindOutput(copied);
  AddChain<vx::ops::Abs>(*graph, copied, 3);
  ASSERT_TRUE(graph->Compile()) << vx::LastError();

  std::vector<std::vector<float>> inputs;
  std::vector<std::vector<float>> outputs(kItems, std::vector<float>(16));
  std::vector<vx::RunEvent> runs;
  for (int i = 0; i < kItems; ++i) {
    inputs.emplace_back(16, static_cast<float>(i));
  }
  for (int i = 0; i < kItems; ++i) {
    runs.push_back(graph->RunAsync({inputs[i].data()}, {outputs[i].data()}));
  }
  for (int i = 0; i < kItems; ++i) {
    EXPECT_EQ(runs[i].Wait(), i != kBad) << i << ": " << vx::LastError();
    if (i == kBad) {
      EXPECT_THAT(vx::LastError(), HasSubstr("too hot"));
    } else {
      EXPECT_EQ(outputs[i], inputs[i]) << i;
    }
  }
}

TEST(Pipeline, NeedsADevicePerStage) {
  const FakeSet set({Stage("first"), Stage("second")});
  ReluGraph graph({4}, set.ContextWith("pipeline=3")->CreateGraph());
  EXPECT_TRUE(CompileFailsWith(
      *graph.graph,
      "pipeline=3 needs 3 devices beside the host, the context "
      "has 2"));
}

// ---- links ------------------------------------------------------------------

class MapStore final : public device::BinaryStore {
 public:
  std::optional<std::string> Load(std::string_view key) override {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find(std::string(key));
    if (found == values_.end()) return std::nullopt;
    return found->second;
  }
  void Store(std::string_view key, std::string_view bytes) override {
    const std::lock_guard lock(mutex_);
    values_[std::string(key)] = std::string(bytes);
  }
  void CountBuild() override {}

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> values_;
};

// Check 23.
TEST(Links, AreMeasuredAndKept) {
  const auto options = [](const char* name) {
    return FakeOptions{.max_delay_us = 0,
                       .copy_us = 5000,
                       .name = name,
                       .gflops = 1e6,
                       .launch_us = 1000};
  };
  const FakeSet set({options("far"), options("farther")});
  MapStore store;
  const compiler::LinkTable measured = runtime::LinksOf(set.devices, &store);
  for (int d : {1, 2}) {
    EXPECT_NEAR(measured.Between(0, d).latency_us, 5000, 1000);
    EXPECT_NEAR(measured.Between(d, 0).latency_us, 5000, 1000);
    EXPECT_FALSE(measured.Between(d, 3 - d).direct);
  }
  const auto copies = set.fakes[0]->copies();
  EXPECT_EQ(runtime::LinksOf(set.devices, &store), measured);
  EXPECT_EQ(set.fakes[0]->copies(), copies);
  EXPECT_THAT(runtime::KnownLinksAsJson(), HasSubstr("\"farther\""));

  // Two nodes and their sum: not worth the way where it is known to be far.
  const auto devices_of = [&](const compiler::LinkTable& links) {
    const auto graph = set.ContextWith("min_gain_us=0", links)->CreateGraph();
    const auto input =
        graph->CreateTensor(Floats({16}, vx::TensorAttribute::INPUT));
    const auto tensor = [&](vx::TensorAttribute attribute) {
      return graph->CreateTensor(Floats({16}, attribute));
    };
    const auto left = tensor(vx::TensorAttribute::TRANSIENT);
    const auto right = tensor(vx::TensorAttribute::TRANSIENT);
    (*graph->CreateOperation<vx::ops::Tanh>())
        .BindInput(input)
        .BindOutput(left);
    (*graph->CreateOperation<vx::ops::Sigmoid>())
        .BindInput(input)
        .BindOutput(right);
    (*graph->CreateOperation<vx::ops::Add>())
        .BindInputs({left, right})
        .BindOutput(tensor(vx::TensorAttribute::OUTPUT));
    EXPECT_TRUE(graph->Compile()) << vx::LastError();
    const std::vector<int> devices = DevicesOf(*graph);
    return std::set<int>(devices.begin(), devices.end());
  };
  EXPECT_EQ(devices_of({}).size(), 2u);
  EXPECT_EQ(devices_of(measured).size(), 1u);

  // Another process finds what this one has kept.
  const int before = set.fakes[0]->copies();
  EXPECT_PASSES(Fork([&] {
    EXPECT_EQ(runtime::LinksOf(set.devices, &store), measured);
    EXPECT_EQ(set.fakes[0]->copies(), before);
  }));
}

TEST(Links, OfNoDevicesAreErrors) {
  const std::pair<std::vector<std::string>, const char*> bad[] = {
      {{}, "no devices are named"},
      {{"host"}, "'host' is the host alone"},
      {{""}, "'' names no device"},
      {{"host", "host"}, "device host is named twice"},
      {{"acme:0"}, "there are no devices of kind 'acme'"},
      {{"opencl:99"}, "OpenCL device 99"}};
  for (const auto& [specs, reason] : bad) {
    EXPECT_FALSE(devices::MeasureLinks(specs)) << reason;
    EXPECT_THAT(devices::LastError(), HasSubstr(reason));
  }
}

// Links that cannot be kept are known for as long as the process lives.
TEST(Links, AreMeasuredWithoutACacheFolder) {
  if (device::CountOpenClDevices() == 0) GTEST_SKIP() << "no OpenCL device";
  if (!IsChild()) {
    const std::string file = ::testing::TempDir() + "/no_folder";
    std::ofstream(file) << "a file";
    const ChildResult child =
        RunAsChild({{"TIMCL_CACHE_DIR", file}, {"TIMCL_LOG", "warning"}});
    EXPECT_EQ(child.exit_status, 0) << child.output;
    EXPECT_THAT(child.output, HasSubstr(file));
    return;
  }
  EXPECT_EQ(devices::LinksAsJson(), "[]");
  ASSERT_TRUE(devices::MeasureLinks({"opencl:0"})) << devices::LastError();
  const auto links = nlohmann::json::parse(devices::LinksAsJson());
  ASSERT_EQ(links.size(), 2u);
  EXPECT_GT(links[0]["latency_us"].get<double>(), 0);
}

}  // namespace
}  // namespace tim::testing
