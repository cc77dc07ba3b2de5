// samples/detection as users run it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stb/stb_image_write.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>

#include "samples/detection/average_precision.h"
#include "samples/detection/image.h"
#include "samples/detection/picture.h"
#include "samples/detection/shapes.h"
#include "tests/structure/source_tree.h"
#include "tests/support/long_tests.h"
#include "tests/support/trace_events.h"

namespace detection {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using tim::structure::CommandResult;
using tim::structure::FreshFolder;
using tim::structure::ReadText;
using tim::structure::RunCommand;
using tim::structure::WriteText;

const char kProgram[] = "samples/detection/detection ";
constexpr std::uint64_t kSeed = 424242;  // of no training and no evaluation

// Runs the program in which outputs go to `folder`.  `settings`: of the
// environment.
CommandResult Detect(const std::string& folder, const std::string& arguments,
                     const std::string& settings = "") {
  return RunCommand(settings + " " + kProgram + arguments + " --png '" +
                    folder + "/out.png' --json '" + folder + "/out.json'");
}

void ExpectTraced(const std::string& folder) {
  const auto events = tim::testing::ReadTrace(folder + "/trace.json");
  tim::testing::ExpectNested(events);
  for (const char* category : {"compile", "build", "run", "kernel"}) {
    EXPECT_THAT(tim::testing::SpansOf(events, category),
                testing::Not(IsEmpty()))
        << category;
  }
}

double NumberAfter(const std::string& text, const std::string& what) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what << " in " << text;
  return at == std::string::npos ? 0 : std::stod(text.substr(at + what.size()));
}

TEST(DetectionProgram, FindsHeldOutShapesInBothTypes) {
  const bool all = tim::testing::RunsLongTests();
  const CommandResult run = RunCommand(
      kProgram + std::string(all ? "--evaluate" : "--evaluate --pictures 80"));
  EXPECT_EQ(run.exit_status, 0) << run.output;
  const std::regex lines(
      "mAP@0\\.5 float32 = 0\\.[0-9]{3}\nmAP@0\\.5 uint8 = 0\\.[0-9]{3}\n");
  EXPECT_TRUE(std::regex_search(run.output, lines)) << run.output;
  EXPECT_GE(NumberAfter(run.output, "\nmAP@0.5 float32 = "), 0.9);
  EXPECT_GE(NumberAfter(run.output, "\nmAP@0.5 uint8 = "),
            NumberAfter(run.output, "\nmAP@0.5 float32 = ") - 0.02);
  EXPECT_THAT(run.output, HasSubstr(all ? "200 held-out pictures with "
                                        : "80 held-out pictures with "));
}

Box BoxOf(const nlohmann::json& box) {
  return {box.at("xmin"), box.at("ymin"), box.at("xmax"), box.at("ymax")};
}

// Holds out.json and out.png of `folder` to what was drawn.
void ExpectFound(const std::string& folder, const Image& image,
                 const std::vector<Object>& objects) {
  const auto json = nlohmann::json::parse(ReadText(folder + "/out.json"));
  EXPECT_EQ(json.at("width"), image.width);
  EXPECT_EQ(json.at("height"), image.height);
  EXPECT_EQ(json.at("score_threshold"), 0.5);
  ASSERT_EQ(json.at("detections").size(), objects.size()) << json.dump(1);
  for (const Object& object : objects) {
    const std::string& name =
        ShapeNames()[static_cast<std::size_t>(object.class_id)];
    const bool found =
        std::any_of(json.at("detections").begin(), json.at("detections").end(),
                    [&](const nlohmann::json& one) {
                      return one.at("class") == name &&
                             one.at("class_id") == object.class_id &&
                             one.at("score") >= 0.5 && one.at("score") <= 1 &&
                             Iou(BoxOf(one.at("box")), object.box) > 0.6f;
                    });
    EXPECT_TRUE(found) << name << " at " << object.box.xmin << " "
                       << object.box.ymin << " of " << json.dump(1);
  }
  Image annotated;
  std::string error;
  ASSERT_TRUE(ReadImage(folder + "/out.png", &annotated, &error)) << error;
  EXPECT_EQ(annotated.width, image.width);
  EXPECT_EQ(annotated.height, image.height);
  EXPECT_NE(annotated.rgb, image.rgb);
}

// A picture all of whose shapes the network finds.
Picture Easy() { return DrawPicture(kSeed, 2); }

TEST(DetectionProgram, FindsWhatIsInAPng) {
  for (const char* type : {"float32", "uint8"}) {
    const std::string folder = FreshFolder("detection");
    const Picture picture = Easy();
    WriteText(folder + "/in.png", EncodePng(picture.image));
    const CommandResult run =
        Detect(folder, "'" + folder + "/in.png' --type " + type,
               "TIMCL_TRACE='" + folder + "/trace.json'");
    ASSERT_EQ(run.exit_status, 0) << run.output;
    ExpectFound(folder, picture.image, picture.objects);
    ExpectTraced(folder);
    const auto json = nlohmann::json::parse(ReadText(folder + "/out.json"));
    EXPECT_EQ(json.at("network"), type);
    EXPECT_EQ(json.at("image"), folder + "/in.png");
    for (const char* convention :
         {"order ", "corners ", "unit ", "letter-box ", "background "}) {
      EXPECT_THAT(run.output, HasSubstr(convention));
    }
  }
}

// The picture in the corner of a larger one, of another shape, as JPEG: its
// boxes have moved with it.
// Detections in the easy picture on a list of devices, and the partition of the
// network as PartitionAsJson() has it.
struct FoundOn {
  CommandResult run;
  nlohmann::json detections = nlohmann::json::array();
  nlohmann::json partition = {};
};

FoundOn FindOn(const std::string& devices, const std::string& settings = "") {
  const std::string folder = FreshFolder("detection");
  WriteText(folder + "/in.png", EncodePng(Easy().image));
  FoundOn found;
  found.run = Detect(folder, "'" + folder + "/in.png'",
                     "TIMCL_DUMP='" + folder +
                         "/dump' TIMCL_DEVICE=" + devices + " " + settings);
  if (found.run.exit_status != 0) return found;
  found.detections =
      nlohmann::json::parse(ReadText(folder + "/out.json")).at("detections");
  found.partition =
      nlohmann::json::parse(ReadText(folder + "/dump/1_partition.json"));
  return found;
}

// The same shapes are at the same places, and `user` has a part of the network.
void ExpectSameAsAlone(const FoundOn& found, const std::string& user) {
  ASSERT_EQ(found.run.exit_status, 0) << found.run.output;
  static const FoundOn alone = FindOn("opencl:0");
  ASSERT_EQ(alone.run.exit_status, 0) << alone.run.output;
  ASSERT_EQ(alone.detections.size(), Easy().objects.size());
  ASSERT_EQ(found.detections.size(), alone.detections.size());
  for (std::size_t i = 0; i < alone.detections.size(); ++i) {
    const nlohmann::json& one = found.detections[i];
    const nlohmann::json& other = alone.detections[i];
    EXPECT_EQ(one.at("class"), other.at("class"));
    EXPECT_NEAR(one.at("score").get<double>(), other.at("score").get<double>(),
                1e-3);
    for (const char* side : {"xmin", "ymin", "xmax", "ymax"}) {
      EXPECT_NEAR(one.at("box").at(side).get<double>(),
                  other.at("box").at(side).get<double>(), 0.05)
          << side;
    }
  }
  const nlohmann::json& parts = found.partition.at("parts");
  EXPECT_TRUE(std::any_of(
      parts.begin(), parts.end(),
      [&](const nlohmann::json& part) { return part.at("device") == user; }))
      << found.partition.dump(1);
}

TEST(DetectionProgram, FindsTheSameBesideTheHost) {
  ExpectSameAsAlone(FindOn("host,opencl:0"), "opencl");
}

// A stage on each: whether the second one pays depends on the runtime.
TEST(DetectionProgram, FindsTheSameOnTwoSubDevices) {
  const FoundOn found = FindOn("opencl:0/2", "TIMCL_POLICY=pipeline=2");
  if (found.run.output.find("sub-devices") != std::string::npos) {
    GTEST_SKIP() << "the first OpenCL device has no two sub-devices of equal "
                    "size";
  }
  ExpectSameAsAlone(found, "opencl:0/2.1");
}

TEST(DetectionProgram, FindsTheSameBesideADeviceOfKernels) {
  ExpectSameAsAlone(FindOn("demo:0,opencl:0",
                           "TIMCL_PLUGINS=samples/plugins/libtimcl_demo.so"),
                    "opencl:0");
}

TEST(DetectionProgram, FindsTheSameBesideADeviceThatCompilesParts) {
  ExpectSameAsAlone(
      FindOn("demo_graph:0,opencl:0",
             "TIMCL_PLUGINS=samples/plugins/libtimcl_demo_graph.so "
             "TIMCL_POLICY=graph_parts=prefer"),
      "demo_graph:0");
}

TEST(DetectionProgram, BoxesMoveWithTheShapesOfAJpeg) {
  const int right = 90, down = 35;
  Picture moved = Easy();
  const Image small = moved.image;
  moved.image =
      Image(small.width + right, small.height + down + 5, {{120, 120, 120}});
  for (int y = 0; y < small.height; ++y) {
    std::copy_n(small.Pixel(0, y), 3 * small.width,
                moved.image.Pixel(right, y + down));
  }
  for (Object& object : moved.objects) {
    object.box = {object.box.xmin + right, object.box.ymin + down,
                  object.box.xmax + right, object.box.ymax + down};
  }
  const std::string folder = FreshFolder("detection");
  const std::string path = folder + "/in.jpg";
  ASSERT_TRUE(stbi_write_jpg(path.c_str(), moved.image.width,
                             moved.image.height, 3, moved.image.rgb.data(),
                             95));
  const CommandResult run = Detect(folder, "'" + path + "'");
  ASSERT_EQ(run.exit_status, 0) << run.output;
  ExpectFound(folder, moved.image, moved.objects);
}

TEST(DetectionProgram, FindsNothingWhereNothingIs) {
  const std::string folder = FreshFolder("detection");
  WriteText(folder + "/in.png", EncodePng(Image(64, 64, {{90, 90, 90}})));
  ASSERT_EQ(Detect(folder, "'" + folder + "/in.png'").exit_status, 0);
  const auto json = nlohmann::json::parse(ReadText(folder + "/out.json"));
  EXPECT_EQ(json.at("detections"), nlohmann::json::array());
}

TEST(DetectionProgram, DrawsPicturesWithTheirBoxes) {
  const std::string folder = FreshFolder("drawn") + "/new";
  const CommandResult run = RunCommand(kProgram + ("--draw '" + folder) +
                                       "' --seed 3 --count 2 --square 96");
  ASSERT_EQ(run.exit_status, 0) << run.output;
  const auto json = nlohmann::json::parse(ReadText(folder + "/boxes.json"));
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json.at(1).at("image"), "00001.png");
  ASSERT_EQ(json.at(1).at("objects").size(), DrawPicture(3, 1).objects.size());
  Image image;
  std::string error;
  ASSERT_TRUE(ReadImage(folder + "/00001.png", &image, &error)) << error;
  EXPECT_EQ(image.width, 96);
  EXPECT_EQ(image.height, 96);
}

class BadInput : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = FreshFolder("bad");
    outputs_ = folder_ + "/out";
    ASSERT_EQ(RunCommand("mkdir '" + outputs_ + "'").exit_status, 0);
    image_ = folder_ + "/in.png";
    WriteText(image_, EncodePng(Easy().image));
  }

  // An error that names `named`, and no file.
  void ExpectFails(const std::string& arguments, const std::string& named) {
    const CommandResult run = Detect(outputs_, arguments);
    EXPECT_EQ(run.exit_status, 1) << arguments << "\n" << run.output;
    EXPECT_THAT(run.output,
                AllOf(HasSubstr("FAIL detection: "), HasSubstr(named)));
    EXPECT_THAT(RunCommand("ls -A '" + outputs_ + "'").output, IsEmpty());
  }

  std::string File(const std::string& name, const std::string& content) {
    WriteText(folder_ + "/" + name, content);
    return folder_ + "/" + name;
  }

  std::string folder_;
  std::string outputs_;
  std::string image_;
};

TEST_F(BadInput, Images) {
  const std::string png = ReadText(image_);
  for (const std::string& path :
       {folder_ + "/none.png", File("text.png", "no image"),
        File("empty.jpg", ""), File("short.png", png.substr(0, 900)),
        File("pixel.png", EncodePng(Image(1, 1, {{1, 2, 3}})))}) {
    ExpectFails("'" + path + "'", path + ": ");
  }
}

TEST_F(BadInput, Models) {
  const std::string model = ReadText("samples/detection/data/ssd_f32.bin");
  const std::string path = File("ssd_f32.bin", model.substr(0, 200000));
  const std::string arguments = "'" + image_ + "' --model '" + folder_ + "'";
  ExpectFails(arguments, path + ": 199");
  std::string changed = model;
  changed[300000] ^= 4;
  File("ssd_f32.bin", changed);
  ExpectFails(arguments, path + ": its checksum");
  ExpectFails(arguments + " --type uint8", folder_ + "/ssd_u8.bin: cannot");
  const CommandResult evaluated =
      RunCommand(kProgram + ("--evaluate --model '" + folder_ + "'"));
  EXPECT_EQ(evaluated.exit_status, 1);
  EXPECT_THAT(evaluated.output, HasSubstr(path));
}

TEST_F(BadInput, Outputs) {
  const std::string none = folder_ + "/none/out";
  for (const char* other : {"png", "json"}) {
    const std::string good = outputs_ + "/good";
    const CommandResult run =
        RunCommand(kProgram + ("'" + image_ + "' --png '") +
                   (other == std::string("png") ? none : good) + "' --json '" +
                   (other == std::string("png") ? good : none) + "'");
    EXPECT_EQ(run.exit_status, 1) << run.output;
    EXPECT_THAT(run.output, HasSubstr("FAIL detection: " + none + ": "));
    EXPECT_THAT(RunCommand("ls -A '" + outputs_ + "'").output, IsEmpty());
  }
  const CommandResult drawn =
      RunCommand(kProgram + ("--draw '" + image_ + "/folder'"));
  EXPECT_EQ(drawn.exit_status, 1);
  EXPECT_THAT(drawn.output, HasSubstr(image_ + "/folder: cannot be made"));
}

TEST_F(BadInput, Arguments) {
  for (const std::string& arguments :
       {std::string(), "'" + image_ + "' --evaluate",
        "'" + image_ + "' --type int8", "'" + image_ + "' --threshold 2",
        "'" + image_ + "' --most 0", "'" + image_ + "' --iou 0",
        "'" + image_ + "' --iou nan", std::string("--evaluate --pictures 0"),
        std::string("--no-such-option")}) {
    const CommandResult run = Detect(outputs_, arguments);
    EXPECT_NE(run.exit_status, 0) << arguments;
    EXPECT_NE(run.output, "") << arguments;
    EXPECT_THAT(RunCommand("ls -A '" + outputs_ + "'").output, IsEmpty());
  }
}

}  // namespace
}  // namespace detection
