// `timcl run`: what it computes, measures, and refuses.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/tools/timcl_program.h"

namespace tim::tool {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class TimclRun : public ::testing::Test {
 protected:
  TimclRun() : folder_(FreshFolder("timcl_run")), relu_(WriteRelu(folder_)) {}

  std::string Run(const std::string& arguments) const {
    return "run '" + relu_ + "' --device host --runs 4 --warm-up 1 " +
           arguments;
  }
  std::string WriteNpy(const std::string& name, ir::DataType type,
                       const std::vector<int64_t>& shape,
                       const std::string& data) const {
    const std::string path = folder_ + "/" + name;
    WriteText(path, NpyHeader(type, shape) + data);
    return path;
  }

  const std::string folder_;
  const std::string relu_;
};

TEST_F(TimclRun, ComputesOutputsOfGivenInputs) {
  const std::string values = Bytes({-1, 2, -3, 4});
  WriteText(folder_ + "/in.raw", values);
  WriteNpy("in.npy", ir::DataType::kFloat32, {4}, values);
  for (const std::string& input :
       std::vector<std::string>{"--input '" + folder_ + "/in.npy'",
                                "--input '" + folder_ + "/in.raw'",
                                "--input 0='" + folder_ + "/in.npy'"}) {
    const std::string outputs = folder_ + "/new/outputs";
    const auto json = TimclJson(Run(input + " --outputs '" + outputs + "'"));
    ASSERT_EQ(json["files"].size(), 1u) << json;
    const std::string file = ReadText(json["files"][0]);
    const auto array = ParseNpy(file);
    ASSERT_TRUE(array.ok()) << array.status().message();
    EXPECT_EQ(array->type, "<f4");
    EXPECT_EQ(array->shape, std::vector<int64_t>{4});
    EXPECT_EQ(array->data, Bytes({0, 2, 0, 4}));
    EXPECT_EQ(json["inputs"][0]["least"], -3);
    EXPECT_EQ(json["outputs"][0]["greatest"], 4);
    EXPECT_EQ(json["outputs"][0]["nan"], 0);
    fs::remove_all(outputs);
  }
}

TEST_F(TimclRun, MeasuresRunsAndMemory) {
  const auto json = TimclJson(Run(""));
  EXPECT_EQ(json["runs"], 4);
  EXPECT_GT(json["ready_ms"], 0);
  EXPECT_GT(json["first_run_ms"], 0);
  EXPECT_GT(json["least_ms"], 0);
  EXPECT_LE(json["least_ms"], json["p50_ms"]);
  EXPECT_LE(json["p50_ms"], json["p90_ms"]);
  EXPECT_LE(json["p90_ms"], json["p99_ms"]);
  EXPECT_GT(json["library_bytes"], 0);
  EXPECT_GT(json["process_peak_bytes"], json["library_bytes"]);
  EXPECT_FALSE(json.contains("compile_cold_ms"));
  const CommandResult text = Timcl(Run(""));
  EXPECT_EQ(text.exit_status, 0);
  EXPECT_THAT(text.output,
              AllOf(HasSubstr("runs      4: p50 "), HasSubstr("first run "),
                    HasSubstr("output  0"), Not(HasSubstr("\033"))));
}

TEST_F(TimclRun, IsProfiledWhereTheEnvironmentAsks) {
  const CommandResult profiled = Timcl(Run(""), "TIMCL_PROFILE=1");
  EXPECT_EQ(profiled.exit_status, 0) << profiled.output;
  EXPECT_THAT(profiled.output,
              AllOf(HasSubstr("6 runs step by step"), HasSubstr("  eval  ")));
  EXPECT_THAT(Timcl(Run("")).output, Not(HasSubstr("step by step")));
}

TEST_F(TimclRun, RandomInputsFollowTheSeed) {
  const auto least = [&](int seed) {
    return TimclJson(Run("--seed " + std::to_string(seed)))["inputs"][0]
        .at("least")
        .get<double>();
  };
  EXPECT_EQ(least(5), least(5));
  EXPECT_NE(least(5), least(6));
  EXPECT_GE(least(5), -1);
  EXPECT_LT(least(5), 1);
}

TEST_F(TimclRun, QuantizesRealInputsAndTakesCodes) {
  const auto graph = testing::HostGraph();
  const vx::Quantization quantization(vx::QuantType::ASYMMETRIC, 0.5f, 10);
  const auto in = graph->CreateTensor(
      vx::TensorSpec(vx::DataType::UINT8, {2, 2}, vx::INPUT, quantization));
  const auto out = graph->CreateTensor(
      vx::TensorSpec(vx::DataType::UINT8, {2, 2}, vx::OUTPUT, quantization));
  (*graph->CreateOperation<vx::ops::Relu>()).BindInput(in).BindOutput(out);
  const std::string file = WriteGraph(*graph, folder_ + "/codes.bin");
  const std::string reals = WriteNpy("reals.npy", ir::DataType::kFloat32,
                                     {2, 2}, Bytes({-1, 0, 1, 2.5f}));
  const std::string codes =
      WriteNpy("codes.npy", ir::DataType::kUint8, {2, 2}, "\x08\x0a\x0c\x0f");
  for (const std::string& input : {reals, codes}) {
    const auto json =
        TimclJson("run '" + file + "' --device host --runs 0 --input '" +
                  input + "' --outputs '" + folder_ + "/codes'");
    EXPECT_EQ(ReadText(json["files"][0]),
              NpyHeader(ir::DataType::kUint8, {2, 2}) + "\x0a\x0a\x0c\x0f");
    EXPECT_FALSE(json.contains("p50_ms"));
  }
  ExpectFailure("run '" + file + "' --device host --input '" +
                    WriteNpy("wide.npy", ir::DataType::kInt32, {2, 2},
                             std::string(16, 0)) +
                    "'",
                2, "expected |u1, or real values as <f4");
}

TEST_F(TimclRun, SaysWhetherThePlanIsTheFiles) {
  const auto here = TimclJson(Run(""));
  EXPECT_EQ(here["plan_of_file"], true) << here;
  const auto anew = TimclJson(Run("--anew"));
  EXPECT_EQ(anew["plan_of_file"], false);
  EXPECT_EQ(anew["compiled_because"], "it was to be ignored");
}

TEST_F(TimclRun, RunsAGraphOfAnotherDevice) {
  if (testing::ContextOn("opencl") == nullptr) GTEST_SKIP() << "no device";
  const auto json =
      TimclJson("run '" + relu_ + "' --device opencl --runs 1 --warm-up 0");
  EXPECT_EQ(json["plan_of_file"], false);
  EXPECT_THAT(json["compiled_because"],
              HasSubstr("its plan is not for here: it is for "));
  EXPECT_GE(json["outputs"][0]["least"], 0);
}

TEST_F(TimclRun, CompilesInNewProcesses) {
  if (testing::ContextOn("opencl") == nullptr) GTEST_SKIP() << "no device";
  const auto json =
      TimclJson("run '" + relu_ + "' --device opencl --runs 1 --compile-times");
  EXPECT_GT(json["compile_cold_ms"], 0);
  EXPECT_GT(json["compile_cached_ms"], 0);
  // Nothing is left behind.
  const CommandResult in_folder =
      Timcl(Run("--compile-times --json"), "TMPDIR='" + folder_ + "'");
  EXPECT_EQ(in_folder.exit_status, 0) << in_folder.output;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    EXPECT_EQ(entry.path().filename(), "relu.bin");
  }
  const CommandResult nowhere =
      Timcl(Run("--compile-times"), "TMPDIR='" + folder_ + "/none'");
  EXPECT_EQ(nowhere.exit_status, 4);
  EXPECT_THAT(nowhere.output, HasSubstr("TMPDIR says where they go"));
}

TEST_F(TimclRun, RefusesFilesThatAreNoBinaryGraphs) {
  const std::string whole = ReadText(relu_);
  WriteText(folder_ + "/empty", "");
  WriteText(folder_ + "/text", "no graph");
  WriteText(folder_ + "/cut", whole.substr(0, whole.size() - 1));
  WriteText(folder_ + "/short", whole.substr(0, 50));
  std::string damaged = whole;
  damaged[whole.size() / 2] ^= 1;
  WriteText(folder_ + "/damaged", damaged);
  for (const std::string command : {"run", "explain", "memory"}) {
    const auto expect = [&](const std::string& name,
                            const std::string& message) {
      ExpectFailure(command + " '" + folder_ + "/" + name + "'", 3, message);
    };
    expect("none", "cannot be read: No such file");
    expect("", "it is a folder");
    expect("empty", "it is empty");
    expect("text", "CompileToBinary() writes such files");
    expect("cut", "it is cut short");
    expect("short", "CompileToBinary() writes such files");
    expect("damaged", "its checksum is wrong");
  }
  ExpectFailure("run /dev/null", 3, "it is no ordinary file");
}

TEST_F(TimclRun, RefusesInputsThatDoNotFit) {
  const std::string four = Bytes({1, 2, 3, 4});
  WriteText(folder_ + "/in.raw", four);
  WriteText(folder_ + "/three.raw", four.substr(4));
  const auto in = [&](const std::string& name) {
    return Run("--input '" + folder_ + "/" + name + "'");
  };
  WriteNpy("shape.npy", ir::DataType::kFloat32, {2, 2}, four);
  WriteNpy("type.npy", ir::DataType::kInt32, {4}, four);
  WriteText(folder_ + "/bad.npy", "no array");
  ExpectFailure(in("three.raw"), 2, "has 12 bytes");
  ExpectFailure(in("shape.npy"), 2, "its shape is (2, 2); expected that of");
  ExpectFailure(in("type.npy"), 2, "its elements are <i4; expected <f4");
  ExpectFailure(in("bad.npy"), 2, "it is no .npy file");
  ExpectFailure(in("none.raw"), 3, "none.raw' cannot be read");
  ExpectFailure(in(""), 3, "it is a folder");
  ExpectFailure(in("in.raw") + " --input x", 2, "the graph has only 1 inputs");
  ExpectFailure(in("in.raw") + " --input 0=x", 2, "has '");
  ExpectFailure(Run("--input image=x"), 2, "there is no input 'image'");
  ExpectFailure(Run("--input 0="), 2, "the file's name is empty");
}

TEST_F(TimclRun, RefusesDevicesFoldersAndOutputsThatAreNotThere) {
  const std::string run = "run '" + relu_ + "' --runs 0 ";
  ExpectFailure(run + "--device npu", 2, "'npu' names no device");
  ExpectFailure(run + "--device opencl:", 2, "names no device");
  ExpectFailure(run + "--device opencl:99", 4, "this machine has");
  ExpectFailure(Run("--runs -1"), 2, "--runs");
  ExpectFailure(Run("--outputs '" + relu_ + "'"), 3, "cannot make the folder");
  ExpectFailure(Run("--outputs '" + relu_ + "/x'"), 3,
                "cannot make the folder");
  ExpectFailure(Run(">/dev/full"), 4, "cannot be written to stdout");
}

}  // namespace
}  // namespace tim::tool
