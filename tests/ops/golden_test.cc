// Operators against results that independent programs computed: eval, and every
// OpenCL kernel in every layout.  In Bazel a program runs some folders of
// goldens, such that no two compile kernels of the same types.
#include "tests/support/data/golden.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "ir/op_registry.h"
#include "ops/builtin.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

const Result<std::vector<Golden>>& AllGoldens() {
  static const auto* const kGoldens =
      new Result<std::vector<Golden>>(LoadAllGoldens());
  return *kGoldens;
}

// Empty where they cannot be loaded, which GoldenFiles.Load reports.
std::vector<Golden> LoadedGoldens() {
  return AllGoldens().ok() ? *AllGoldens() : std::vector<Golden>();
}

TEST(GoldenFiles, Load) { ASSERT_OK(AllGoldens()); }

Status CompareAll(const std::vector<TensorData>& expected,
                  const std::vector<TensorData>& found, Tolerance tolerance) {
  if (expected.size() != found.size())
    return InvalidArgument(found.size(), " outputs");
  for (size_t i = 0; i < expected.size(); ++i) {
    const ir::TensorDesc& desc = found[i].desc;
    if (desc.shape != expected[i].desc.shape ||
        desc.type != expected[i].desc.type) {
      return InvalidArgument("output ", i, " is ", desc.ToString(),
                             ", expected ", expected[i].desc.ToString());
    }
    if (!desc.layout.dense()) {
      if (found[i].bytes == expected[i].bytes) continue;
      return InvalidArgument("the bytes of ", desc.ToString(), " differ");
    }
    TIM_RETURN_IF_ERROR(CompareTensors(expected[i], found[i], tolerance));
  }
  return OkStatus();
}

// The same tensors in dense layout.
Result<std::vector<TensorData>> Dense(const std::vector<TensorData>& tensors) {
  std::vector<TensorData> dense;
  for (const TensorData& tensor : tensors) {
    TIM_ASSIGN_OR_RETURN(dense.emplace_back(),
                         FromLayout(tensor.bytes, tensor.desc));
  }
  return dense;
}

// "u8a,f32>u8a"; '-' for an absent input.
std::string TypesOf(const Golden& golden) {
  std::string out;
  for (size_t i = 0; i < golden.inputs.size(); ++i) {
    if (i > 0) out += ",";
    out += golden.inputs[i] ? TypeToken(golden.inputs[i]->desc) : "-";
  }
  return out + ">" + TypeToken(golden.outputs[0].desc);
}

// "tim.Add u8a,f32>u8a"
std::string Signature(const Golden& golden) {
  return golden.op + " " + TypesOf(golden);
}

bool HasOnlyCommonTypes(const Golden& golden) {
  const std::string types = TypesOf(golden);
  return types == "f32>f32" || types == "f32,f32>f32" || types == "u8a>u8a" ||
         types == "u8a,u8a>u8a";
}

bool IsConversion(const Golden& golden) {
  return golden.op == "tim.Cast" || golden.op == "tim.DataConvert";
}

// Goldens whose kernels are compiled: with --long all.
//
// Those of float32 or of uint8 alone are the first of each operator and every
// third one after it.  Operators that are rows of a table
// (OpSchema::pointwise) share the text that reads, computes and writes their
// other types: each combination is compiled for the first of them and every
// fourth one after it.  Of other operators it is the first golden and every
// sixth one after it; conversions, which have a combination for every two
// types, take every third combination.
class CompiledCases {
 public:
  bool Contains(const Golden& golden) {
    const ir::OpSchema* schema = ops::BuiltinOperators().Find(golden.op);
    if (RunsLongTests() || schema == nullptr) return true;
    if (HasOnlyCommonTypes(golden) || !schema->pointwise) {
      const int before = goldens_[Signature(golden)]++;
      if (HasOnlyCommonTypes(golden)) return before % 3 == 0;
      if (before % 6 != 0) return false;
      return !IsConversion(golden) || HostSteps().contains(Signature(golden)) ||
             conversions_[golden.op]++ % 3 == 0;
    }
    auto& operators = operators_[TypesOf(golden)];
    const auto next = static_cast<int>(operators.size());
    return operators.try_emplace(golden.op, next).first->second % 4 == 0;
  }

 private:
  std::map<std::string, int> goldens_;      // So far, by operator and types.
  std::map<std::string, int> conversions_;  // So far, by operator.
  // By types the operators that have them, numbered as they come.
  std::map<std::string, std::map<std::string, int>> operators_;
};

std::vector<Golden> CompiledGoldens() {
  std::vector<Golden> compiled;
  CompiledCases cases;
  for (const Golden& golden : LoadedGoldens()) {
    if (cases.Contains(golden)) compiled.push_back(golden);
  }
  return compiled;
}

bool IsMadeOfOthers(const Golden& golden) {
  return ops::BuiltinOperators().Find(golden.op)->decompose != nullptr;
}

class Goldens : public ::testing::TestWithParam<Golden> {};

TEST_P(Goldens, EvalAgrees) {
  const Golden& golden = GetParam();
  const Result<TestNode> node = MakeNode(golden);
  ASSERT_OK(node);
  const auto found = Eval(*node, golden.VariableInputs());
  ASSERT_OK(found);
  EXPECT_OK(CompareAll(golden.outputs, *found, golden.tolerance));
}

class GoldenKernels : public Goldens {};

TEST_P(GoldenKernels, EveryKernelAgrees) {
  const Golden& golden = GetParam();
  const Result<TestNode> node = MakeNode(golden);
  ASSERT_OK(node);
  const auto inputs = Dense(golden.VariableInputs());
  const auto expected = Dense(golden.outputs);
  ASSERT_OK(inputs);
  ASSERT_OK(expected);
  if (IsMadeOfOthers(golden)) {
    const auto found = RunCompiled(*node, *inputs);
    if (HostSteps().contains(Signature(golden))) {
      EXPECT_ERROR(found.status(), "no device can run it");
      return;
    }
    ASSERT_OK(found);
    EXPECT_OK(CompareAll(*expected, *found, golden.tolerance));
    return;
  }
  const std::vector<std::string> kernels = SupportedKernels(*node);
  EXPECT_EQ(kernels.empty(), HostSteps().contains(Signature(golden)))
      << Signature(golden) << "\n"
      << Refusals(*node);
  for (const std::string& kernel : kernels) {
    for (int i = 0; i < LayoutCount(*node, kernel); ++i) {
      SCOPED_TRACE(StrCat(kernel, " layout ", i));
      const auto found = RunKernel(*node, kernel, i, *inputs);
      ASSERT_OK(found);
      EXPECT_OK(CompareAll(*expected, *found, golden.tolerance));
    }
  }
}

std::string NameOf(const ::testing::TestParamInfo<Golden>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(All, Goldens, ::testing::ValuesIn(LoadedGoldens()),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(All, GoldenKernels,
                         ::testing::ValuesIn(CompiledGoldens()), NameOf);

}  // namespace
}  // namespace tim::testing
