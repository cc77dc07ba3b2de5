// `timcl compare --against`: arrays of a folder, and engines in Python.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/tools/onnx_files.h"
#include "tests/tools/timcl_program.h"

namespace tim::tool {
namespace {

using ::testing::HasSubstr;

class TimclAgainst : public ::testing::Test {
 protected:
  TimclAgainst()
      : folder_(FreshFolder("timcl_against")),
        chain_(WriteOnnxChain(folder_)),
        arrays_(folder_ + "/arrays") {
    std::filesystem::create_directory(arrays_);
    WriteArray(folder_ + "/x.npy", {-1, 2, -3, 4});
  }

  static void WriteArray(const std::string& path,
                         const std::vector<float>& values) {
    WriteText(path, NpyHeader(ir::DataType::kFloat32, {2, 2}) + Bytes(values));
  }
  // A call on the host.
  std::string Against(const std::string& what) const {
    return "compare '" + chain_ + "' --device host --input '" + folder_ +
           "/x.npy' --against '" + what + "'";
  }
  // A program in place of Python, which runs these lines.
  std::string Program(const std::string& lines) const {
    const std::string path = folder_ + "/python";
    WriteText(path, "#!/bin/sh\n" + lines);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return " --python '" + path + "'";
  }

  const std::string folder_;
  const std::string chain_;
  const std::string arrays_;
};

TEST_F(TimclAgainst, FindsArraysByTheNamesOfTensors) {
  WriteArray(arrays_ + "/0_y.npy", {0, -2, 0, -4});
  WriteArray(arrays_ + "/r.npy", {0, 2, 0, 4});
  const auto json = TimclJson(Against(arrays_));
  ASSERT_EQ(json["layers"].size(), 2u) << json;
  EXPECT_EQ(json["layers"][0]["tensor"], "r");
  EXPECT_EQ(json["layers"][1]["tensor"], "y");
  EXPECT_EQ(json["layers"][1]["equal"], 1);
  EXPECT_EQ(json["first_different"], nullptr);
  const CommandResult text = Timcl(Against(arrays_));
  EXPECT_EQ(text.exit_status, 0);
  EXPECT_THAT(text.output, HasSubstr("all 2 agree\n"));
}

TEST_F(TimclAgainst, NamesTheTensorThatDiffers) {
  WriteArray(arrays_ + "/y.npy", {0, -2, 0, -4.5f});
  WriteArray(arrays_ + "/q.npy", {0, 0, 0, 0});
  const CommandResult text = Timcl(Against(arrays_));
  EXPECT_EQ(text.exit_status, 1) << text.output;
  EXPECT_THAT(text.output,
              HasSubstr("the first that differs: output 0 ('y'), relative "
                        "error 1.1e-01\n"));
  EXPECT_THAT(text.output, HasSubstr("not compared: 'q'"));
  EXPECT_EQ(Timcl(Against(arrays_) + " --tolerance 0.2").exit_status, 0);
}

TEST_F(TimclAgainst, TakesTheOutputsOfABinaryGraph) {
  const std::string out = folder_ + "/chain.timcl";
  ASSERT_EQ(Timcl("compile '" + chain_ + "' --device host -o '" + out + "'")
                .exit_status,
            0);
  WriteArray(arrays_ + "/y.npy", {0, -2, 0, -4});
  const CommandResult text =
      Timcl("compare '" + out + "' --device host --input '" + folder_ +
            "/x.npy' --against '" + arrays_ + "'");
  EXPECT_EQ(text.exit_status, 0) << text.output;
  EXPECT_THAT(text.output, HasSubstr("all 1 agree\n"));

  const std::string outputs = folder_ + "/outputs";
  const auto run = TimclJson("run '" + out +
                             "' --device host --runs 0 --input 'x=" + folder_ +
                             "/x.npy' --outputs '" + outputs + "'");
  EXPECT_EQ(run["inputs"][0]["name"], "x");
  EXPECT_EQ(run["files"][0], outputs + "/0_y.npy");
  const CommandResult own =
      Timcl("compare '" + out + "' --device host --input '" + folder_ +
            "/x.npy' --against '" + outputs + "'");
  EXPECT_EQ(own.exit_status, 0) << own.output;
}

// y = x + state, and the state becomes y.
TEST_F(TimclAgainst, BeginsWithTheStatesOfTheFile) {
  const auto graph = testing::HostGraph();
  const std::vector<float> start = {3, 5, 7, 9};
  const vx::ShapeType shape = {2, 2};
  const auto x = graph->CreateTensor(
      vx::TensorSpec(vx::DataType::FLOAT32, shape, vx::INPUT));
  const auto y = graph->CreateTensor(
      vx::TensorSpec(vx::DataType::FLOAT32, shape, vx::OUTPUT));
  const auto state = graph->CreateTensor(
      vx::TensorSpec(vx::DataType::FLOAT32, shape, vx::VARIABLE), start.data());
  (*graph->CreateOperation<vx::ops::Add>())
      .BindInputs({x, state})
      .BindOutput(y);
  (*graph->CreateOperation<vx::ops::DataConvert>())
      .BindInput(y)
      .BindOutput(state);
  const std::string file = WriteGraph(*graph, folder_ + "/state.bin");
  WriteArray(arrays_ + "/t1.npy", {2, 7, 4, 13});
  const auto json = TimclJson("compare '" + file + "' --device host --input '" +
                              folder_ + "/x.npy' --against '" + arrays_ + "'");
  ASSERT_FALSE(json["layers"].empty()) << json;
  EXPECT_EQ(json["first_different"], nullptr) << json;
}

// Python is a shell script here, which says how the engine is called.
TEST_F(TimclAgainst, RunsAnEngine) {
  WriteArray(folder_ + "/y.npy", {0, -2, 0, -4});
  const std::string program = Program(
      "test -f \"$1\" && test \"$2\" = onnxruntime && test -f \"$3\" &&\n"
      "grep -q '\"name\":\"x\"' \"$4/request.json\" &&\n"
      "cmp -s '" +
      folder_ +
      "/x.npy' \"$4/0_x.npy\" &&\n"
      "cp '" +
      folder_ +
      "/y.npy' \"$4/y0.npy\" &&\n"
      "echo '{\"engine\": \"planted 1\", \"outputs\": [{\"name\": \"y\", "
      "\"file\": \"y0.npy\"}]}' >\"$4/result.json\"\n");
  const auto json = TimclJson(Against("onnxruntime") + program);
  EXPECT_EQ(json["second"]["origin"], "planted 1");
  ASSERT_EQ(json["layers"].size(), 1u) << json;
  EXPECT_EQ(json["layers"][0]["equal"], 1);
}

TEST_F(TimclAgainst, RunsOnnxRuntimeWhereItIs) {
  if (RunCommand("python3 -c 'import onnxruntime, numpy'").exit_status != 0) {
    GTEST_SKIP() << "there is no onnxruntime";
  }
  const CommandResult text = Timcl(Against("onnxruntime"));
  EXPECT_EQ(text.exit_status, 0) << text.output;
  EXPECT_THAT(text.output, HasSubstr("all 1 agree\n"));
}

TEST_F(TimclAgainst, TellsWhatOfPythonIsMissing) {
  const std::string engine = Against("onnxruntime");
  ExpectFailure(engine + " --python '" + folder_ + "/none'", 4,
                "--python names another one");
  ExpectFailure(engine + Program("exit 7\n"), 4,
                "ended with status 7 and without a result");
  // Without the folders of installed packages.
  ExpectFailure(engine + Program("exec python3 -I -S \"$@\"\n"), 4,
                "there is no package numpy; `");
}

TEST_F(TimclAgainst, RefusesWhatDoesNotFit) {
  const auto refuses = [&](const std::string& call, int status,
                           const std::string& message) {
    ExpectFailure(call, status, message);
  };
  refuses(Against(folder_ + "/none"), 3, "neither onnxruntime nor litert");
  refuses(Against(arrays_), 3, "no file in it ends in .npy");
  refuses(Against("litert"), 2, "it takes models of TFLite");
  refuses(Against(arrays_) + " --other-device host", 2,
          "--against goes without");
  WriteArray(arrays_ + "/q.npy", {0, 0, 0, 0});
  refuses(Against(arrays_), 2, "it has no output of the graph, which are 'y'");
  WriteText(arrays_ + "/y.npy", "no array");
  refuses(Against(arrays_), 2, "it is no .npy file");
  WriteText(arrays_ + "/y.npy",
            NpyHeader(ir::DataType::kFloat32, {4}) + Bytes({1, 2, 3, 4}));
  refuses(Against(arrays_), 2, "has the shape (4)");
}

}  // namespace
}  // namespace tim::tool
