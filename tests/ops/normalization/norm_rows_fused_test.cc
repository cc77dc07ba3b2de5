// Kernels of normalised rows with a sum before them or an operator behind: the
// bits of the operators one by one.
#include <gtest/gtest.h>

#include <cctype>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

TIM_FOR_CPU_KERNELS();

using ir::DeviceClass;
using ir::TensorDesc;
using Ints = std::vector<int64_t>;

constexpr char kLayer[] = "tim.LayerNormalization";
constexpr char kRms[] = "tim.RmsNormalization";

TensorDesc F32(Ints shape) {
  return Desc(ir::DataType::kFloat32, std::move(shape));
}

ir::AttributeMap Along(int64_t axis) { return {{"axis", axis}, {"eps", 1e-5}}; }

// The sum of a and b, normalised along axis 0, with parameters of `parameter`.
Result<TestNode> NormOfSum(const std::string& norm, const TensorDesc& a,
                           const TensorDesc& b, const TensorDesc& y,
                           const std::vector<TensorDesc>& parameters,
                           int64_t axis = 0) {
  TIM_ASSIGN_OR_RETURN(TestNode sum, MakeNode("tim.Add", {}, {a, b}, {y}));
  return Fuse(std::move(sum), norm, Along(axis), parameters, y);
}

Result<TestNode> LayerNormOfSum(const Ints& a, const Ints& b, const Ints& y,
                                const Ints& parameter) {
  return NormOfSum(kLayer, F32(a), F32(b), F32(y),
                   {F32(parameter), F32(parameter)});
}

// Results of a kernel for random inputs as it is lowered for a GPU.
void CheckOnGpu(const TestNode& node, const std::string& kernel,
                std::mt19937& rng) {
  const auto inputs = RandomInputs(node, rng);
  const auto expected = Eval(node, inputs);
  ASSERT_OK(expected);
  const auto actual =
      RunKernel(node, kernel, 0, inputs, TestDevice(DeviceClass::kGpu));
  ASSERT_OK(actual);
  EXPECT_OK(CompareTensors((*expected)[0], (*actual)[0]));
}

TEST(NormOfSum, EqualsBothOperators) {
  std::mt19937 rng = SeededRng(61);
  Sample sample(2);
  for (const int64_t count : {32, 33, 47, 63, 64, 65, 127, 1000}) {
    for (const int64_t rows : {1, 3, 70}) {
      if (!sample.Takes()) continue;
      SCOPED_TRACE(StrCat(rows, " rows of ", count));
      const Ints shape = {count, rows};
      const auto layer = LayerNormOfSum(shape, shape, shape, {count});
      ASSERT_OK(layer);
      ASSERT_OK(Supports(*layer, "layernormalization_sum"));
      EXPECT_OK(CheckKernels(*layer, rng));
      CheckOnGpu(*layer, "layernormalization_sum", rng);
      const auto rms =
          NormOfSum(kRms, F32(shape), F32(shape), F32(shape), {F32({count})});
      ASSERT_OK(rms);
      ASSERT_OK(Supports(*rms, "rmsnormalization_sum"));
      EXPECT_OK(CheckKernels(*rms, rng));
      CheckOnGpu(*rms, "rmsnormalization_sum", rng);
    }
  }
}

TEST(NormOfSum, OfRowsThatComeAgain) {
  std::mt19937 rng = SeededRng(62);
  const Ints shape = {40, 3, 5};
  for (const Ints& other :
       {Ints{40}, Ints{40, 1}, Ints{40, 3}, Ints{40, 3, 1}, Ints{40, 3, 5}}) {
    SCOPED_TRACE(ir::Shape(other).ToString());
    for (const auto& node : {LayerNormOfSum(shape, other, shape, {40}),
                             LayerNormOfSum(other, shape, shape, {40})}) {
      ASSERT_OK(node);
      ASSERT_OK(Supports(*node, "layernormalization_sum"));
      EXPECT_OK(CheckKernels(*node, rng));
      CheckOnGpu(*node, "layernormalization_sum", rng);
    }
  }
}

// Parameters that differ from row to row, and none.
TEST(NormOfSum, Parameters) {
  std::mt19937 rng = SeededRng(63);
  const TensorDesc y = F32({48, 6});
  const auto by_row = NormOfSum(kLayer, y, y, y, {F32({1, 6}), F32({48, 6})});
  ASSERT_OK(by_row);
  ASSERT_OK(Supports(*by_row, "layernormalization_sum"));
  EXPECT_OK(CheckKernels(*by_row, rng));
  CheckOnGpu(*by_row, "layernormalization_sum", rng);
  const auto none = NormOfSum(kRms, y, y, y, {});
  ASSERT_OK(none);
  ASSERT_OK(Supports(*none, "rmsnormalization_sum"));
  EXPECT_OK(CheckKernels(*none, rng));
  CheckOnGpu(*none, "rmsnormalization_sum", rng);
}

TEST(NormOfSum, TakesWhatFollows) {
  std::mt19937 rng = SeededRng(64);
  const Ints shape = {65, 7};
  const auto norm = LayerNormOfSum(shape, shape, shape, {65});
  ASSERT_OK(norm);
  for (const char* op : {"tim.Relu", "tim.Swish", "tim.Gelu"}) {
    SCOPED_TRACE(op);
    const auto node = Fuse(*norm, op, {}, {}, F32(shape));
    ASSERT_OK(node);
    ASSERT_OK(Supports(*node, "layernormalization_sum"));
    EXPECT_OK(CheckKernels(*node, rng));
    CheckOnGpu(*node, "layernormalization_sum", rng);
  }
}

TEST(NormOfSum, InPlaceOfEitherSummand) {
  std::mt19937 rng = SeededRng(65);
  const Ints shape = {65, 7};
  const auto node = LayerNormOfSum(shape, shape, shape, {65});
  ASSERT_OK(node);
  const auto inputs = RandomInputs(*node, rng);
  const auto expected = Eval(*node, inputs);
  ASSERT_OK(expected);
  const auto pairs = InPlacePairs(*node, "layernormalization_sum", 0);
  ASSERT_OK(pairs);
  ASSERT_EQ(pairs->size(), 2u);
  for (const ir::InPlacePair& pair : *pairs) {
    KernelRun run;
    run.in_place = pair;
    const auto actual =
        RunKernel(*node, "layernormalization_sum", 0, inputs, run);
    ASSERT_OK(actual);
    EXPECT_OK(CompareTensors((*expected)[0], (*actual)[0])) << pair.input;
  }
}

TEST(NormOfSum, Refusals) {
  const auto refusal = [](const Result<TestNode>& node) {
    return node.ok() ? Supports(*node, "layernormalization_sum")
                     : node.status();
  };
  const TensorDesc y = F32({40, 6});
  EXPECT_ERROR(refusal(MakeNode("tim.Add", {}, {y, y}, {y})),
               "takes a sum with the LayerNormalization that reads it");
  EXPECT_ERROR(refusal(NormOfSum(kRms, y, y, y, {})),
               "takes a sum with the LayerNormalization that reads it");
  EXPECT_ERROR(refusal(LayerNormOfSum({31, 2}, {31, 2}, {31, 2}, {31})),
               "rows of 32 neighbours or more");
  EXPECT_ERROR(
      refusal(NormOfSum(kLayer, y, y, y, {F32({6}), F32({6})}, /*axis=*/1)),
      "rows of 32 neighbours or more");
  for (const Ints& other : {Ints{1, 6}, Ints{40, 1, 5}}) {
    const Ints shape = {40, 6, 5};
    EXPECT_ERROR(refusal(LayerNormOfSum(shape, other, shape, {40})),
                 "takes whole rows of a sum of shape");
  }
  EXPECT_ERROR(
      refusal(LayerNormOfSum({40, 6, 1}, {40, 1, 5}, {40, 6, 5}, {40})),
      "takes whole rows of a sum of shape");
  const TensorDesc half = Desc(ir::DataType::kFloat16, {40, 6});
  EXPECT_ERROR(
      refusal(NormOfSum(kLayer, half, half, half, {F32({40}), F32({40})})),
      "sums float32, not float16");
}

// A core that makes a long row alone would add it alone, too.
TEST(NormOfSum, LeavesFewLongRowsToAllCores) {
  ir::DeviceInfo device = TestDevice();
  device.compute_units = 8;
  const auto node = [](int64_t count, int64_t rows) {
    return LayerNormOfSum({count, rows}, {count, rows}, {count, rows}, {count});
  };
  const auto supports = [&](const Result<TestNode>& made) {
    return made.ok() ? Supports(*made, "layernormalization_sum", device)
                     : made.status();
  };
  EXPECT_OK(supports(node(4096, 7)));
  EXPECT_ERROR(supports(node(4097, 7)), "of few rows of 4097 elements");
  EXPECT_OK(supports(node(4097, 8)));
}

// Every form of the kernels: rows along any axis, short ones, of planes.
Result<TestNode> Norm(const std::string& op, const Ints& shape, int64_t axis) {
  if (op == "tim.InstanceNormalization") {
    return MakeNode(op, {{"eps", 1e-5}},
                    {F32(shape), F32({shape[2]}), F32({shape[2]})},
                    {F32(shape)});
  }
  if (op == "tim.L2Normalization") {
    return MakeNode(op, {{"axis", axis}}, {F32(shape)}, {F32(shape)});
  }
  if (op == "tim.LogSoftmax") {
    return MakeNode(op, {{"axis", axis}, {"beta", 1.0}}, {F32(shape)},
                    {F32(shape)});
  }
  std::vector<std::optional<TensorDesc>> inputs = {F32(shape)};
  inputs.resize(op == kLayer ? 3 : 2, F32({shape[axis]}));
  return MakeNode(op, Along(axis), inputs, {F32(shape)});
}

TEST(NormAndActivation, EqualBothOperators) {
  std::mt19937 rng = SeededRng(66);
  Sample sample(3);
  for (const char* op :
       {kLayer, kRms, "tim.L2Normalization", "tim.LogSoftmax"}) {
    for (const int64_t axis : {0, 1}) {
      for (const Ints& shape : {Ints{40, 33}, Ints{7, 50}}) {
        SCOPED_TRACE(
            StrCat(op, " along ", axis, " of ", ir::Shape(shape).ToString()));
        const auto norm = Norm(op, shape, axis);
        ASSERT_OK(norm);
        for (const char* next : {"tim.Relu", "tim.Swish"}) {
          if (!sample.Takes()) continue;
          const auto node = Fuse(*norm, next, {}, {}, F32(shape));
          ASSERT_OK(node);
          std::string kernel(op + 4);
          for (char& c : kernel) c = static_cast<char>(std::tolower(c));
          ASSERT_OK(Supports(*node, kernel));
          EXPECT_OK(CheckKernels(*node, rng)) << next;
          CheckOnGpu(*node, kernel + "_simt", rng);
        }
      }
    }
  }
}

// Sigmoid of 0 is not 0, which tail lanes stay.
TEST(NormAndActivation, InBlocks) {
  std::mt19937 rng = SeededRng(67);
  const auto norm = Norm("tim.InstanceNormalization", {9, 5, 20, 2}, 0);
  ASSERT_OK(norm);
  for (const char* next : {"tim.Relu", "tim.Sigmoid"}) {
    const auto node = Fuse(*norm, next, {}, {}, F32({9, 5, 20, 2}));
    ASSERT_OK(node);
    EXPECT_EQ(LayoutCount(*node, "instancenormalization"), 2) << next;
    EXPECT_OK(CheckKernels(*node, rng)) << next;
  }
}

TEST(NormAndActivation, Refusals) {
  const auto layer = Norm(kLayer, {40, 6}, 0);
  ASSERT_OK(layer);
  const auto refusal = [](const Result<TestNode>& node) {
    return node.ok() ? Supports(*node, "layernormalization") : node.status();
  };
  EXPECT_ERROR(refusal(Fuse(*layer, "tim.Add", {}, {F32({40})}, F32({40, 6}))),
               "a fused Add");
  const TensorDesc codes = Desc(ir::DataType::kUint8, {40, 6}, 0.1f, 3);
  const auto of_codes =
      MakeNode(kLayer, Along(0), {codes, F32({40}), F32({40})}, {codes});
  ASSERT_OK(of_codes);
  EXPECT_ERROR(refusal(Fuse(*of_codes, "tim.Relu", {}, {}, codes)),
               "operators are fused with float32 results, not uint8");
}

// Limits cost nothing, formulas as much as the row.
TEST(NormAndActivation, LeavesFormulasOfFewLongRowsToAllCores) {
  ir::DeviceInfo device = TestDevice();
  device.compute_units = 8;
  const auto norm = Norm(kLayer, {5000, 7}, 0);
  ASSERT_OK(norm);
  const auto relu = Fuse(*norm, "tim.Relu", {}, {}, F32({5000, 7}));
  ASSERT_OK(relu);
  EXPECT_OK(Supports(*relu, "layernormalization", device));
  const auto swish = Fuse(*norm, "tim.Swish", {}, {}, F32({5000, 7}));
  ASSERT_OK(swish);
  EXPECT_ERROR(Supports(*swish, "layernormalization", device),
               "a fused Swish of few rows of 5000 elements");
}

}  // namespace
}  // namespace tim::testing
