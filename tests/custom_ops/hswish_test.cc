// HSwish in every type and storage against its formula.
#include "custom_ops/hswish.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::custom_ops {
namespace {

using testing::CompileFailsWith;
using testing::OpenClGraph;
using vx::DataType;
using Storage = HSwish::Storage;

const vx::ShapeType kShapes[] = {{1},       {31},       {33},
                                 {32, 3},   {1, 31},    {5, 1, 7},
                                 {3, 4, 5}, {33, 1, 2}, {3, 5, 2, 7}};

struct Scalars {
  float in_scale = 1, in_tail = 0, out_scale = 1, out_zero_point = 0;
};

size_t Count(const vx::ShapeType& shape) {
  size_t count = 1;
  for (const uint32_t extent : shape) count *= extent;
  return count;
}

template <typename T>
std::vector<T> Run(DataType type, const vx::ShapeType& shape,
                   const std::vector<T>& values, Storage storage,
                   const Scalars& s = {},
                   const std::shared_ptr<vx::Graph>& graph = OpenClGraph()) {
  const auto x = graph->CreateTensor(vx::TensorSpec(type, shape, vx::INPUT));
  const auto y = graph->CreateTensor(vx::TensorSpec(type, shape, vx::OUTPUT));
  graph
      ->CreateOperation<HSwish>(s.in_scale, s.in_tail, s.out_scale,
                                s.out_zero_point, storage)
      ->BindInput(x)
      .BindOutput(y);
  testing::Write(x, values);
  EXPECT_TRUE(graph->Run()) << vx::LastError();
  return testing::Read<T>(y);
}

// Both storages and the host, which must agree bit for bit.
template <typename T>
std::vector<T> RunBoth(DataType type, const vx::ShapeType& shape,
                       const std::vector<T>& values, const Scalars& s = {}) {
  const auto images = Run(type, shape, values, Storage::kImage, s);
  const auto buffers = Run(type, shape, values, Storage::kBuffer, s);
  EXPECT_EQ(
      std::memcmp(images.data(), buffers.data(), images.size() * sizeof(T)), 0);
  const auto host =
      Run(type, shape, values, Storage::kBuffer, s, testing::HostGraph());
  EXPECT_EQ(std::memcmp(images.data(), host.data(), images.size() * sizeof(T)),
            0);
  return images;
}

double Reference(double x) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; }

std::vector<float> RandomValues(size_t count) {
  std::mt19937 rng(20261121);
  std::uniform_real_distribution<float> uniform(-6, 6);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(rng);
  return values;
}

TEST(HSwish, HandChecked) {
  EXPECT_THAT(
      RunBoth<float>(DataType::FLOAT32, {5}, {-4, -3, 0, 3, 5}),
      ::testing::Pointwise(::testing::FloatEq(), {-0.0f, 0.0f, 0.f, 3.f, 5.f}));
}

TEST(HSwish, Float32InEveryRank) {
  for (const vx::ShapeType& shape : kShapes) {
    const auto x = RandomValues(Count(shape));
    const auto y = RunBoth(DataType::FLOAT32, shape, x);
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_NEAR(y[i], Reference(x[i]), 2e-6) << "x = " << x[i];
    }
  }
}

TEST(HSwish, Float16InEveryRank) {
  for (const vx::ShapeType& shape : kShapes) {
    std::vector<vx::Half> x;
    for (const float value : RandomValues(Count(shape))) x.emplace_back(value);
    const auto y = RunBoth(DataType::FLOAT16, shape, x);
    for (size_t i = 0; i < x.size(); ++i) {
      const double expected = Reference(static_cast<float>(x[i]));
      // Half a unit in the last place, and that of the float before it.
      EXPECT_NEAR(static_cast<float>(y[i]), expected,
                  std::abs(expected) * 0x1.01p-11 + 2e-6);
    }
  }
}

float FromBf16(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

uint16_t TruncateToBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<uint16_t>(bits >> 16);
}

TEST(HSwish, Bfloat16InEveryRank) {
  for (const vx::ShapeType& shape : kShapes) {
    std::vector<uint16_t> x;
    for (const float value : RandomValues(Count(shape))) {
      x.push_back(TruncateToBf16(value));
    }
    const auto y = RunBoth(DataType::UINT16, shape, x);
    for (size_t i = 0; i < x.size(); ++i) {
      const double expected = Reference(FromBf16(x[i]));
      EXPECT_NEAR(FromBf16(y[i]), expected,
                  std::abs(expected) * 0x1.01p-8 + 2e-6);
    }
  }
}

TEST(HSwish, Bfloat16RoundsTiesToEvenAndKeepsNan) {
  // Above 3 it is the identity: scaling by 1 + 2^-8 makes ties.
  const Scalars ties = {.out_scale = 1 + 0x1p-8f};
  const auto y =
      RunBoth<uint16_t>(DataType::UINT16, {3}, {0x4080, 0x4082, 0x7fc0}, ties);
  EXPECT_EQ(y[0], 0x4080);  // 4 * (1 + 2^-8): between 0x4080 and 0x4081
  EXPECT_EQ(y[1], 0x4083);  // above the middle
  EXPECT_TRUE(std::isnan(FromBf16(y[2])));
}

uint8_t QuantizedReference(uint8_t code, const Scalars& s) {
  const float x = code * s.in_scale + s.in_tail;
  const float y = x * std::clamp(x + 3.0f, 0.0f, 6.0f) * (1.0f / 6.0f);
  const float result = std::rint(y * s.out_scale + s.out_zero_point);
  return static_cast<uint8_t>(std::clamp(result, 0.0f, 255.0f));
}

TEST(HSwish, Uint8EqualsTheFormulaForEveryCode) {
  for (const Scalars& s : {Scalars{0.05f, -6.4f, 20.0f, 10.0f},
                           Scalars{0.1f, -12.8f, 25.0f, 128.0f},
                           Scalars{0.5f, 0.0f, 1.0f, 0.0f}, Scalars{}}) {
    std::vector<uint8_t> x(256);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i);
    const auto y = RunBoth(DataType::UINT8, {8, 4, 2, 4}, x, s);
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(int{y[i]}, int{QuantizedReference(x[i], s)}) << "code " << i;
    }
  }
}

TEST(HSwish, CloneKeepsScalarsAndStorage) {
  const auto graph = OpenClGraph();
  const auto original =
      graph->CreateOperation<HSwish>(1.0f, 0.0f, 2.0f, 1.0f, Storage::kBuffer);
  std::shared_ptr<vx::Graph> other = OpenClGraph();
  const auto x = other->CreateTensor(testing::Floats({2}, vx::INPUT));
  const auto y = other->CreateTensor(testing::Floats({2}, vx::OUTPUT));
  original->Clone(other)->BindInput(x).BindOutput(y);
  testing::Write<float>(x, {4, 10});
  ASSERT_TRUE(other->Run()) << vx::LastError();
  EXPECT_THAT(testing::Read(y),
              ::testing::Pointwise(::testing::FloatEq(), {9.0f, 21.0f}));
}

TEST(HSwish, TwoInstancesInARow) {
  const auto graph = OpenClGraph();
  const auto x = graph->CreateTensor(testing::Floats({3}, vx::INPUT));
  const auto a = graph->CreateTensor(testing::Floats({}, vx::TRANSIENT));
  const auto y = graph->CreateTensor(testing::Floats({3}, vx::OUTPUT));
  graph->CreateOperation<HSwish>()->BindInput(x).BindOutput(a);
  graph->CreateOperation<HSwish>()->BindInput(a).BindOutput(y);
  testing::Write<float>(x, {-1, 1, 2});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  const auto values = testing::Read(y);
  for (const int i : {0, 1, 2}) {
    const double input[] = {-1, 1, 2};
    EXPECT_NEAR(values[i], Reference(Reference(input[i])), 2e-6);
  }
}

TEST(HSwishErrors, AnotherType) {
  const auto graph = OpenClGraph();
  const vx::TensorSpec in(DataType::INT8, {2}, vx::INPUT);
  const vx::TensorSpec out(DataType::INT8, {2}, vx::OUTPUT);
  graph->CreateOperation<HSwish>()
      ->BindInput(graph->CreateTensor(in))
      .BindOutput(graph->CreateTensor(out));
  EXPECT_TRUE(CompileFailsWith(
      *graph, "HSwish takes FLOAT32, FLOAT16, UINT8 or UINT16 (bfloat16)"));
}

}  // namespace
}  // namespace tim::custom_ops
