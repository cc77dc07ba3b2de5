// Random windows of every type: eval against a reference in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "ir/op_schema.h"
#include "tests/support/data/pool2d_reference.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::AttributeMap;
using ir::DataType;
using ir::TensorDesc;
using Ints = std::vector<int64_t>;

constexpr PoolKind kTypes[] = {kMax, kAvg, kL2, kAvgAndroid, kAvgPadded};

struct Case {
  TensorDesc input;
  TensorDesc output;
  AttributeMap attributes;
  PoolKind type = kMax;
  PoolAxis w;
  PoolAxis h;
};

int64_t Pick(std::initializer_list<int64_t> from, std::mt19937& rng) {
  return from.begin()[rng() % from.size()];
}

// Pads, extents and front pad along one axis.
Ints RandomAxis(PaddingKind padding, bool ceiling, std::mt19937& rng,
                PoolAxis* axis) {
  axis->input = Pick({1, 2, 5, 7, 15, 16, 31, 32, 33}, rng);
  axis->kernel = Pick({1, 2, 3, 5}, rng);
  axis->stride = Pick({1, 2, 3}, rng);
  Ints pads = {Pick({0, 1, 2}, rng), Pick({0, 1, 2}, rng)};
  if (padding == kSame) {
    axis->output = (axis->input + axis->stride - 1) / axis->stride;
    const int64_t total = std::max<int64_t>(
        (axis->output - 1) * axis->stride + axis->kernel - axis->input, 0);
    axis->front = total / 2;
    axis->back = total - axis->front;
    return pads;
  }
  const int64_t total = padding == kValid ? 0 : pads[0] + pads[1];
  axis->kernel = std::min(axis->kernel, axis->input + total);
  axis->front = padding == kValid ? 0 : pads[0];
  axis->back = padding == kValid ? 0 : pads[1];
  const double steps =
      static_cast<double>(axis->input + total - axis->kernel) / axis->stride;
  axis->output =
      static_cast<int64_t>(ceiling ? std::ceil(steps) : std::floor(steps)) + 1;
  return pads;
}

Case RandomCase(DataType in, DataType out, PoolKind type, std::mt19937& rng) {
  Case test;
  const auto padding = static_cast<PaddingKind>(Pick({-1, 0, 1, 2}, rng));
  const bool ceiling = rng() % 2 == 0;
  const Ints w = RandomAxis(padding, ceiling, rng, &test.w);
  const Ints h = RandomAxis(padding, ceiling, rng, &test.h);
  test.type = type;
  test.attributes =
      PoolAttributes(type, {test.w.kernel, test.h.kernel},
                     {test.w.stride, test.h.stride}, {w[0], w[1], h[0], h[1]});
  test.attributes.Set("padding", padding);
  test.attributes.Set(ir::kRoundType, int64_t{ceiling ? 0 : 1});
  Ints dims = {test.w.input, test.h.input, Pick({1, 3, 15, 16, 17, 33}, rng)};
  if (rng() % 3 != 0) dims.push_back(Pick({1, 2, 3}, rng));
  test.input = RandomDesc(in, dims, rng);
  test.output = in == out && rng() % 2 == 0 ? Undeclared(test.input)
                                            : RandomDesc(out, {}, rng);
  test.output.shape = ir::Shape();
  return test;
}

// Input and output types.
constexpr std::pair<DataType, DataType> kTypePairs[] = {
    {DataType::kFloat32, DataType::kFloat32},
    {DataType::kFloat16, DataType::kFloat16},
    {DataType::kUint8, DataType::kUint8},
    {DataType::kInt8, DataType::kInt8},
    {DataType::kInt16, DataType::kInt16},
    {DataType::kFloat16, DataType::kUint8},
    {DataType::kInt8, DataType::kFloat16},
    {DataType::kUint8, DataType::kInt16},
    {DataType::kInt16, DataType::kFloat32},
};

TEST(Pool2d, EvalFollowsTheFormula) {
  std::mt19937 rng = SeededRng(5);
  for (const auto& [in, out] : kTypePairs) {
    for (int i = 0; i < 24; ++i) {
      const Case test = RandomCase(in, out, kTypes[i % 5], rng);
      const auto node =
          MakeNode("tim.Pool2d", test.attributes, {test.input}, {test.output});
      ASSERT_OK(node);
      const std::string what =
          StrCat(test.input.ToString(), " to ", node->output().ToString(),
                 " type ", static_cast<int64_t>(test.type));
      ASSERT_EQ(node->output().shape[0], test.w.output) << what;
      ASSERT_EQ(node->output().shape[1], test.h.output) << what;
      const TensorData input = RandomTensor(test.input, rng);
      const auto outputs = Eval(*node, {input});
      ASSERT_OK(outputs);
      const double lowest = out == DataType::kFloat16 ? -65504.0 : kLowest;
      ASSERT_OK(CheckReal(
          (*outputs)[0],
          PoolReference(test.type, test.w, test.h, RealValues(input), lowest),
          {.absolute = 1e-6, .relative = 1e-6}))
          << what;
    }
  }
}

}  // namespace
}  // namespace tim::testing
