// Graph::Dump and TIMCL_DUMP, on the host and on OpenCL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "runtime/device_pool.h"
#include "tests/support/child_process.h"
#include "tests/support/vx/binary_graph.h"
#include "tests/support/vx/vx_graph.h"
#include "tim/lite/execution.h"
#include "vx/graph/context_impl.h"

namespace tim::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

std::string FreshPath(const std::string& name) {
  const fs::path path = fs::path(::testing::TempDir()) / ("dump_" + name);
  fs::remove_all(path);
  return path.string();
}

std::string Text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::string> Files(const std::string& folder) {
  std::set<std::string> names;
  if (!fs::exists(folder)) return names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_directory()) {
      names.insert(fs::relative(entry.path(), folder).string());
    }
  }
  return names;
}

// What stands behind the header, whose text is `header`.
std::vector<float> ArrayIn(const std::string& path, const std::string& header) {
  const std::string file = Text(path);
  EXPECT_THAT(file.substr(10), StartsWith(header));
  const size_t begin = file.find('\n') + 1;
  std::vector<float> values((file.size() - begin) / sizeof(float));
  std::memcpy(values.data(), file.data() + begin,
              values.size() * sizeof(float));
  return values;
}

std::shared_ptr<vx::Context> DumpingContext(const DumpOptions& dump) {
  auto devices = runtime::SelectDevices("host", {});
  EXPECT_TRUE(devices.ok());
  vx::ContextOptions options;
  options.dump = dump;
  return vx::CreateContext(*std::move(devices), std::move(options));
}

// INPUT x -> Log 'log' -> y -> SoftMax -> OUTPUT z, of [2, 2].
struct LogGraph {
  explicit LogGraph(std::shared_ptr<vx::Graph> on,
                    const std::string& name = "logs")
      : graph(std::move(on)) {
    x = graph->CreateTensor(
        Floats({2, 2}, vx::TensorAttribute::INPUT).SetName("x"));
    y = graph->CreateTensor(
        Floats({2, 2}, vx::TensorAttribute::TRANSIENT).SetName(name));
    z = graph->CreateTensor(Floats({2, 2}, vx::TensorAttribute::OUTPUT));
    auto log = graph->CreateOperation<vx::ops::Log>();
    log->SetInstanceName("log");
    (*log).BindInput(x).BindOutput(y);
    auto softmax = graph->CreateOperation<vx::ops::Softmax>(1.0f, 0);
    (*softmax).BindInput(y).BindOutput(z);
    Write<float>(x, {1, 1, -1, 1});
  }

  std::shared_ptr<vx::Graph> graph;
  std::shared_ptr<vx::Tensor> x, y, z;
};

class Dump : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto context = ContextOn(GetParam());
    if (context == nullptr) GTEST_SKIP() << "no device " << GetParam();
    graph_ = context->CreateGraph();
  }
  std::shared_ptr<vx::Graph> graph_;
};

TEST_P(Dump, WritesPassesPlanMemoryAndTensors) {
  const LogGraph logs(graph_);
  const std::string folder = FreshPath("files");
  CaptureStderr();
  ASSERT_TRUE(graph_->Dump(folder)) << vx::LastError();
  EXPECT_THAT(GetCapturedStderr(),
              HasSubstr("tensor t1 'logs', which step 0 [Log#1 'log'] makes, "
                        "is the first with NaN: 1 of 4; see " +
                        folder + "/1_run1/index.csv"));
  EXPECT_THAT(
      Files(folder),
      IsSupersetOf({"1_graph.txt", "1_01_verify.dot", "1_01_verify.json",
                    "1_19_plan_memory.dot", "1_19_plan_memory.json",
                    "1_plan.txt", "1_memory.svg", "1_run1/index.csv",
                    "1_run1/input_t0__x_.npy", "1_run1/0000_t1__logs_.npy"}));
  EXPECT_THAT(Text(folder + "/1_graph.txt"), HasSubstr("# Log#1 'log'"));
  EXPECT_THAT(Text(folder + "/1_02_infer.dot"), HasSubstr("Log#1 'log'\\n"));
  EXPECT_THAT(Text(folder + "/1_02_infer.json"), HasSubstr("\"Log#1 'log'\""));
  EXPECT_THAT(Text(folder + "/1_plan.txt"), HasSubstr("[Log#1 'log']"));
  EXPECT_THAT(Text(folder + "/1_memory.svg"), HasSubstr("t1 'logs': 16 bytes"));
  EXPECT_EQ(ArrayIn(folder + "/1_run1/input_t0__x_.npy",
                    "{'descr': '<f4', 'fortran_order': False, "
                    "'shape': (2, 2), }"),
            (std::vector<float>{1, 1, -1, 1}));
  const std::string index = Text(folder + "/1_run1/index.csv");
  EXPECT_THAT(index, HasSubstr("\ninput,\"\",\"t0 'x'\",\"input_t0__x_.npy\","
                               "float32,\"[2, 2]\",,4,-1,1,0.5,0,0,0,\n"));
  EXPECT_THAT(index, HasSubstr("\n0,\"Log#1 'log'\",\"t1 'logs'\",\"0000_t1__"
                               "logs_.npy\",float32,\"[2, 2]\",,4,0,0,0,1,0,0,"
                               "nan\n"));
  EXPECT_THAT(index, ContainsRegex(",\"t2\",\"000[12]_t2.npy\","));
}

// As Run(), and later runs are not written.
TEST_P(Dump, LeavesWhatARunLeaves) {
  const auto state = graph_->CreateTensor(
      Floats({2}, vx::TensorAttribute::VARIABLE).SetName("count"));
  const auto in = graph_->CreateTensor(Floats({2}, vx::TensorAttribute::INPUT));
  const auto out =
      graph_->CreateTensor(Floats({2}, vx::TensorAttribute::OUTPUT));
  auto add = graph_->CreateOperation<vx::ops::Add>();
  auto read = graph_->CreateOperation<vx::ops::DataConvert>();
  (*add).BindInputs({state, in}).BindOutput(state);
  (*read).BindInput(state).BindOutput(out);
  Write<float>(in, {1, 10});
  const std::string folder = FreshPath("state");
  ASSERT_TRUE(graph_->Run()) << vx::LastError();
  ASSERT_TRUE(graph_->Dump(folder)) << vx::LastError();
  EXPECT_EQ(Read(out), (std::vector<float>{1, 10}));
  EXPECT_EQ(Read(state), (std::vector<float>{2, 20}));
  ASSERT_TRUE(graph_->Run()) << vx::LastError();
  EXPECT_EQ(Read(out), (std::vector<float>{2, 20}));
  const auto files = Files(folder);
  EXPECT_THAT(files, Contains("1_run1/state_t0__count_.npy"));
  EXPECT_THAT(files, Not(Contains(StartsWith("1_run2"))));
  EXPECT_EQ(ArrayIn(folder + "/1_run1/state_t0__count_.npy", "{'descr': '<f4'"),
            (std::vector<float>{1, 10}));
  EXPECT_THAT(Text(folder + "/1_run1/index.csv"),
              HasSubstr("\"t0 'count'.next\""));
}

// A Concat in place has no step of its own, and its parts are steps' results.
TEST_P(Dump, HasWhatNoStepWrites) {
  const auto in = graph_->CreateTensor(Floats({2}, vx::TensorAttribute::INPUT));
  const auto out =
      graph_->CreateTensor(Floats({4}, vx::TensorAttribute::OUTPUT));
  std::vector<std::shared_ptr<vx::Tensor>> parts;
  for (int i = 0; i < 2; ++i) {
    parts.push_back(
        graph_->CreateTensor(Floats({2}, vx::TensorAttribute::TRANSIENT)));
    auto square = graph_->CreateOperation<vx::ops::Square>();
    (*square).BindInput(in).BindOutput(parts.back());
  }
  auto concat = graph_->CreateOperation<vx::ops::Concat>(0, 2);
  (*concat).BindInputs(parts).BindOutput(out);
  Write<float>(in, {2, 3});
  const std::string folder = FreshPath("concat");
  ASSERT_TRUE(graph_->Dump(folder)) << vx::LastError();
  const std::string index = Text(folder + "/1_run1/index.csv");
  const size_t row = index.find(",\"t1\",\"");
  ASSERT_NE(row, std::string::npos) << index;
  const size_t begin = row + std::strlen(",\"t1\",\"");
  EXPECT_EQ(
      ArrayIn(folder + "/1_run1/" +
                  index.substr(begin, index.find('"', begin) - begin),
              "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }"),
      (std::vector<float>{4, 9, 4, 9}));
}

TEST_P(Dump, CountsSaturatedCodes) {
  const vx::Quantization codes(vx::QuantType::ASYMMETRIC, 0.5f, 3);
  const auto spec = [&](vx::TensorAttribute attribute) {
    return vx::TensorSpec(vx::DataType::UINT8, {4}, attribute, codes);
  };
  const auto in = graph_->CreateTensor(spec(vx::TensorAttribute::INPUT));
  const auto out = graph_->CreateTensor(spec(vx::TensorAttribute::OUTPUT));
  auto square = graph_->CreateOperation<vx::ops::Square>();
  (*square).BindInput(in).BindOutput(out);
  Write<uint8_t>(in, {3, 5, 100, 255});
  const std::string folder = FreshPath("codes");
  ASSERT_TRUE(graph_->Dump(folder)) << vx::LastError();
  const std::string index = Text(folder + "/1_run1/index.csv");
  EXPECT_THAT(index, HasSubstr(",uint8,\"[4]\",\"scale 0.5 zero point 3\",4,3,"
                               "255,90.75,0,0,1,saturated\n"));
  EXPECT_THAT(index, HasSubstr(",3,255,129.5,0,0,2,saturated\n"));
}

INSTANTIATE_TEST_SUITE_P(Devices, Dump, ::testing::Values("host", "opencl"));

TEST(DumpFolder, KeepsWhatItHas) {
  ReluGraph relu;
  const std::string folder = FreshPath("again") + "/in/folders";
  ASSERT_TRUE(relu.graph->Dump(folder)) << vx::LastError();
  const std::string first = Text(folder + "/1_graph.txt");
  ReluGraph other({5});
  ASSERT_TRUE(other.graph->Dump(folder)) << vx::LastError();
  EXPECT_EQ(Text(folder + "/1_graph.txt"), first);
  EXPECT_THAT(Text(folder + "/2_graph.txt"), HasSubstr("[5]"));
}

TEST(DumpFolder, ThatCannotBeMadeIsAnError) {
  ReluGraph relu;
  const std::string file = FreshPath("file");
  std::ofstream(file) << "x";
  for (const std::string& folder : {file, file + "/below"}) {
    EXPECT_FALSE(relu.graph->Dump(folder));
    EXPECT_THAT(vx::LastError(), HasSubstr("cannot be dumped: cannot make the "
                                           "folder '" +
                                           folder + "': "));
    EXPECT_EQ(relu.graph->ErrorMessage(), vx::LastError());
  }
  EXPECT_FALSE(relu.graph->Dump(""));
  EXPECT_THAT(vx::LastError(), HasSubstr("the folder's name is empty"));
  Write<float>(relu.input, {-1, 2, -3, 4});
  EXPECT_TRUE(relu.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(relu.output), (std::vector<float>{0, 2, 0, 4}));
}

TEST(DumpFolder, ThatBecomesUnwritableIsAnErrorAndTheRunIsDone) {
  ReluGraph relu;
  const std::string folder = FreshPath("lost");
  fs::create_directories(folder);
  fs::create_directories(folder + "/1_plan.txt");  // no file can be there
  Write<float>(relu.input, {-1, 2, -3, 4});
  EXPECT_FALSE(relu.graph->Dump(folder));
  EXPECT_THAT(vx::LastError(), HasSubstr("is not dumped any further: cannot "
                                         "write '" +
                                         folder + "/1_plan.txt': "));
  EXPECT_EQ(Read(relu.output), (std::vector<float>{0, 2, 0, 4}));
  EXPECT_THAT(Files(folder), Not(Contains(StartsWith("1_run1"))));
}

TEST(DumpOfGraph, ThatHasNothingToDump) {
  const auto graph = HostGraph();
  const std::string folder = FreshPath("nothing");
  EXPECT_FALSE(graph->Dump(folder));
  EXPECT_THAT(vx::LastError(), HasSubstr("is empty"));
  graph->CreateTensor(Floats({2}, vx::TensorAttribute::INPUT));
  EXPECT_FALSE(graph->Dump(folder));
  EXPECT_THAT(vx::LastError(), HasSubstr("there is nothing to dump"));
  EXPECT_FALSE(fs::exists(folder));
}

TEST(DumpOfGraph, ThatDoesNotCompileHasThePassesBefore) {
  LogGraph logs(HostGraph());
  const auto wide =
      logs.graph->CreateTensor(Floats({7}, vx::TensorAttribute::OUTPUT));
  auto add = logs.graph->CreateOperation<vx::ops::Add>();
  (*add).BindInputs({logs.x, wide}).BindOutput(logs.z);
  const std::string folder = FreshPath("failed");
  EXPECT_FALSE(logs.graph->Dump(folder));
  EXPECT_EQ(Files(folder).count("1_graph.txt"), 1u);
  EXPECT_THAT(Text(folder + "/1_graph.txt"), HasSubstr("Compile() has failed"));
  EXPECT_EQ(Files(folder).count("1_plan.txt"), 0u);
}

TEST(DumpNames, AreAnything) {
  const std::string name = "../a/\"b\", 测\\";
  LogGraph logs(HostGraph(), name);
  const std::string folder = FreshPath("names");
  ASSERT_TRUE(logs.graph->Dump(folder)) << vx::LastError();
  EXPECT_THAT(Files(folder), Contains("1_run1/0000_t1__.._a__b___测__.npy"));
  EXPECT_THAT(Text(folder + "/1_run1/index.csv"),
              HasSubstr("\"t1 '../a/\"\"b\"\", 测\\'\""));
  EXPECT_THAT(Text(folder + "/1_02_infer.json"),
              HasSubstr(R"("t1 '../a/\"b\", 测\\'")"));
  EXPECT_THAT(Text(folder + "/1_02_infer.dot"),
              HasSubstr(R"(t1 '../a/\"b\", 测\\'\n)"));
}

TEST(DumpNames, ChooseTensors) {
  const auto chosen = [](const std::string& names) {
    LogGraph logs(HostGraph());
    const std::string folder = FreshPath("filter");
    EXPECT_TRUE(logs.graph->Dump(folder, names)) << vx::LastError();
    std::set<std::string> files = Files(folder + "/1_run1");
    EXPECT_EQ(files.erase("index.csv"), 1u);
    return files;
  };
  EXPECT_THAT(chosen("logs"), ElementsAre("0000_t1__logs_.npy"));
  EXPECT_THAT(chosen("t1"), ElementsAre("0000_t1__logs_.npy"));
  EXPECT_THAT(chosen("t1 'logs'"), ElementsAre("0000_t1__logs_.npy"));
  EXPECT_THAT(chosen("Log#1"), ElementsAre("0000_t1__logs_.npy"));
  EXPECT_THAT(chosen(" log "), ElementsAre("0000_t1__logs_.npy"));
  EXPECT_THAT(chosen("l*g*,,x"),
              ElementsAre("0000_t1__logs_.npy", "input_t0__x_.npy"));
  EXPECT_EQ(chosen("*").size(), 3u);
  EXPECT_EQ(chosen(" , ").size(), 3u);
  CaptureStderr();
  EXPECT_THAT(chosen("tower"), ElementsAre());
  EXPECT_THAT(GetCapturedStderr(),
              HasSubstr("'tower' matches no tensor and no operation"));
}

TEST(DumpOption, WritesEveryCompileAndSomeRuns) {
  const std::string folder = FreshPath("option");
  const auto context = DumpingContext({.directory = folder, .filter = "logs"});
  LogGraph logs(context->CreateGraph());
  ASSERT_TRUE(logs.graph->Compile()) << vx::LastError();
  EXPECT_EQ(Files(folder).count("1_memory.svg"), 1u);
  ASSERT_TRUE(logs.graph->Run()) << vx::LastError();
  ASSERT_TRUE(logs.graph->Run()) << vx::LastError();
  EXPECT_THAT(Files(folder + "/1_run1"),
              ElementsAre("0000_t1__logs_.npy", "index.csv"));
  EXPECT_FALSE(fs::exists(folder + "/1_run2"));
  LogGraph second(context->CreateGraph());
  ASSERT_TRUE(second.graph->Run()) << vx::LastError();
  EXPECT_TRUE(fs::exists(folder + "/2_run1"));
}

TEST(DumpOption, WritesRunsThatDoNotBlock) {
  const std::string folder = FreshPath("async");
  LogGraph logs(
      DumpingContext({.directory = folder, .runs = 2})->CreateGraph());
  const std::vector<float> one(4, 1);
  const std::vector<float> two(4, 2);
  std::vector<float> results[3] = {std::vector<float>(4), std::vector<float>(4),
                                   std::vector<float>(4)};
  int ended = 0;
  for (int i = 0; i < 3; ++i) {
    const auto& input = i == 0 ? one : two;
    auto event = logs.graph->RunAsync({input.data()}, {results[i].data()});
    event.Then([&](const char* error) { ended += error == nullptr; });
    EXPECT_TRUE(event.Wait()) << vx::LastError();
    EXPECT_THAT(results[i], ElementsAre(0.5f, 0.5f, 0.5f, 0.5f));
  }
  logs.graph = nullptr;
  EXPECT_EQ(ended, 3);
  const char* const header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";
  EXPECT_EQ(ArrayIn(folder + "/1_run1/input_t0__x_.npy", header), one);
  EXPECT_EQ(ArrayIn(folder + "/1_run2/input_t0__x_.npy", header), two);
  EXPECT_FALSE(fs::exists(folder + "/1_run3"));
}

TEST(DumpOption, CountsRuns) {
  const std::string folder = FreshPath("runs");
  for (const int runs : {0, 2}) {
    LogGraph logs(
        DumpingContext({.directory = folder, .runs = runs})->CreateGraph());
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(logs.graph->Run());
  }
  EXPECT_FALSE(fs::exists(folder + "/1_run1"));
  EXPECT_TRUE(fs::exists(folder + "/2_run1"));
  EXPECT_TRUE(fs::exists(folder + "/2_run2"));
  EXPECT_FALSE(fs::exists(folder + "/2_run3"));
}

TEST(DumpOption, FolderThatCannotBeMadeIsToldAndNothingElse) {
  const std::string file = FreshPath("taken");
  std::ofstream(file) << "x";
  LogGraph logs(DumpingContext({.directory = file})->CreateGraph());
  CaptureStderr();
  EXPECT_TRUE(logs.graph->Run()) << vx::LastError();
  EXPECT_THAT(GetCapturedStderr(),
              HasSubstr("[error] TIMCL_DUMP: graph " /* its name */));
}

TEST(DumpOption, PlansOfBinaryGraphsAreMadeAnew) {
  LogGraph logs(HostGraph());
  const std::vector<char> binary = ToBinary(*logs.graph);
  const std::string folder = FreshPath("binary");
  const LoadedBinary loaded(
      binary, *logs.graph,
      DumpingContext({.directory = folder})->CreateGraph());
  Write<float>(loaded.inputs[0], {1, 1, 1, 1});
  ASSERT_TRUE(loaded.graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(loaded.outputs[0]), (std::vector<float>{0.5, 0.5, 0.5, 0.5}));
  EXPECT_GE(Files(folder + "/1_run1").size(), 4u);
}

TEST(DumpOption, WritesExecutionsOfLite) {
  const std::string folder = FreshPath("lite");
  if (!IsChild()) {
    const ChildResult child =
        RunAsChild({{"TIMCL_DUMP", folder}, {"TIMCL_DEVICE", "host"}});
    EXPECT_EQ(child.exit_status, 0) << child.output;
    return;
  }
  const LogGraph logs(HostGraph());
  std::vector<char> binary = ToBinary(*logs.graph);
  auto execution = lite::Execution::Create(binary.data(), binary.size());
  ASSERT_NE(execution, nullptr) << vx::LastError();
  std::vector<float> input = {1, 1, 1, 1};
  std::vector<float> output(4);
  const auto bytes = [](std::vector<float>& values) {
    return reinterpret_cast<uint8_t*>(values.data());
  };
  execution->BindInputs({execution->CreateInputHandle(0, bytes(input), 16)});
  execution->BindOutputs({execution->CreateOutputHandle(0, bytes(output), 16)});
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(execution->Trigger()) << vx::LastError();
    EXPECT_THAT(output, ElementsAre(0.5f, 0.5f, 0.5f, 0.5f));
  }
  EXPECT_THAT(Files(folder),
              IsSupersetOf({"1_graph.txt", "1_plan.txt", "1_memory.svg",
                            "1_01_verify.dot", "1_run1/index.csv",
                            "1_run1/input_t0__x_.npy"}));
  EXPECT_FALSE(fs::exists(folder + "/1_run2"));
}

TEST(DumpOption, ComesFromTheEnvironment) {
  if (!IsChild()) {
    const std::string folder = FreshPath("environment");
    const ChildResult child = RunAsChild({{"TIMCL_DUMP", folder},
                                          {"TIMCL_DUMP_FILTER", "logs"},
                                          {"TIMCL_DUMP_RUNS", "2"},
                                          {"TIMCL_DEVICE", "host"}});
    EXPECT_EQ(child.exit_status, 0) << child.output;
    EXPECT_THAT(Files(folder + "/1_run2"),
                ElementsAre("0000_t1__logs_.npy", "index.csv"));
    return;
  }
  LogGraph logs(vx::Context::Create()->CreateGraph());
  EXPECT_TRUE(logs.graph->Run());
  EXPECT_TRUE(logs.graph->Run());
}

}  // namespace
}  // namespace tim::testing
