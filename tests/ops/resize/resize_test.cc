#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>

#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::AttributeMap;
using ir::DataType;
using ir::TensorDesc;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kNearest = 0;
constexpr int64_t kBilinear = 1;

TensorDesc Inferred(TensorDesc desc) {
  desc.shape = ir::Shape();
  return desc;
}

// Eval's result.
std::vector<float> ResizedFloats(const std::string& op,
                                 const AttributeMap& attributes,
                                 const TensorDesc& desc,
                                 const std::vector<float>& x) {
  const auto node = MakeNode(op, attributes, {desc}, {Inferred(desc)});
  EXPECT_OK(node);
  if (!node.ok()) return {};
  const auto outputs = Eval(*node, {MakeTensor(desc, x)});
  EXPECT_OK(outputs);
  return outputs.ok() ? Values<float>((*outputs)[0]) : std::vector<float>();
}

std::vector<float> ResizedRow(const AttributeMap& attributes,
                              const std::vector<float>& x) {
  const auto width = static_cast<int64_t>(x.size());
  return ResizedFloats("tim.Resize1d", attributes,
                       Desc(DataType::kFloat32, {width, 1, 1}), x);
}

TEST(Resize, HandCheckedRows) {
  const std::vector<float> x = {1, 2, 4, 8};
  const auto nearest = [&](bool align, bool half, int64_t size) {
    return ResizedRow({{"type", kNearest},
                       {"align_corners", align},
                       {"half_pixel_centers", half},
                       {"target_size", size}},
                      x);
  };
  const auto linear = [&](bool align, bool half, int64_t size) {
    return ResizedRow({{"type", kBilinear},
                       {"align_corners", align},
                       {"half_pixel_centers", half},
                       {"target_size", size}},
                      x);
  };
  EXPECT_THAT(nearest(false, false, 2), ElementsAre(1, 4));
  EXPECT_THAT(nearest(false, true, 2), ElementsAre(2, 8));
  EXPECT_THAT(nearest(true, false, 3), ElementsAre(1, 4, 8));
  EXPECT_THAT(nearest(true, true, 3), ElementsAre(2, 4, 8));
  EXPECT_THAT(linear(false, false, 8), ElementsAre(1, 1.5f, 2, 3, 4, 6, 8, 8));
  EXPECT_THAT(linear(false, true, 8),
              ElementsAre(1, 1.25f, 1.75f, 2.5f, 3.5f, 5, 7, 8));
  EXPECT_THAT(linear(true, false, 7), ElementsAre(1, 1.5f, 2, 3, 4, 6, 8));
  EXPECT_THAT(linear(true, false, 1), ElementsAre(1));
}

TEST(Resize, HandCheckedImage) {
  // 1 2
  // 3 5
  const TensorDesc desc = Desc(DataType::kFloat32, {2, 2, 1, 1});
  EXPECT_THAT(ResizedFloats("tim.Resize",
                            {{"type", kBilinear},
                             {"align_corners", true},
                             {"target_width", int64_t{3}},
                             {"target_height", int64_t{3}}},
                            desc, {1, 2, 3, 5}),
              ElementsAre(1, 1.5f, 2, 2, 2.75f, 3.5f, 3, 4, 5));
  EXPECT_THAT(ResizedFloats("tim.Resize",
                            {{"type", kNearest},
                             {"target_width", int64_t{1}},
                             {"target_height", int64_t{4}}},
                            desc, {1, 2, 3, 5}),
              ElementsAre(1, 1, 3, 3));
}

// 0 * infinity would be NaN.
TEST(Resize, NeighbourOfWeightZeroDoesNotCount) {
  const float infinity = std::numeric_limits<float>::infinity();
  const AttributeMap attributes = {{"type", kBilinear},
                                   {"align_corners", true},
                                   {"target_size", int64_t{5}}};
  EXPECT_THAT(ResizedRow(attributes, {infinity, 2, 4}),
              ElementsAre(infinity, infinity, 2, 3, 4));
}

ir::Shape ShapeOf(const std::string& op, const AttributeMap& attributes,
                  const std::vector<int64_t>& input) {
  const TensorDesc desc = Desc(DataType::kFloat32, input);
  const auto node = MakeNode(op, attributes, {desc}, {Inferred(desc)});
  EXPECT_OK(node);
  return node.ok() ? node->output().shape : ir::Shape();
}

TEST(Resize, FactorMakesExtentsInFloat32AndTargetsAreIgnored) {
  const AttributeMap attributes = {{"type", kNearest},
                                   {"factor", double{1.8f}},
                                   {"target_width", int64_t{3}},
                                   {"target_height", int64_t{3}}};
  // double(1.8f) * 5 is below 9.
  EXPECT_EQ(ShapeOf("tim.Resize", attributes, {5, 4, 2, 1}),
            ir::Shape({9, 7, 2, 1}));
  EXPECT_EQ(
      ShapeOf("tim.Resize1d", {{"type", kNearest}, {"factor", 0.6}}, {4, 2, 1}),
      ir::Shape({2, 2, 1}));
}

TEST(Resize, TargetsAreWidthAndHeight) {
  const AttributeMap attributes = {{"type", kNearest},
                                   {"target_width", int64_t{3}},
                                   {"target_height", int64_t{7}}};
  EXPECT_EQ(ShapeOf("tim.Resize", attributes, {5, 4, 2, 1}),
            ir::Shape({3, 7, 2, 1}));
  EXPECT_EQ(ShapeOf("tim.Resize", attributes, {5, 4}), ir::Shape({3, 7}));
}

TEST(Resize, DeclaredExtentsRule) {
  const TensorDesc desc = Desc(DataType::kFloat32, {2, 3, 1, 1});
  const TensorDesc declared = Desc(DataType::kFloat32, {3, 2, 1, 1});
  // Of the same number of elements, and without a size at all.
  for (const double factor : {1.0, 0.0}) {
    const auto node =
        MakeNode("tim.Resize", {{"type", kNearest}, {"factor", factor}}, {desc},
                 {declared});
    ASSERT_OK(node);
    EXPECT_EQ(node->output().shape, declared.shape);
    const auto outputs =
        Eval(*node, {MakeTensor<float>(desc, {1, 2, 3, 4, 5, 6})});
    ASSERT_OK(outputs);
    EXPECT_THAT(Values<float>((*outputs)[0]), ElementsAre(1, 1, 2, 3, 3, 4));
  }
}

TEST(Resize, KernelTakesDenseAndBlockedImagesOfEveryType) {
  std::mt19937 rng(7);
  for (const char* type : {"f32", "f16", "u8a", "i8a", "i16d"}) {
    const TensorDesc desc = DescOf(type, {5, 4, 17, 2}, rng);
    for (const int64_t kind : {kNearest, kBilinear}) {
      const auto node =
          MakeNode("tim.Resize", {{"type", kind}, {"factor", 1.7}}, {desc},
                   {Inferred(desc)});
      ASSERT_OK(node);
      EXPECT_EQ(LayoutCount(*node, "resize"), 2) << type;
      EXPECT_OK(CheckKernels(*node, rng)) << type << " " << kind;
    }
  }
}

// Up and down, less and more than by two; rows shorter than a vector, and of
// several that end with them.
TEST(Resize, KernelsEqualEvalForRowsOfEveryLength) {
  std::mt19937 rng(8);
  Sample sample(7);
  for (const char* type : {"f32", "u8", "i16d", "i32", "i64", "f16"}) {
    for (const int64_t kind : {kNearest, kBilinear}) {
      if (kind == kBilinear && std::string(type) == "i64") continue;
      for (const int64_t width : {1, 15, 16, 40, 100}) {
        for (const int64_t target : {3, 16, 33, 90, 150}) {
          if (!sample.Takes()) continue;
          const TensorDesc desc = DescOf(type, {width, 3, 2}, rng);
          const auto node = MakeNode("tim.Resize",
                                     {{"type", kind},
                                      {"half_pixel_centers", target % 2 == 0},
                                      {"target_width", target},
                                      {"target_height", int64_t{4}}},
                                     {desc}, {Inferred(desc)});
          ASSERT_OK(node);
          EXPECT_OK(CheckKernels(*node, rng))
              << type << " " << kind << ": " << width << " to " << target;
        }
      }
    }
  }
}

// A work-item makes several rows of many planes, of which some are alike.
TEST(Resize, KernelsEqualEvalForManyPlanes) {
  std::mt19937 rng(9);
  const TensorDesc from = Desc(DataType::kUint8, {9, 5, 150, 2}, 0.3f, 7);
  for (const TensorDesc& to : {from, Desc(DataType::kUint8, {1}, 0.2f, 9)}) {
    for (const int64_t kind : {kNearest, kBilinear}) {
      const auto node =
          MakeNode("tim.Resize", {{"type", kind}, {"factor", 2.5}}, {from},
                   {Inferred(to)});
      ASSERT_OK(node);
      EXPECT_OK(CheckKernels(*node, rng)) << kind << " " << to.ToString();
    }
  }
}

TEST(Resize, AreaIsRefused) {
  const TensorDesc desc = Desc(DataType::kFloat32, {4, 4, 1, 1});
  const auto node =
      MakeNode("tim.Resize", {{"type", int64_t{2}}, {"factor", 2.0}}, {desc},
               {Inferred(desc)});
  ASSERT_FALSE(node.ok());
  EXPECT_THAT(node.status().message(), HasSubstr("is area, expected nearest"));
}

}  // namespace
}  // namespace tim::testing
