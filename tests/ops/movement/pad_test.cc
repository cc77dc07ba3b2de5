// What eval and the kernels of Pad and PadV2 make.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "tests/support/data/pad_node.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using Dims = std::vector<int64_t>;

constexpr PadMode kModes[] = {kConstant, kEdge, kSymmetric, kReflect};

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Legal for the mode.
PadCounts RandomCounts(const Dims& shape, PadMode mode, std::mt19937& rng) {
  PadCounts counts;
  const auto count = [&](int64_t extent) -> int64_t {
    const int64_t limit = mode == kSymmetric ? std::min<int64_t>(extent, 3)
                          : mode == kReflect ? std::min<int64_t>(extent - 1, 3)
                                             : 3;
    return rng() % 2 == 0 ? 0 : static_cast<int64_t>(rng() % (limit + 1));
  };
  for (const int64_t extent : shape) {
    counts.front.push_back(count(extent));
    counts.back.push_back(count(extent));
  }
  return counts;
}

// Elements of an axis in the order of the padded one; -1: the constant.
Dims Sources(int64_t extent, int64_t front, int64_t back, PadMode mode) {
  Dims out(extent);
  std::iota(out.begin(), out.end(), 0);
  for (int64_t k = 1; k <= front; ++k) {
    const int64_t sources[] = {-1, 0, k - 1, k};
    out.insert(out.begin(), sources[mode]);
  }
  for (int64_t k = 1; k <= back; ++k) {
    const int64_t sources[] = {-1, extent - 1, extent - k, extent - 1 - k};
    out.push_back(sources[mode]);
  }
  return out;
}

// One axis after the other.
std::vector<double> Reference(const TensorData& x, const PadCounts& counts,
                              double constant, PadMode mode) {
  std::vector<double> values = RealValues(x);
  int64_t inner = 1;
  for (int axis = 0; axis < x.desc.shape.rank(); ++axis) {
    const int64_t extent = x.desc.shape[axis];
    const Dims sources =
        Sources(extent, counts.front[axis], counts.back[axis], mode);
    const int64_t outer =
        static_cast<int64_t>(values.size()) / (inner * extent);
    std::vector<double> padded;
    for (int64_t o = 0; o < outer; ++o) {
      for (const int64_t source : sources) {
        for (int64_t i = 0; i < inner; ++i) {
          padded.push_back(source < 0
                               ? constant
                               : values[(o * extent + source) * inner + i]);
        }
      }
    }
    values = std::move(padded);
    inner *= static_cast<int64_t>(sources.size());
  }
  return values;
}

template <typename T>
std::vector<T> EvalOf(const Result<TestNode>& node, const std::vector<T>& x) {
  EXPECT_OK(node);
  if (!node.ok()) return {};
  const auto y = Eval(*node, {MakeTensor<T>(node->input(0), x)});
  EXPECT_OK(y);
  return y.ok() ? Values<T>((*y)[0]) : std::vector<T>();
}

// The constant in the output's elements.
template <typename T>
T ConstantIn(const ir::TensorDesc& desc, const ir::Attribute& constant) {
  return EvalOf<T>(Pad(desc, {{1}, {0}}, constant, kConstant, desc), {T()})[0];
}

TEST(Pad, ConstantByHand) {
  const auto x = Desc(DataType::kFloat32, {3, 2});
  const auto node = Pad(x, {{1, 0}, {0, 1}}, int64_t{9}, kConstant, x);
  ASSERT_OK(node);
  EXPECT_EQ(node->output().shape, ir::Shape({4, 3}));
  EXPECT_EQ(EvalOf<float>(node, {1, 2, 3, 4, 5, 6}),
            (std::vector<float>{9, 1, 2, 3, 9, 4, 5, 6, 9, 9, 9, 9}));
}

TEST(Pad, OtherModesByHand) {
  const auto x = Desc(DataType::kInt32, {3});
  const auto padded = [&](const PadCounts& counts, PadMode mode) {
    return EvalOf<int32_t>(Pad(x, counts, int64_t{9}, mode, x), {1, 2, 3});
  };
  using Ints = std::vector<int32_t>;
  EXPECT_EQ(padded({{2}, {4}}, kEdge), (Ints{1, 1, 1, 2, 3, 3, 3, 3, 3}));
  EXPECT_EQ(padded({{3}, {2}}, kSymmetric), (Ints{3, 2, 1, 1, 2, 3, 3, 2}));
  EXPECT_EQ(padded({{1}, {2}}, kReflect), (Ints{2, 1, 2, 3, 2, 1}));
}

TEST(Pad, Defaults) {
  const auto x = Desc(DataType::kFloat32, {2});
  for (const char* op : {"tim.Pad", "tim.PadV2"}) {
    const auto inferred =
        MakeNode(op, {{"front_size", Dims{1}}, {"back_size", Dims{2}}}, {x},
                 {ir::TensorDesc()});
    EXPECT_EQ(EvalOf<float>(inferred, {1, 2}),
              (std::vector<float>{0, 1, 2, 0, 0}));
  }
}

TEST(Pad, ConstantIsQuantized) {
  const auto u8a = Desc(DataType::kUint8, {1}, 0.5f, 10);
  EXPECT_EQ(ConstantIn<uint8_t>(u8a, int64_t{3}), 16);
  EXPECT_EQ(ConstantIn<uint8_t>(u8a, 3.26), 17);
  EXPECT_EQ(ConstantIn<uint8_t>(u8a, int64_t{-1000}), 0);
  EXPECT_EQ(ConstantIn<uint8_t>(u8a, 1e30), 255);
  const auto i8d = DescFixed(DataType::kInt8, {1}, 3);
  EXPECT_EQ(ConstantIn<int8_t>(i8d, int64_t{-2}), -16);
  EXPECT_EQ(ConstantIn<int8_t>(i8d, 0.1875), 2);  // 1.5: half to even
  EXPECT_EQ(ConstantIn<int8_t>(i8d, double{-kInfinity}), -128);
}

TEST(Pad, ConstantOfOtherTypes) {
  const auto i32 = Desc(DataType::kInt32, {1});
  EXPECT_EQ(ConstantIn<int32_t>(i32, int64_t{16777217}), 16777217);
  EXPECT_EQ(ConstantIn<int32_t>(i32, 2.5), 2);
  EXPECT_EQ(ConstantIn<int32_t>(i32, double{kInfinity}),
            std::numeric_limits<int32_t>::max());
  EXPECT_EQ(ConstantIn<int32_t>(i32, double{kNaN}), 0);
  const auto u8 = Desc(DataType::kUint8, {1});
  EXPECT_EQ(ConstantIn<uint8_t>(u8, int64_t{300}), 255);
  const auto b8 = Desc(DataType::kBool8, {1});
  EXPECT_EQ(ConstantIn<uint8_t>(b8, int64_t{5}), 1);
  EXPECT_EQ(ConstantIn<uint8_t>(b8, 0.25), 1);
  const auto f16 = Desc(DataType::kFloat16, {1});
  EXPECT_EQ(ConstantIn<uint16_t>(f16, 1.5), 0x3e00);
  EXPECT_EQ(ConstantIn<uint16_t>(f16, int64_t{70000}), 0x7c00);
  const auto f32 = Desc(DataType::kFloat32, {1});
  EXPECT_EQ(ConstantIn<float>(f32, 0.1), 0.1f);
  EXPECT_TRUE(std::isnan(ConstantIn<float>(f32, double{kNaN})));
}

TEST(Pad, EvalMatchesTheReference) {
  std::mt19937 rng = SeededRng(51);
  for (const std::string from :
       {"f32", "f16", "u8a", "i16d", "u4a", "i32", "b8", "i8c", "f64"}) {
    for (const std::string to : {"f32", "f16", "u8a", "i8d", "i4a", "i32"}) {
      for (const PadMode mode : kModes) {
        const Dims shape = RandomShape(1 + rng() % 4, rng, 500);
        const PadCounts counts = RandomCounts(shape, mode, rng);
        const double constant = static_cast<double>(rng() % 401) / 100 - 2;
        const ir::Attribute integer = static_cast<int64_t>(constant);
        const bool v2 = rng() % 2 == 0;
        const auto node = Pad(DescOf(from, shape, rng), counts,
                              v2 ? ir::Attribute(constant) : integer, mode,
                              DescOf(to, {1}, rng));
        ASSERT_OK(node);
        const auto inputs = RandomInputs(*node, rng);
        const auto y = Eval(*node, inputs);
        ASSERT_OK(y);
        const double real = v2 ? constant : std::trunc(constant);
        EXPECT_OK(CheckReal((*y)[0], Reference(inputs[0], counts, real, mode),
                            {.absolute = 1e-30, .relative = 2e-7}))
            << from << " to " << to << " mode " << mode;
      }
    }
  }
}

TEST(Pad, KernelMatchesEval) {
  std::mt19937 rng = SeededRng(52);
  Sample sample(3);
  const std::pair<const char*, const char*> pairs[] = {
      {"f32", "f32"}, {"u8a", "f32"},   {"i8d", "i8a"}, {"i64", "i64"},
      {"f16", "f16"}, {"i16d", "i16d"}, {"b8", "b8"},   {"f32", "u8a"},
      {"u8a", "u8a"}, {"f16", "i16a"},  {"i32", "u8"},  {"f16", "f32"},
      {"i32", "i32"}, {"f64", "f64"}};
  int pair = 0;
  for (const auto& [from, to] : pairs) {
    // Types and modes meet in different macros of the kernel.
    const bool every_mode = pair++ < 4;
    for (const PadMode mode : kModes) {
      if (mode != kConstant && !every_mode) continue;
      for (int repeat = 0; repeat < 10; ++repeat) {
        if (!sample.Takes()) continue;
        const Dims shape = RandomShape(1 + rng() % 6, rng, 3000);
        const auto node =
            Pad(DescOf(from, shape, rng), RandomCounts(shape, mode, rng),
                static_cast<double>(rng() % 401) / 100 - 2, mode,
                DescOf(to, {1}, rng));
        ASSERT_OK(node);
        ASSERT_OK(CheckKernels(*node, rng))
            << from << " to " << to << " mode " << mode;
      }
    }
  }
}

TEST(Pad, SizesAroundAVector) {
  std::mt19937 rng = SeededRng(53);
  Sample sample(3);
  for (const int64_t width : {1, 15, 16, 17, 32, 33}) {
    for (const int64_t front : {0, 1, 15, 16, 17}) {
      for (const int64_t back : {0, 1, 16, 33}) {
        if (!sample.Takes()) continue;
        const auto x = Desc(DataType::kFloat32, {width, 3, 2});
        const auto node =
            Pad(x, {{front, 1, 0}, {back, 2, 1}}, int64_t{7}, kConstant, x);
        ASSERT_OK(node);
        ASSERT_OK(CheckKernels(*node, rng));
      }
    }
  }
}

// Rows of several tiles, tiles of several rows, and one row of all axes.
TEST(Pad, SizesAroundATile) {
  std::mt19937 rng = SeededRng(54);
  Sample sample(3);
  const std::pair<Dims, PadCounts> cases[] = {
      {{1023}, {{1}, {0}}},
      {{1024}, {{1}, {0}}},
      {{1023}, {{1}, {1}}},
      {{5000}, {{100}, {2000}}},
      {{30, 70}, {{1, 1}, {1, 1}}},
      {{1, 3000}, {{0, 1}, {2, 0}}},
      {{33, 17, 4}, {{0, 0, 2}, {0, 0, 1}}},
      {{33, 5, 17, 3}, {{0, 2, 0, 1}, {0, 0, 0, 0}}}};
  for (const auto& [shape, counts] : cases) {
    for (const PadMode mode : kModes) {
      const bool mirrors = mode == kSymmetric || mode == kReflect;
      if (mirrors && shape.size() > 1 && shape[0] == 1) continue;
      for (const DataType type : {DataType::kFloat32, DataType::kUint8}) {
        if (!sample.Takes()) continue;
        const auto x = Desc(type, shape);
        const auto node = Pad(x, counts, int64_t{3}, mode, x);
        ASSERT_OK(node);
        ASSERT_OK(CheckKernels(*node, rng));
      }
    }
  }
}

TEST(Pad, SmallTilesForGpus) {
  std::mt19937 rng = SeededRng(55);
  for (const PadMode mode : kModes) {
    const auto x = Desc(DataType::kFloat32, {33, 5, 3});
    const auto node = Pad(x, {{1, 2, 2}, {2, 0, 1}}, 0.5, mode, x);
    ASSERT_OK(node);
    const auto inputs = RandomInputs(*node, rng);
    const auto found = RunKernel(*node, "pad_v2", 0, inputs,
                                 TestDevice(ir::DeviceClass::kGpu));
    ASSERT_OK(found);
    EXPECT_OK(CompareTensors((*Eval(*node, inputs))[0], (*found)[0]));
  }
}

TEST(Pad, EightAxes) {
  std::mt19937 rng = SeededRng(56);
  for (const PadMode mode : kModes) {
    const auto x = DescOf("u8a", {2, 3, 2, 2, 3, 2, 2, 3}, rng);
    const auto node =
        Pad(x, {{1, 0, 1, 0, 1, 0, 0, 1}, Dims(8, 1)}, int64_t{1}, mode, x);
    ASSERT_OK(node);
    EXPECT_OK(CheckKernels(*node, rng));
  }
}

TEST(Pad, InfinitiesAndNaNAreCopied) {
  const auto x = Desc(DataType::kFloat32, {3});
  for (const PadMode mode : kModes) {
    const auto node = Pad(x, {{2}, {2}}, double{kNaN}, mode, x);
    ASSERT_OK(node);
    EXPECT_OK(CheckKernels(
        *node, {MakeTensor<float>(x, {-kInfinity, kNaN, kInfinity})}));
  }
}

TEST(Pad, ConstantsOutOfRangeInKernels) {
  std::mt19937 rng = SeededRng(57);
  for (const char* to : {"u8a", "i16d", "f16", "i32", "u8", "b8", "i64"}) {
    for (const double constant : {1e30, -1e30, double{kNaN}}) {
      const auto node =
          Pad(Desc(DataType::kFloat32, {20, 2}), {{17, 1}, {1, 0}}, constant,
              kConstant, DescOf(to, {1}, rng));
      ASSERT_OK(node);
      EXPECT_OK(CheckKernels(*node, rng)) << to;
    }
  }
}

TEST(Pad, BlockedLayout) {
  const auto layouts = [](int64_t channels, const PadCounts& counts,
                          double constant, PadMode mode) {
    const auto x = Desc(DataType::kFloat32, {5, 3, channels, 2});
    const auto node = Pad(x, counts, constant, mode, x);
    EXPECT_OK(node);
    std::mt19937 rng = SeededRng(58);
    EXPECT_OK(CheckKernels(*node, rng));
    return LayoutCount(*node, "pad_v2");
  };
  const PadCounts space = {{1, 2, 0, 0}, {0, 1, 0, 1}};
  EXPECT_EQ(layouts(20, space, 0, kConstant), 2);
  EXPECT_EQ(layouts(20, space, 0.5, kConstant), 1);
  EXPECT_EQ(layouts(32, space, 0.5, kConstant), 2);
  EXPECT_EQ(layouts(20, {{1, 2, 0, 0}, {0, 0, 0, 1}}, 0.5, kReflect), 2);
  EXPECT_EQ(layouts(32, {{1, 2, 1, 0}, {0, 1, 0, 1}}, 0, kConstant), 1);
}

// Code 0 of the tail lanes has to be the real value 0.
TEST(Pad, BlockedCodes) {
  std::mt19937 rng = SeededRng(63);
  const auto x = Desc(DataType::kUint8, {5, 3, 20, 2}, 0.5f, 3);
  const PadCounts space = {{1, 2, 0, 0}, {0, 1, 0, 1}};
  for (const auto& [constant, layouts] :
       {std::pair(0.0, 2), std::pair(-1.5, 1)}) {
    const auto node = Pad(x, space, constant, kConstant, x);
    ASSERT_OK(node);
    EXPECT_OK(CheckKernels(*node, rng));
    EXPECT_EQ(LayoutCount(*node, "pad_v2"), layouts) << constant;
  }
}

TEST(Pad, FourBitElementsHaveNoKernel) {
  std::mt19937 rng = SeededRng(59);
  const auto f32 = Desc(DataType::kFloat32, {4});
  const auto u4a = DescOf("u4a", {4}, rng);
  EXPECT_ERROR(Supports(*Pad(u4a, {{1}, {0}}, int64_t{0}, kEdge, u4a), "pad"),
               "4-bit elements have no kernel");
  EXPECT_ERROR(Supports(*Pad(f32, {{1}, {0}}, 0.0, kConstant, u4a), "pad_v2"),
               "converting uint4 has no kernel");
}

TEST(Pad, ChannelsKeepTheirScales) {
  std::mt19937 rng = SeededRng(60);
  const auto x = DescOf("i8c", {4, 3}, rng, 1);
  const PadCounts counts = {{2, 0}, {1, 0}};
  const auto data = RandomTensor(x, rng);
  for (const PadMode mode : kModes) {
    const auto node = Pad(x, counts, 0.7, mode, ir::TensorDesc());
    ASSERT_OK(node);
    EXPECT_EQ(node->output().quantization, x.quantization);
    EXPECT_OK(CheckReal((*Eval(*node, {data}))[0],
                        Reference(data, counts, 0.7, mode)));
    if (mode == kConstant) {
      EXPECT_ERROR(Supports(*node, "pad_v2"),
                   "a constant of per-channel quantization has no kernel");
    } else {
      EXPECT_OK(CheckKernels(*node, rng));
    }
  }
}

TEST(Pad, AddedChannelsNeedScales) {
  std::mt19937 rng = SeededRng(61);
  const auto x = DescOf("i8c", {4, 3}, rng, 1);
  const PadCounts counts = {{0, 1}, {0, 1}};
  EXPECT_ERROR(Pad(x, counts, int64_t{0}, kEdge, ir::TensorDesc()),
               "the output [4, 5] has 3 channels of quantization along axis 1");
  const auto node =
      Pad(x, counts, int64_t{1}, kEdge, DescOf("i8c", {4, 5}, rng, 1));
  ASSERT_OK(node);
  const auto data = RandomTensor(x, rng);
  EXPECT_OK(
      CheckReal((*Eval(*node, {data}))[0], Reference(data, counts, 1, kEdge)));
  EXPECT_ERROR(Supports(*node, "pad"),
               "converting per-channel quantization has no kernel");
}

}  // namespace
}  // namespace tim::testing
