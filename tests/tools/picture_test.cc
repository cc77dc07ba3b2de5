// Pictures as inputs: where pixels go, what they become, and what is refused.
#include "tools/timcl/picture.h"

#include <gmock/gmock.h>

#include <cstring>

#include "tests/structure/source_tree.h"
#include "tests/support/status_macros.h"

namespace tim::tool {
namespace {

using structure::FreshFolder;
using structure::WriteText;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

binary::Port PortOf(ir::DataType type, const std::vector<int64_t>& shape,
                    const ir::Quantization& quantization = {}) {
  binary::Port port;
  port.name = "x";
  port.desc.type = type;
  port.desc.shape = ir::Shape(shape);
  port.desc.quantization = quantization;
  return port;
}

class Picture : public ::testing::Test {
 protected:
  Picture() : folder_(FreshFolder("picture")) {
    // Red to blue, and white, in two rows.
    WriteText(Path("four.ppm"),
              std::string("P6 2 2 255\n") + std::string("\xff\0\0", 3) +
                  std::string("\0\xff\0", 3) + std::string("\0\0\xff", 3) +
                  "\xff\xff\xff");
    WriteText(Path("grey.pgm"), std::string("P5 4 2 255\n") +
                                    std::string("\x0a\x14\x1e\x28", 4) +
                                    std::string("\x32\x3c\x46\x50", 4));
  }

  std::string Path(const std::string& name) const {
    return folder_ + "/" + name;
  }
  std::vector<float> Floats(const std::string& name,
                            const std::vector<int64_t>& shape,
                            const PictureArguments& arguments = {}) const {
    const binary::Port port = PortOf(ir::DataType::kFloat32, shape);
    std::vector<float> values(
        static_cast<size_t>(*port.desc.shape.NumElements()));
    EXPECT_OK(StorePicture(port, Path(name), arguments,
                           reinterpret_cast<std::byte*>(values.data())));
    return values;
  }
  std::string Refusal(const std::string& name,
                      const std::vector<int64_t>& shape,
                      const PictureArguments& arguments = {}) const {
    std::vector<std::byte> memory(4096);
    const Status status = StorePicture(PortOf(ir::DataType::kFloat32, shape),
                                       Path(name), arguments, memory.data());
    EXPECT_FALSE(status.ok());
    return status.message();
  }

  const std::string folder_;
};

TEST_F(Picture, HasChannelsWhereTheExtentsAreThree) {
  // [W, H, C, N] and [C, W, H, N].
  EXPECT_THAT(Floats("four.ppm", {2, 2, 3, 1}),
              ElementsAre(1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1));
  EXPECT_THAT(Floats("four.ppm", {3, 2, 2, 1}),
              ElementsAre(1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1));
  PictureArguments bgr;
  bgr.bgr = true;
  EXPECT_THAT(Floats("four.ppm", {3, 2, 2}, bgr),
              ElementsAre(0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1, 1));
}

TEST_F(Picture, HasMeanAndScalePerChannel) {
  PictureArguments arguments;
  arguments.mean = {255, 0, 100};
  EXPECT_THAT(
      Floats("four.ppm", {3, 2, 2, 1}, arguments),
      ElementsAre(0, 0, -100, -255, 255, -100, -255, 0, 155, 0, 255, 155));
  arguments.mean = {};
  arguments.scale = {2};
  EXPECT_THAT(Floats("grey.pgm", {4, 2, 1, 1}, arguments),
              ElementsAre(20, 40, 60, 80, 100, 120, 140, 160));
}

TEST_F(Picture, IsAveragedWhereItShrinks) {
  PictureArguments arguments;
  arguments.scale = {1};
  // Weights 3, 3, 1 of a triangle that reaches over the edge.
  const std::vector<float> half = Floats("grey.pgm", {2, 2}, arguments);
  EXPECT_NEAR(half[0], (3 * 10 + 3 * 20 + 30) / 7.0, 1e-4);
  EXPECT_NEAR(half[3], (60 + 3 * 70 + 3 * 80) / 7.0, 1e-4);
  const std::vector<float> twice = Floats("grey.pgm", {8, 2}, arguments);
  EXPECT_NEAR(twice[0], 10, 1e-4);
  EXPECT_NEAR(twice[1], 12.5, 1e-4);
  EXPECT_NEAR(twice[2], 17.5, 1e-4);
  arguments.fit = Fit::kCrop;
  EXPECT_THAT(Floats("grey.pgm", {2, 2}, arguments),
              ElementsAre(20, 30, 60, 70));
}

TEST_F(Picture, IsCodesOfEightBits) {
  std::vector<int8_t> codes(8);
  PictureArguments arguments;
  const auto port = PortOf(ir::DataType::kInt8, {4, 2, 1, 1},
                           ir::Quantization::PerTensor(0.5f, 3));
  ASSERT_OK(StorePicture(port, Path("grey.pgm"), arguments,
                         reinterpret_cast<std::byte*>(codes.data())));
  EXPECT_THAT(codes, ElementsAre(-118, -108, -98, -88, -78, -68, -58, -48));
  arguments.mean = {10};
  ASSERT_OK(StorePicture(port, Path("grey.pgm"), arguments,
                         reinterpret_cast<std::byte*>(codes.data())));
  EXPECT_THAT(codes, ElementsAre(3, 23, 43, 63, 83, 103, 123, 127));
}

TEST_F(Picture, IsRefusedWhereItDoesNotFit) {
  WriteText(Path("text.png"), "no picture");
  const std::string grey = structure::ReadText(Path("grey.pgm"));
  WriteText(Path("cut.pgm"), grey.substr(0, grey.size() - 1));
  WriteText(Path("cut.ppm"), "P6 2 2 # comment\n255\n\xff");
  WriteText(Path("whole.ppm"),
            "P6 #\n# 9\n1 1 255\n" + std::string("\xff\0\xff", 3));
  // One pixel of 24 bits: 58 bytes.
  std::string bmp = "BM" + std::string("\x3a\0\0\0\0\0\0\0\x36\0\0\0", 12) +
                    std::string("\x28\0\0\0\1\0\0\0\1\0\0\0\1\0\x18\0", 16) +
                    std::string(24, 0) + std::string("\xff\0\0\0", 4);
  WriteText(Path("blue.bmp"), bmp);
  bmp.pop_back();
  WriteText(Path("cut.bmp"), bmp);
  bmp[2] = 0;
  WriteText(Path("silent.bmp"), bmp);
  WriteText(Path("huge.ppm"), "P6 20000 20000 255\n\xff");
  WriteText(Path("empty.jpg"), "");
  WriteText(Path("text.pgm"), "P2 1 1 255\n7\n");
  const std::vector<int64_t> shape = {2, 2, 3, 1};
  EXPECT_THAT(Refusal("none.png", shape), HasSubstr("cannot be read"));
  EXPECT_THAT(Refusal("text.png", shape), HasSubstr("it is no picture"));
  EXPECT_THAT(Refusal("empty.jpg", shape), HasSubstr("it is no picture"));
  EXPECT_THAT(Refusal("text.pgm", shape), HasSubstr("only P5 and P6"));
  for (const char* cut : {"cut.pgm", "cut.bmp", "silent.bmp"}) {
    EXPECT_THAT(Refusal(cut, shape), HasSubstr("it ends too early")) << cut;
  }
  PictureArguments last;
  last.layout = "nhwc";
  EXPECT_THAT(Floats("blue.bmp", {3, 1, 1}, last), ElementsAre(0, 0, 1));
  EXPECT_THAT(Floats("whole.ppm", {3, 1, 1}, last), ElementsAre(1, 0, 1));
  EXPECT_THAT(Refusal("cut.ppm", shape), HasSubstr("it ends too early"));
  EXPECT_THAT(Refusal("huge.ppm", shape), HasSubstr("pixels are more than"));
  EXPECT_THAT(Refusal("four.ppm", {2, 2, 3, 2}),
              HasSubstr("which is not one picture"));
  EXPECT_THAT(Refusal("four.ppm", {3, 2, 3, 1}), HasSubstr("--layout nchw or"));
  EXPECT_THAT(Refusal("four.ppm", {2, 2, 2, 1}), HasSubstr("--layout nchw or"));
  PictureArguments arguments;
  arguments.layout = "nhwc";
  EXPECT_THAT(Refusal("four.ppm", shape, arguments),
              HasSubstr("do not have 1 or 3 channels there"));
  arguments = {};
  arguments.mean = {1, 2};
  EXPECT_THAT(Refusal("four.ppm", shape, arguments),
              HasSubstr("--mean has 2 numbers; expected 1 or 3"));
}

TEST(PictureName, EndsAsThoseOfPictures) {
  EXPECT_TRUE(IsPictureName("a/b.png"));
  EXPECT_TRUE(IsPictureName("b.JPeG"));
  EXPECT_FALSE(IsPictureName("png"));
  EXPECT_FALSE(IsPictureName("b.png.npy"));
}

}  // namespace
}  // namespace tim::tool
