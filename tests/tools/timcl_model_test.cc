// Commands of timcl on models: run, compile, import, and those that show what
// becomes of a graph.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/tools/onnx_files.h"
#include "tests/tools/tflite_files.h"
#include "tests/tools/timcl_program.h"

namespace tim::tool {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class TimclModel : public ::testing::Test {
 protected:
  TimclModel()
      : folder_(FreshFolder("timcl_model")),
        chain_(WriteOnnxChain(folder_)),
        colours_(WriteOnnxColours(folder_)) {
    WriteText(folder_ + "/x.npy", NpyHeader(ir::DataType::kFloat32, {2, 2}) +
                                      Bytes({-1, 2, -3, 4}));
    // Three red pixels and a white one.
    WriteText(folder_ + "/red.ppm",
              std::string("P6 2 2 255\n") + std::string("\xff\0\0", 3) +
                  std::string("\xff\0\0", 3) + std::string("\xff\0\0", 3) +
                  "\xff\xff\xff");
    WriteText(folder_ + "/labels.txt", "red\r\ngreen\nblue\n\n");
  }

  std::string InFolder(const std::string& name) const {
    return "'" + folder_ + "/" + name + "'";
  }
  // A call on the host, without measured runs.
  std::string Run(const std::string& file, const std::string& rest) const {
    return "run '" + file + "' --device host --runs 0 --warm-up 0 " + rest;
  }

  const std::string folder_;
  const std::string chain_;
  const std::string colours_;
};

TEST_F(TimclModel, RunsOnAnArray) {
  const auto json =
      TimclJson(Run(chain_, "--input x=" + InFolder("x.npy") +
                                " --output-dir " + InFolder("out")));
  EXPECT_EQ(json["model"], "ONNX");
  EXPECT_EQ(json["inputs"][0]["name"], "x");
  EXPECT_EQ(json["outputs"][0]["name"], "y");
  ASSERT_EQ(json["files"].size(), 1u) << json;
  EXPECT_THAT(json["files"][0].get<std::string>(), HasSubstr("/0_y.npy"));
  const std::string file = ReadText(json["files"][0]);
  const auto array = ParseNpy(file);
  ASSERT_TRUE(array.ok()) << array.status().message();
  EXPECT_EQ(array->shape, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(array->data, Bytes({-0.0f, -2, -0.0f, -4}));
  const CommandResult text = Timcl(Run(chain_, ""));
  EXPECT_THAT(text.output, AllOf(HasSubstr("', a model of ONNX\n"),
                                 Not(HasSubstr("plan "))));
}

TEST_F(TimclModel, ClassifiesAPicture) {
  const std::string picture = "--dim n=1 --top 2 --labels " +
                              InFolder("labels.txt") +
                              " --input image=" + InFolder("red.ppm");
  const auto json = TimclJson(Run(colours_, picture));
  ASSERT_EQ(json["classes"].size(), 1u) << json;
  EXPECT_EQ(json["classes"][0]["output"], "colours");
  const auto& classes = json["classes"][0]["classes"];
  ASSERT_EQ(classes.size(), 2u);
  EXPECT_EQ(classes[0]["index"], 0);
  EXPECT_EQ(classes[0]["label"], "red");
  EXPECT_EQ(classes[0]["value"], 1);
  EXPECT_EQ(classes[1]["label"], "green");
  EXPECT_EQ(classes[1]["value"], 0.25);
  EXPECT_THAT(Timcl(Run(colours_, picture + " --bgr --scale 1")).output,
              HasSubstr("greatest of 'colours'\n  2  255.0000  blue\n"));
}

TEST_F(TimclModel, RunsOneOfTfliteOnAPicture) {
  const std::string relu = TfliteFile::WriteRelu(folder_);
  const auto json =
      TimclJson(Run(relu, "--input image=" + InFolder("red.ppm") +
                              " --output-dir " + InFolder("out")));
  EXPECT_EQ(json["model"], "TFLite");
  ASSERT_EQ(json["files"].size(), 1u) << json;
  EXPECT_THAT(json["files"][0].get<std::string>(), HasSubstr("0_scores.npy"));
  const std::string red = "\xff\x80\x80";
  EXPECT_EQ(ReadText(json["files"][0]),
            NpyHeader(ir::DataType::kUint8, {1, 2, 2, 3}) + red + red + red +
                "\xff\xff\xff");
  // Another name does not hide what it is.
  std::filesystem::copy_file(relu, folder_ + "/relu.bin");
  const auto listed =
      TimclJson("import " + InFolder("relu.bin") + " --signature serve");
  EXPECT_EQ(listed["format"], "TFLite");
  EXPECT_EQ(listed["inputs"][0]["name"], "in");
  EXPECT_EQ(listed["inputs"][0]["dims"], nlohmann::json({1, 2, 2, 3}));
  EXPECT_EQ(listed["outputs"][0]["name"], "out");
  EXPECT_EQ(listed["operators"]["RELU"], 1);
  ExpectFailure(Run(relu, "--signature none"), 3, "no signature 'none'");
  ExpectFailure(Run(relu, "--external-data x"), 2, "models of TFLite have");
}

TEST_F(TimclModel, TakesShapesAndValues) {
  const auto two = TimclJson(Run(colours_, "--shape image=2,3,2,2"));
  EXPECT_EQ(two["outputs"][0]["shape"], nlohmann::json({3, 2}));
  const std::string sum = OnnxFile()
                              .Input("a", {2, 2})
                              .Input("b", {2, 2})
                              .Output("c", {2, 2})
                              .Node("Add", {"a", "b"}, "c")
                              .Write(folder_ + "/sum.onnx");
  const auto json = TimclJson(Run(sum, "--value b=" + InFolder("x.npy") +
                                           " --input a=" + InFolder("x.npy")));
  EXPECT_EQ(json["inputs"].size(), 1u);
  EXPECT_EQ(json["outputs"][0]["least"], -6);
  EXPECT_EQ(json["outputs"][0]["greatest"], 8);
}

TEST_F(TimclModel, BecomesABinaryGraph) {
  const std::string out = folder_ + "/chain.timcl";
  const auto json =
      TimclJson("compile '" + chain_ + "' --device host -o '" + out + "'");
  EXPECT_EQ(json["inputs"], nlohmann::json({"x"}));
  EXPECT_EQ(json["bytes"], std::filesystem::file_size(out));
  const auto run = TimclJson(Run(out, "--input x=" + InFolder("x.npy")));
  EXPECT_EQ(run["plan_of_file"], true) << run;
  EXPECT_EQ(run["model"], "none");
  EXPECT_EQ(run["outputs"][0]["least"], -4);
  const CommandResult same = Timcl("compare '" + chain_ + "' '" + out +
                                   "' --device host --shape x=2,2");
  EXPECT_EQ(same.exit_status, 0) << same.output;
  ExpectFailure(Run(out, "--shape x=2,2"), 2, "is no model: --shape");
  ExpectFailure("compile '" + chain_ + "' --device host", 2, "--out");
  ExpectFailure("compile '" + out + "' -o '" + out + "'", 3, "is no model");
  ExpectFailure(
      "compile '" + chain_ + "' --device host -o '" + folder_ + "/none/x'", 3,
      "cannot");
}

TEST_F(TimclModel, IsShownAsBinaryGraphsAre) {
  const std::string on_host = " '" + chain_ + "' --device host";
  EXPECT_THAT(Timcl("explain" + on_host).output, HasSubstr("2 nodes"));
  EXPECT_THAT(Timcl("memory" + on_host).output, HasSubstr("slot,kind,device"));
  const auto report = TimclJson("report" + on_host + " --runs 1");
  EXPECT_GE(report["nodes"].size(), 2u);
  const std::string out = folder_ + "/chain.timcl";
  ASSERT_EQ(Timcl("compile" + on_host + " -o '" + out + "'").exit_status, 0);
  const CommandResult same =
      Timcl("compare" + on_host + " --other-set TIMCL_WINOGRAD=0");
  EXPECT_EQ(same.exit_status, 0) << same.output;
  EXPECT_THAT(same.output, HasSubstr("all 2 layers agree"));
}

TEST_F(TimclModel, IsListed) {
  const auto json = TimclJson("import '" + colours_ + "' --dim n=4");
  EXPECT_EQ(json["format"], "ONNX");
  EXPECT_EQ(json["taken"], true);
  EXPECT_EQ(json["inputs"][0]["name"], "image");
  EXPECT_EQ(json["inputs"][0]["type"], "float32");
  EXPECT_EQ(json["inputs"][0]["dims"], nlohmann::json({4, 3, 2, 2}));
  EXPECT_EQ(json["outputs"][0]["dims"], nlohmann::json({4, 3}));
  EXPECT_EQ(json["operators"]["Flatten"], 1);
  EXPECT_EQ(json["operators"].size(), 2u);
  EXPECT_FALSE(json["operations"].empty());
  const CommandResult text = Timcl("import '" + chain_ + "'");
  EXPECT_EQ(text.exit_status, 0) << text.output;
  EXPECT_THAT(text.output,
              AllOf(HasSubstr("input   0  'x' float32 [2,2]\n"),
                    HasSubstr("operators of the file:\n  Neg   1\n")));
}

TEST_F(TimclModel, BecomesACppProgram) {
  const std::string cpp = folder_ + "/chain.cc";
  const CommandResult text =
      Timcl("import '" + chain_ + "' --emit-cpp '" + cpp + "'");
  EXPECT_EQ(text.exit_status, 0) << text.output;
  EXPECT_THAT(text.output,
              AllOf(HasSubstr("written   " + cpp),
                    HasSubstr("$(pkg-config --cflags --libs tim-cl)")));
  EXPECT_THAT(ReadText(cpp), HasSubstr("CreateOperation<ops::Relu>"));
  EXPECT_TRUE(std::filesystem::exists(cpp + ".weights"));
  EXPECT_EQ(
      Timcl("import '" + chain_ + "' --emit-cpp '" + folder_ + "/none/x.cc'")
          .exit_status,
      3);
}

TEST_F(TimclModel, IsRefusedWithAllThatIsNotTaken) {
  const std::string odd = OnnxFile()
                              .Input("x", {2, 2})
                              .Output("y", {2, 2})
                              .Node("Mystery", {"x"}, "m", "org.example")
                              .Node("Riddle", {"x"}, "r")
                              .Node("Add", {"m", "r"}, "a")
                              .Node("Enigma", {"a"}, "y")
                              .Write(folder_ + "/odd.onnx");
  const CommandResult listed = Timcl("import '" + odd + "' --json");
  EXPECT_EQ(listed.exit_status, 3) << listed.output;
  const auto json = nlohmann::json::parse(listed.output, nullptr, false);
  EXPECT_EQ(json["taken"], false);
  ASSERT_EQ(json["refusals"].size(), 3u) << listed.output;
  EXPECT_EQ(json["refusals"][0]["node"], "node_m");
  EXPECT_EQ(json["refusals"][0]["operator"], "org.example.Mystery");
  EXPECT_EQ(json["refusals"][1]["operator"], "Riddle");
  EXPECT_EQ(json["refusals"][2]["operator"], "Enigma");
  EXPECT_EQ(json["operators"]["Add"], 1);
  const CommandResult text = Timcl("import '" + odd + "'");
  EXPECT_EQ(text.exit_status, 3);
  EXPECT_THAT(text.output, HasSubstr("which is not taken"));
  for (const std::string command : {"run", "explain", "memory"}) {
    ExpectFailure(command + " '" + odd + "' --device host", 3, "Riddle");
  }
  ExpectFailure("compare '" + odd + "' --other-set TIMCL_WINOGRAD=0", 3,
                "Riddle");
  ExpectFailure("compile '" + odd + "' --device host -o x", 3, "Mystery");
}

TEST_F(TimclModel, IsRefusedWhereItIsNone) {
  WriteText(folder_ + "/text.onnx", "no model");
  WriteText(folder_ + "/empty.onnx", "");
  WriteText(folder_ + "/text.tflite", "no model");
  for (const std::string command : {"run", "import", "explain"}) {
    ExpectFailure(command + " " + InFolder("none.onnx"), 3, "none.onnx");
    ExpectFailure(command + " " + InFolder("text.onnx"), 3, "text.onnx");
    ExpectFailure(command + " " + InFolder("empty.onnx"), 3, "empty.onnx");
    ExpectFailure(command + " " + InFolder("none.tflite"), 3, "none.tflite");
    ExpectFailure(command + " " + InFolder("text.tflite"), 3, "text.tflite");
  }
  ExpectFailure("import " + InFolder("x.npy"), 3, "is no model");
}

TEST_F(TimclModel, RefusesOptionsThatDoNotFit) {
  const auto refuses = [&](const std::string& file, const std::string& rest,
                           const std::string& message, int status = 2) {
    ExpectFailure(Run(file, rest), status, message);
  };
  refuses(colours_, "", "--dim");
  refuses(colours_, "--dim m=1", "'m'");
  refuses(colours_, "--shape image=1,3,2", "3 extents");
  refuses(colours_, "--shape picture=1,3,2,2", "picture");
  refuses(chain_, "--shape x", "expected NAME=");
  refuses(chain_, "--value x=" + InFolder("none.npy"), "cannot be read", 3);
  refuses(chain_, "--signature s", "models of ONNX have none");
  refuses(chain_, "--input z=" + InFolder("x.npy"), "there is no input 'z'");
  refuses(colours_, "--dim n=1 --input " + InFolder("x.npy"),
          "its shape is (2, 2)");
  refuses(chain_, "--input " + InFolder("labels.txt"), "has ");
  refuses(colours_, "--dim n=2 --input " + InFolder("red.ppm"),
          "which is not one picture");
  refuses(colours_, "--dim n=1 --top 1 --labels " + InFolder("red.ppm"),
          "lines, output 'colours'");
  refuses(colours_, "--dim n=1 --labels " + InFolder("labels.txt"), "--top");
  refuses(chain_, "--top 1", "no output is one row of values");
  refuses(chain_, "--layout chwn", "--layout");
  refuses(chain_, "--fit pad", "--fit");
  refuses(chain_, "--mean a", "--mean");
  refuses(chain_, "--bgr --input " + InFolder("x.npy"), "no input has one");
}

}  // namespace
}  // namespace tim::tool
