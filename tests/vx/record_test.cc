// TIMCL_RECORD: what is in its file, and when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/log.h"
#include "binary/record_file.h"
#include "runtime/device_pool.h"
#include "tests/support/child_process.h"
#include "tests/support/status_macros.h"
#include "tests/support/vx/binary_graph.h"
#include "tests/support/vx/fake_platform.h"
#include "tests/support/vx/platform_objects.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"
#include "tim/vx/run_event.h"
#include "vx/core/graph_core.h"
#include "vx/graph/context_impl.h"

namespace tim::testing {
namespace {

namespace fs = std::filesystem;
using binary::RunEnd;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;
using Values = std::vector<float>;

std::string FreshFolder(const std::string& name) {
  const fs::path path = fs::path(::testing::TempDir()) / ("record_" + name);
  fs::remove_all(path);
  fs::create_directories(path);
  return path.string();
}

std::shared_ptr<vx::Graph> RecordedGraph(const std::string& file, bool inputs,
                                         const char* device = "host") {
  auto devices = runtime::SelectDevices(device, {});
  if (!devices.ok()) return nullptr;
  vx::ContextOptions options;
  options.record = {.file = file, .inputs = inputs};
  return vx::CreateContext(*std::move(devices), std::move(options))
      ->CreateGraph();
}

// Of a graph that has been compiled.
std::string PathOf(vx::Graph& graph) { return vx::CoreOf(&graph)->record_path; }

// A file of a record that has been read.
struct OpenRecord {
  explicit OpenRecord(const std::string& path) : bytes(BinaryFile::Read(path)) {
    auto opened = binary::OpenBlob(
        std::as_bytes(std::span(bytes.data(), bytes.size())), nullptr);
    EXPECT_OK(opened);
    if (!opened.ok()) return;
    blob = *std::move(opened);
    auto found = binary::ReadRecord(blob);
    EXPECT_OK(found);
    if (found.ok()) record = *std::move(found);
  }

  std::string Fact(const std::string& name) const {
    for (const binary::Fact& fact : record.facts) {
      if (fact.name == name) return fact.value;
    }
    return "none";
  }
  bool Holds(float value) const {
    std::array<char, sizeof(value)> pattern = {};
    std::memcpy(pattern.data(), &value, sizeof(value));
    return std::search(bytes.begin(), bytes.end(), pattern.begin(),
                       pattern.end()) != bytes.end();
  }

  std::vector<char> bytes;
  binary::Blob blob;
  binary::Record record;
};

template <typename T = float>
std::vector<T> ValuesOf(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

constexpr float kMark = 1234.5678f;

TEST(Records, HaveGraphAndEnvironmentAndNoData) {
  const auto graph = RecordedGraph(FreshFolder("graph") + "/a.bin", false);
  const ReluGraph relu({4}, graph);
  Write<float>(relu.input, {-1, kMark, 0, 3});
  ASSERT_TRUE(graph->Compile()) << vx::LastError();
  const fs::path path = PathOf(*graph);
  const auto written = fs::last_write_time(path);
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(fs::last_write_time(path), written) << "runs write nothing";
  const OpenRecord open(path);
  EXPECT_EQ(open.Fact("library"), open.blob.library);
  EXPECT_THAT(open.Fact("device 0"), HasSubstr("host"));
  EXPECT_EQ(open.Fact("strict"), "0");
  EXPECT_EQ(open.record.end, RunEnd::kNoRun);
  EXPECT_TRUE(open.record.inputs.empty());
  EXPECT_TRUE(open.record.outputs.empty());
  EXPECT_FALSE(open.Holds(kMark));
  LoadedBinary loaded(open.bytes, *graph, HostGraph());
  Write<float>(loaded.inputs[0], {-1, 2, -3, 4});
  ASSERT_TRUE(loaded.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(loaded.outputs[0]), (Values{0, 2, 0, 4}));
}

TEST(Records, HaveTheLastRunWhereAsked) {
  const auto graph = RecordedGraph(FreshFolder("run") + "/a.bin", true);
  const ReluGraph relu({2}, graph);
  for (const float value : {1.0f, -2.0f}) {
    Write<float>(relu.input, {value, kMark});
    ASSERT_TRUE(graph->Run()) << vx::LastError();
  }
  const OpenRecord open(PathOf(*graph));
  EXPECT_EQ(open.record.run, 2u);
  EXPECT_EQ(open.record.end, RunEnd::kDone);
  ASSERT_EQ(open.record.inputs.size(), 1u);
  EXPECT_EQ(ValuesOf(open.record.inputs[0]), (Values{-2, kMark}));
  ASSERT_EQ(open.record.outputs.size(), 1u);
  EXPECT_EQ(ValuesOf(open.record.outputs[0]), (Values{0, kMark}));
}

TEST(Records, HaveCodesAndNothingForUnusedInputs) {
  const auto graph = RecordedGraph(FreshFolder("codes") + "/a.bin", true);
  const vx::Quantization quantization(vx::QuantType::ASYMMETRIC, 0.5f, 1);
  const auto spec = [&](vx::TensorAttribute attribute) {
    return vx::TensorSpec(vx::DataType::INT8, {3}, attribute, quantization);
  };
  graph->CreateTensor(spec(vx::INPUT));  // of no operation
  const auto in = graph->CreateTensor(spec(vx::INPUT));
  const auto out = graph->CreateTensor(spec(vx::OUTPUT));
  (*graph->CreateOperation<vx::ops::Relu>()).BindInput(in).BindOutput(out);
  Write<int8_t>(in, {-7, 1, 9});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  const OpenRecord open(PathOf(*graph));
  ASSERT_EQ(open.record.inputs.size(), 2u);
  EXPECT_TRUE(open.record.inputs[0].empty());
  EXPECT_EQ(ValuesOf<int8_t>(open.record.inputs[1]),
            (std::vector<int8_t>{-7, 1, 9}));
  EXPECT_EQ(ValuesOf<int8_t>(open.record.outputs[0]),
            (std::vector<int8_t>{1, 1, 9}));
}

// state = state + in, out = state as it was.
struct Counter {
  explicit Counter(std::shared_ptr<vx::Graph> on) : graph(std::move(on)) {
    state = graph->CreateTensor(Floats({2}, vx::VARIABLE));
    in = graph->CreateTensor(Floats({2}, vx::INPUT));
    out = graph->CreateTensor(Floats({2}, vx::OUTPUT));
    auto add = graph->CreateOperation<vx::ops::Add>();
    auto read = graph->CreateOperation<vx::ops::DataConvert>();
    (*add).BindInputs({state, in}).BindOutput(state);
    (*read).BindInput(state).BindOutput(out);
    Write<float>(in, {1, 10});
    Write<float>(state, {kMark, 5});
  }

  std::shared_ptr<vx::Graph> graph;
  std::shared_ptr<vx::Tensor> state, in, out;
};

TEST(Records, HaveStatesFromBeforeTheRun) {
  const Counter counter(RecordedGraph(FreshFolder("state") + "/a.bin", true));
  for (int run = 0; run < 3; ++run) {
    ASSERT_TRUE(counter.graph->Run()) << vx::LastError();
  }
  const OpenRecord open(PathOf(*counter.graph));
  EXPECT_EQ(ValuesOf(open.record.outputs[0]), Read(counter.out));
  LoadedBinary loaded(open.bytes, *counter.graph, HostGraph());
  Write<float>(loaded.inputs[0], ValuesOf(open.record.inputs[0]));
  ASSERT_TRUE(loaded.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(loaded.outputs[0]), Read(counter.out));
  EXPECT_EQ(Read(counter.out)[1], 25);
}

TEST(Records, HaveZerosForStatesWhereNoDataIsAskedFor) {
  const Counter counter(RecordedGraph(FreshFolder("zero") + "/a.bin", false));
  ASSERT_TRUE(counter.graph->Run()) << vx::LastError();
  const OpenRecord open(PathOf(*counter.graph));
  EXPECT_FALSE(open.Holds(kMark));
  LoadedBinary loaded(open.bytes, *counter.graph, HostGraph());
  Write<float>(loaded.inputs[0], {1, 1});
  ASSERT_TRUE(loaded.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(loaded.outputs[0]), (Values{0, 0}));
}

TEST(Records, HaveRunsThatDoNotBlock) {
  const Counter counter(RecordedGraph(FreshFolder("async") + "/a.bin", true));
  const std::vector<float> one = {1, 1};
  const std::vector<float> two = {2, 3};
  std::vector<float> first(2);
  std::vector<float> second(2);
  const auto a = counter.graph->RunAsync({one.data()}, {first.data()});
  const auto b = counter.graph->RunAsync({two.data()}, {second.data()});
  ASSERT_TRUE(a.Wait() && b.Wait()) << vx::LastError();
  const OpenRecord open(PathOf(*counter.graph));
  EXPECT_EQ(open.record.run, 2u);
  EXPECT_EQ(open.record.end, RunEnd::kDone);
  EXPECT_EQ(ValuesOf(open.record.inputs[0]), two);
  EXPECT_EQ(ValuesOf(open.record.outputs[0]), second);
  EXPECT_EQ(second, (Values{kMark + 1, 6}));
}

OpPlan OnHost(std::function<void()> body) {
  OpPlan plan;
  plan.host = [body = std::move(body)](OpPlan::Op&, const OpPlan::Inputs&,
                                       const OpPlan::Outputs&) { body(); };
  return plan;
}

TEST(Records, TellWhyARunHasFailed) {
  const auto graph = RecordedGraph(FreshFolder("failed") + "/a.bin", true);
  TestOpGraph failing(OnHost([] { throw std::runtime_error("no luck"); }), {2},
                      graph);
  Write<float>(failing.x, {3, 4});
  EXPECT_FALSE(graph->Run());
  const OpenRecord open(PathOf(*graph));
  EXPECT_EQ(open.record.end, RunEnd::kFailed);
  EXPECT_THAT(open.record.message, HasSubstr("no luck"));
  EXPECT_EQ(ValuesOf(open.record.inputs[0]), (Values{3, 4}));
  EXPECT_TRUE(open.record.outputs.empty());
}

// Warnings of other runs and of other graphs are not in it.
TEST(Records, HaveTheWarningsOfCompileAndOfTheLastRun) {
  const std::string folder = FreshFolder("warnings");
  int run = 0;
  OpPlan plan = OnHost([&run] {
    ++run;
    TIM_LOG(kWarning, "doubt of run ", run);
    TIM_LOG(kInfo, "chat of run ", run);
  });
  bool warn = true;
  plan.shapes = [&warn](OpPlan::Op& op) {
    op.outputs_size_[0] = op.inputs_size_[0];
    if (warn) TIM_LOG(kWarning, "doubt of Compile");
    warn = false;
  };
  CaptureStderr();
  const TestOpGraph doubtful(plan, {2}, RecordedGraph(folder + "/a.bin", true));
  TIM_LOG(kWarning, "of nobody");
  ASSERT_TRUE(doubtful.graph->Compile()) << vx::LastError();
  const std::string path = PathOf(*doubtful.graph);
  const auto expect_first = [](const OpenRecord& open) {
    ASSERT_FALSE(open.record.messages.empty());
    EXPECT_EQ(open.record.messages[0], "doubt of Compile");
  };
  const OpenRecord compiled(path);
  expect_first(compiled);
  Write<float>(doubtful.x, {3, 4});
  ASSERT_TRUE(doubtful.graph->Run() && doubtful.graph->Run());
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("doubt of run 2"));
  const OpenRecord open(path);
  expect_first(open);
  std::vector<std::string> wanted = compiled.record.messages;
  wanted.push_back("doubt of run 2");
  EXPECT_EQ(open.record.messages, wanted);
}

TEST(Records, TellWhyCompileHasFailedAfterwards) {
  const auto graph =
      RecordedGraph(FreshFolder("driver") + "/a.bin", false, "opencl");
  if (graph == nullptr) GTEST_SKIP() << "no OpenCL device";
  OpPlan plan;
  plan.source = "__kernel void f(__global const float* x) { no_such; }";
  const TestOpGraph failing(plan, {2}, graph);
  EXPECT_FALSE(graph->Compile());
  const OpenRecord open(PathOf(*graph));
  ASSERT_FALSE(open.record.messages.empty());
  EXPECT_THAT(open.record.messages.back(),
              AllOf(HasSubstr("Compile() failed: "), HasSubstr("no_such")));
}

TEST(Records, AreWholeWhenARunEndsTheProcess) {
  if (IsChild()) {
    TestOpGraph ending(OnHost([] { _exit(42); }), {2},
                       vx::Context::Create()->CreateGraph());
    Write<float>(ending.x, {5, 6});
    ending.graph->Run();
    return;
  }
  const std::string folder = FreshFolder("crash");
  const ChildResult child = RunAsChild({{"TIMCL_RECORD", folder + "/a.bin"},
                                        {"TIMCL_RECORD_INPUTS", "1"},
                                        {"TIMCL_LENIENT", "1"},
                                        {"TIMCL_STRICT", "0"},
                                        {"TIMCL_DEVICE", "host"}});
  EXPECT_EQ(child.exit_status, 42) << child.output;
  const OpenRecord open(folder + "/a.bin");
  EXPECT_EQ(open.record.end, RunEnd::kUnknown);
  EXPECT_EQ(ValuesOf(open.record.inputs[0]), (Values{5, 6}));
  EXPECT_EQ(open.Fact("TIMCL_DEVICE"), "host");
  EXPECT_EQ(open.Fact("TIMCL_RECORD"), "none");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
}

TEST(Records, OfOneProcessHaveNumbers) {
  if (IsChild()) {
    const auto context = vx::Context::Create();
    for (int i = 0; i < 2; ++i) {
      const ReluGraph relu({2}, context->CreateGraph());
      ASSERT_TRUE(relu.graph->Compile()) << vx::LastError();
      const std::string path = PathOf(*relu.graph);
      EXPECT_THAT(path, HasSubstr(std::to_string(getpid()) +
                                  (i == 0 ? ".bin" : "-2.bin")));
      // Once more, in the same file.
      const auto more = relu.graph->CreateTensor(Floats({2}, vx::OUTPUT));
      (*relu.graph->CreateOperation<vx::ops::Abs>())
          .BindInput(relu.input)
          .BindOutput(more);
      ASSERT_TRUE(relu.graph->Compile()) << vx::LastError();
      EXPECT_EQ(PathOf(*relu.graph), path);
      EXPECT_EQ(OpenRecord(path).blob.outputs.size(), 2u);
      fs::remove(path);
    }
    return;
  }
  const ChildResult child =
      RunAsChild({{"TIMCL_RECORD", FreshFolder("names.d") + "/a-%p.bin"},
                  {"TIMCL_DEVICE", "host"}});
  EXPECT_EQ(child.exit_status, 0) << child.output;
}

TEST(Records, OfExecutorsHaveTheirRuns) {
  const std::string file = ::testing::TempDir() + "/record_executor.bin";
  if (!IsChild()) {
    fs::remove(file);
    const ChildResult child =
        RunAsChild({{"TIMCL_RECORD", file}, {"TIMCL_RECORD_INPUTS", "1"}});
    EXPECT_EQ(child.exit_status, 0) << child.output;
    return;
  }
  const ReluGraph source({2});
  const auto executor = DeviceWithCores(1)->CreateExecutor();
  const auto executable = executor->Compile(source.graph);
  ASSERT_NE(executable, nullptr) << vx::LastError();
  const auto input = executable->AllocateTensor(source.input->GetSpec());
  const auto output = executable->AllocateTensor(source.output->GetSpec());
  executable->SetInput(input);
  executable->SetOutput(output);
  const Values values = {-1, 2};
  ASSERT_TRUE(input->CopyDataToTensor(values.data(), 0));
  ASSERT_TRUE(executable->Submit(executable)) << vx::LastError();
  ASSERT_TRUE(executor->Trigger()) << vx::LastError();
  const OpenRecord open(file);
  EXPECT_EQ(open.record.end, RunEnd::kDone);
  EXPECT_EQ(ValuesOf(open.record.inputs[0]), values);
  EXPECT_EQ(ValuesOf(open.record.outputs[0]), (Values{0, 2}));
}

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) {
    ++count;
  }
  return count;
}

TEST(Records, ThatCannotBeWrittenAreOneWarning) {
  const auto graph = RecordedGraph(FreshFolder("none") + "/none/a.bin", true);
  const ReluGraph relu({2}, graph);
  Write<float>(relu.input, {-1, 2});
  CaptureStderr();
  EXPECT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_TRUE(graph->Run()) << vx::LastError();
  const std::string printed = GetCapturedStderr();
  EXPECT_EQ(Count(printed, "TIMCL_RECORD: graph "), 1u) << printed;
  EXPECT_THAT(printed, HasSubstr("is not recorded: cannot write '"));
  EXPECT_EQ(Read(relu.output), (Values{0, 2}));
}

TEST(Records, OfGraphsWithoutABinaryFormAreAWarning) {
  const std::string folder = FreshFolder("form");
  const auto graph = RecordedGraph(folder + "/a.bin", true);
  const auto first = graph->CreateTensor(Floats({2}, vx::INPUT));
  const auto second = graph->CreateTensor(Floats({2}, vx::INPUT));
  const auto out = graph->CreateTensor(Floats({2}, vx::OUTPUT));
  (*graph->CreateOperation<vx::ops::Relu>())
      .BindInput(first)
      .BindOutput(second);
  (*graph->CreateOperation<vx::ops::Abs>()).BindInput(second).BindOutput(out);
  Write<float>(first, {-1, 2});
  CaptureStderr();
  EXPECT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_THAT(GetCapturedStderr(),
              HasSubstr("that operations write, which a binary graph cannot "
                        "have"));
  EXPECT_EQ(Read(out), (Values{0, 2}));
  EXPECT_TRUE(fs::is_empty(folder));
}

// A graph that is a binary graph with a plan, which is used.
TEST(Records, OfBinaryGraphsHaveTheirGraph) {
  const ReluGraph source({2});
  const std::vector<char> binary = ToBinary(*source.graph);
  LoadedBinary loaded(binary, *source.graph,
                      RecordedGraph(FreshFolder("nbg") + "/a.bin", true));
  Write<float>(loaded.inputs[0], {-1, 2});
  ASSERT_TRUE(loaded.graph->Run()) << vx::LastError();
  const OpenRecord open(PathOf(*loaded.graph));
  EXPECT_EQ(ValuesOf(open.record.outputs[0]), (Values{0, 2}));
  LoadedBinary again(open.bytes, *source.graph, HostGraph());
  Write<float>(again.inputs[0], {3, -4});
  ASSERT_TRUE(again.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(again.outputs[0]), (Values{3, 0}));
}

TEST(Records, OfCustomOperatorsHaveTheirKernels) {
  const auto graph =
      RecordedGraph(FreshFolder("custom") + "/a.bin", true, "opencl");
  if (graph == nullptr) GTEST_SKIP() << "no OpenCL device";
  TestOpGraph custom(OpPlan(), {4}, graph);
  EXPECT_EQ(custom.Run({1, 2, 3, kMark}), (Values{1, 2, 3, kMark}));
  const OpenRecord open(PathOf(*graph));
  EXPECT_THAT(open.Fact("device 1"), HasSubstr("opencl"));
  EXPECT_EQ(ValuesOf(open.record.outputs[0]), (Values{1, 2, 3, kMark}));
  LoadedBinary loaded(open.bytes, *graph, OpenClGraph());
  Write<float>(loaded.inputs[0], {4, 3, 2, 1});
  ASSERT_TRUE(loaded.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(loaded.outputs[0]), (Values{4, 3, 2, 1}));
}

}  // namespace
}  // namespace tim::testing
