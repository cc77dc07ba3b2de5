// Files of samples/detection: what is damaged is an error that names the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stb/stb_image_write.h>

#include <cstdio>

#include "samples/detection/image.h"
#include "samples/detection/model_file.h"
#include "samples/detection/output_files.h"
#include "samples/detection/picture.h"
#include "samples/detection/ssd.h"
#include "tests/structure/source_tree.h"
#include "tim/vx/context.h"

namespace detection {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using tim::structure::FreshFolder;
using tim::structure::ReadText;
using tim::structure::RunCommand;
using tim::structure::WriteText;

std::string Jpeg(const Image& image) {
  std::string jpeg;
  stbi_write_jpg_to_func(
      [](void* context, void* data, int size) {
        static_cast<std::string*>(context)->append(
            static_cast<const char*>(data), static_cast<std::size_t>(size));
      },
      &jpeg, image.width, image.height, 3, image.rgb.data(), 90);
  return jpeg;
}

// The error of reading an image of this content; empty where it is read.
std::string ErrorOfImage(const std::string& content) {
  const std::string path = FreshFolder("image") + "/image";
  WriteText(path, content);
  Image image;
  std::string error;
  if (ReadImage(path, &image, &error)) return "";
  EXPECT_THAT(error, StartsWith(path + ": "));
  return error;
}

TEST(ReadImage, GivesWhatAPngHolds) {
  const Image drawn = DrawPicture(1, 0).image;
  const std::string path = FreshFolder("image") + "/picture.png";
  WriteText(path, EncodePng(drawn));
  Image read;
  std::string error;
  ASSERT_TRUE(ReadImage(path, &read, &error)) << error;
  EXPECT_EQ(read.width, drawn.width);
  EXPECT_EQ(read.height, drawn.height);
  EXPECT_EQ(read.rgb, drawn.rgb);
}

TEST(ReadImage, GivesAboutWhatAJpegHolds) {
  const Image flat(33, 21, {{200, 120, 40}});
  const std::string path = FreshFolder("image") + "/picture.jpg";
  WriteText(path, Jpeg(flat));
  Image read;
  std::string error;
  ASSERT_TRUE(ReadImage(path, &read, &error)) << error;
  ASSERT_EQ(read.rgb.size(), flat.rgb.size());
  for (std::size_t i = 0; i < flat.rgb.size(); ++i) {
    EXPECT_NEAR(read.rgb[i], flat.rgb[i], 4) << i;
  }
}

TEST(ReadImage, RefusesEveryShorterFile) {
  const Image picture = DrawPicture(1, 1).image;
  for (const std::string& whole : {EncodePng(picture), Jpeg(picture)}) {
    ASSERT_EQ(ErrorOfImage(whole), "");
    for (std::size_t part = 0; part < 40; ++part) {
      EXPECT_NE(ErrorOfImage(whole.substr(0, whole.size() * part / 40)), "")
          << part << " of 40";
    }
    for (std::size_t missing = 1; missing < 12; ++missing) {
      EXPECT_NE(ErrorOfImage(whole.substr(0, whole.size() - missing)), "")
          << missing;
    }
  }
}

TEST(ReadImage, RefusesWhatIsNoImage) {
  EXPECT_THAT(ErrorOfImage(""), HasSubstr("neither a PNG nor a JPEG"));
  EXPECT_THAT(ErrorOfImage("no image\n"), HasSubstr("neither a PNG"));
  EXPECT_THAT(ErrorOfImage("BM" + std::string(500, '\1')),
              HasSubstr("neither a PNG"));
  EXPECT_THAT(ErrorOfImage("\xFF\xD8\xFF" + std::string(300, '\7')),
              HasSubstr("damaged"));
}

TEST(ReadImage, RefusesImagesTooSmallOrTooLarge) {
  EXPECT_THAT(ErrorOfImage(EncodePng(Image(1, 1, {{1, 2, 3}}))),
              HasSubstr("is 1 x 1 pixels: at least 8 each way are needed"));
  EXPECT_THAT(ErrorOfImage(Jpeg(Image(7, 300, {{1, 2, 3}}))),
              HasSubstr("is 7 x 300 pixels"));
  EXPECT_EQ(ErrorOfImage(EncodePng(Image(8, 8, {{1, 2, 3}}))), "");
  // A header that promises 16384 x 16384 pixels.
  std::string png = EncodePng(Image(8, 8, {{1, 2, 3}}));
  for (const std::size_t at : {std::size_t{18}, std::size_t{22}}) {
    png[at] = '\x40';
    png[at + 1] = '\0';
  }
  EXPECT_THAT(ErrorOfImage(png), HasSubstr("is 16384 x 16384 pixels: more"));
  png[17] = png[21] = '\x40';
  EXPECT_THAT(ErrorOfImage(png), HasSubstr("is too large"));
}

TEST(ReadImage, NamesAFileThatIsNotThere) {
  Image image;
  std::string error;
  EXPECT_FALSE(ReadImage("no/such/file.png", &image, &error));
  EXPECT_EQ(error, "no/such/file.png: cannot be opened");
}

std::uint32_t Crc32(const std::string& content) {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const char byte : content) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      crc = crc % 2 != 0 ? crc / 2 ^ 0xEDB88320u : crc / 2;
    }
  }
  return ~crc;
}

// A file with the right length and checksum.
std::string Sealed(const std::string& content) {
  char first[64];
  std::snprintf(first, sizeof(first), "timcl-detector 1 %zu %08x\n",
                content.size(), Crc32(content));
  return first + content;
}

std::string ErrorOfModel(const std::string& content) {
  const std::string path = FreshFolder("model") + "/model.bin";
  WriteText(path, content);
  Model model;
  std::string error;
  if (ReadModel(path, &model, &error)) return "";
  EXPECT_THAT(error, StartsWith(path + ": "));
  return error;
}

const char* const kModels[] = {"samples/detection/data/ssd_f32.bin",
                               "samples/detection/data/ssd_u8.bin"};

TEST(ReadModel, FilesAreBelowAMegabyte) {
  const std::size_t bytes =
      ReadText(kModels[0]).size() + ReadText(kModels[1]).size();
  EXPECT_GT(bytes, 100000u);
  EXPECT_LT(bytes, 1000000u);
}

TEST(ReadModel, RefusesEveryShorterOrLongerFile) {
  for (const char* path : kModels) {
    const std::string whole = ReadText(path);
    ASSERT_EQ(ErrorOfModel(whole), "");
    for (std::size_t part = 0; part < 20; ++part) {
      const std::size_t size = whole.size() * part / 20;
      EXPECT_THAT(ErrorOfModel(whole.substr(0, size)),
                  HasSubstr(part == 0 ? "is not a 'timcl-detector 1' file"
                                      : "it was cut off"));
    }
    for (const std::size_t size : {std::size_t{10}, whole.size() - 1}) {
      EXPECT_NE(ErrorOfModel(whole.substr(0, size)), "") << size;
    }
    EXPECT_THAT(ErrorOfModel(whole + "x"), HasSubstr("bytes follow"));
  }
}

TEST(ReadModel, RefusesAChangedByte) {
  std::string content = ReadText(kModels[1]);
  content[content.size() - 1000] ^= 1;
  EXPECT_THAT(ErrorOfModel(content), HasSubstr("checksum"));
  content = ReadText(kModels[1]);
  content[0] = 'T';
  EXPECT_THAT(ErrorOfModel(content), HasSubstr("it is not a"));
}

TEST(ReadModel, RefusesLinesWithoutSense) {
  ASSERT_EQ(ErrorOfModel(Sealed("input 96\ndata\n")), "");
  ASSERT_EQ(ErrorOfModel(Sealed("tensor x u8 1 0 2\ndata\nab")), "");
  for (const char* line :
       {"input", "input 5000", "input -1", "input 96 96", "scales 1 2 3",
        "scales 1 2 3 4 5", "class", "class a b", "layer conv1",
        "tensor x u8 1 0", "tensor x u7 1 0 2", "tensor x u8 1 0 3",
        "tensor x u8 1 0 0", "tensor x u8 1 0 2 a", "activation x u8 1",
        "activation x u8 1 0 2", "tensor x u8 1 0 4294967295 4294967295 4",
        "tensor x f32 1 0 1073741824 4294967295"}) {
    EXPECT_THAT(ErrorOfModel(Sealed(std::string(line) + "\ndata\nab")),
                AllOf(HasSubstr("bad line"), HasSubstr(line)));
  }
  EXPECT_THAT(ErrorOfModel(Sealed("tensor x u8 1 0 1\ndata\nab")),
              HasSubstr("1 bytes belong to no tensor"));
  EXPECT_THAT(ErrorOfModel(Sealed("input 96\n")), HasSubstr("no end"));
}

// What BuildSsd() says of a model that `change` has changed.
template <typename Change>
std::string ErrorOfSsd(const Change& change) {
  Model model;
  Ssd net;
  std::string error;
  EXPECT_TRUE(ReadModel(kModels[1], &model, &error)) << error;
  change(&model);
  const auto context = tim::vx::Context::Create();
  return BuildSsd(context.get(), model, Selection(), &net, &error) ? "" : error;
}

TEST(BuildSsd, NamesWhatTheModelLacks) {
  EXPECT_EQ(ErrorOfSsd([](Model*) {}), "");
  EXPECT_THAT(ErrorOfSsd([](Model* m) { m->extent = 0; }),
              HasSubstr("'input'"));
  EXPECT_THAT(ErrorOfSsd([](Model* m) { m->extent = 104; }),
              HasSubstr("'anchors' of the extents 4 "));
  EXPECT_THAT(ErrorOfSsd([](Model* m) { m->classes.push_back("moon"); }),
              HasSubstr("'class1'"));
  for (const char* name : {"input", "score", "box", "conv3", "conv3.weight",
                           "conv3.bias", "class2.weight", "anchors"}) {
    EXPECT_THAT(ErrorOfSsd([name](Model* m) { m->tensors.erase(name); }),
                HasSubstr(std::string("'") + name + "'"));
  }
  EXPECT_THAT(ErrorOfSsd([](Model* m) { --m->tensors["anchors"].shape[1]; }),
              HasSubstr("'anchors' of the extents 4 540"));
  EXPECT_THAT(
      ErrorOfSsd([](Model* m) { ++m->tensors["conv4.weight"].shape[2]; }),
      HasSubstr("'conv4.weight'"));
  EXPECT_THAT(ErrorOfSsd([](Model* m) {
                m->tensors["conv5.bias"].type = tim::vx::DataType::FLOAT32;
              }),
              HasSubstr("'conv5.bias'"));
}

TEST(WriteFiles, WritesAll) {
  const std::string folder = FreshFolder("output");
  std::string error;
  ASSERT_TRUE(
      WriteFiles({{folder + "/a", "one"}, {folder + "/b", "two"}}, &error))
      << error;
  EXPECT_EQ(ReadText(folder + "/a"), "one");
  EXPECT_EQ(ReadText(folder + "/b"), "two");
  EXPECT_EQ(RunCommand("ls '" + folder + "'").output, "a\nb\n");
}

TEST(WriteFiles, WritesNothingWhereOneCannotBeWritten) {
  const std::string folder = FreshFolder("output");
  const std::string no_folder = folder + "/none/b";
  std::string error;
  EXPECT_FALSE(WriteFiles({{folder + "/a", "one"}, {no_folder, "2"}}, &error));
  EXPECT_THAT(error, StartsWith(no_folder + ": cannot be written: No such"));
  EXPECT_FALSE(WriteFiles({{folder + "/a", "one"}, {folder, "2"}}, &error));
  EXPECT_THAT(error, StartsWith(folder + ": cannot be written: it is no"));
  EXPECT_FALSE(WriteFiles({{"/dev/full", "one"}}, &error));
  EXPECT_THAT(error, StartsWith("/dev/full: "));
  EXPECT_FALSE(WriteFiles({{folder + "/a", ""}}, &error));
  EXPECT_THAT(error, HasSubstr("it would be empty"));
  EXPECT_THAT(RunCommand("ls '" + folder + "'").output, IsEmpty());
}

}  // namespace
}  // namespace detection
