// Every operator against results that independent programs computed: eval, and
// every OpenCL kernel in every layout.
#include "tests/support/data/golden.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "ir/op_registry.h"
#include "ops/builtin.h"
#include "tests/support/kernels/kernel_runner.h"
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

// "tim.Add u8a,f32>u8a"; '-' for an absent input.
std::string Signature(const Golden& golden) {
  std::string out = golden.op + " ";
  for (size_t i = 0; i < golden.inputs.size(); ++i) {
    if (i > 0) out += ",";
    out += golden.inputs[i] ? TypeToken(golden.inputs[i]->desc) : "-";
  }
  return out + ">" + TypeToken(golden.outputs[0].desc);
}

// What has no kernel and thus runs on the host: host_steps.txt.
const std::set<std::string>& AllowedHostSteps() {
  static const auto* const kSteps = [] {
    auto* steps = new std::set<std::string>();
    std::ifstream file(GoldensFolder().value() + "/host_steps.txt");
    for (std::string line; std::getline(file, line);) {
      if (!line.empty() && line[0] != '#') steps->insert(line);
    }
    return steps;
  }();
  return *kSteps;
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

TEST_P(Goldens, EveryKernelAgrees) {
  const Golden& golden = GetParam();
  const Result<TestNode> node = MakeNode(golden);
  ASSERT_OK(node);
  const auto inputs = Dense(golden.VariableInputs());
  const auto expected = Dense(golden.outputs);
  ASSERT_OK(inputs);
  ASSERT_OK(expected);
  if (IsMadeOfOthers(golden)) {
    const auto found = RunCompiled(*node, *inputs);
    ASSERT_OK(found);
    EXPECT_OK(CompareAll(*expected, *found, golden.tolerance));
    return;
  }
  const std::vector<std::string> kernels = SupportedKernels(*node);
  EXPECT_EQ(kernels.empty(), AllowedHostSteps().contains(Signature(golden)))
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

INSTANTIATE_TEST_SUITE_P(All, Goldens, ::testing::ValuesIn(LoadedGoldens()),
                         [](const auto& info) { return info.param.name; });

TEST(HostSteps, NoneIsOfFloatOr8BitTypes) {
  const std::regex always(
      "tim[.]\\w+ ((f32|f16|u8a|i8a|i8pc|-)[,>])+"
      "(f32|f16|u8a|i8a)");
  for (const std::string& step : AllowedHostSteps()) {
    // Per-channel codes are weights; as data they may go to the host.
    const bool weights = step.find("i8pc>") == std::string::npos;
    EXPECT_FALSE(weights && std::regex_match(step, always)) << step;
  }
}

// ---- types.txt --------------------------------------------------------------

// A combination of types as types.txt writes it: "u8a,i8pc>u8a".
struct Combination {
  std::vector<std::string> inputs;
  std::string output;  // empty: any
};

Combination Parse(const std::string& text) {
  Combination out;
  const size_t arrow = text.find('>');
  if (arrow != std::string::npos) out.output = text.substr(arrow + 1);
  std::istringstream in(text.substr(0, arrow));
  for (std::string token; std::getline(in, token, ',');)
    out.inputs.push_back(token);
  return out;
}

bool Covers(const Golden& golden, const Combination& wanted) {
  if (wanted.inputs.size() > golden.inputs.size()) return false;
  for (size_t i = 0; i < wanted.inputs.size(); ++i) {
    if (!golden.inputs[i]) return false;
    if (TypeToken(golden.inputs[i]->desc) != wanted.inputs[i]) return false;
  }
  return wanted.output.empty() ||
         TypeToken(golden.outputs[0].desc) == wanted.output;
}

// Operator -> combinations. A word with a dot starts an operator.
std::map<std::string, std::vector<std::string>> ReadTypes() {
  std::map<std::string, std::vector<std::string>> types;
  const Result<std::string> folder = GoldensFolder();
  if (!folder.ok()) return types;
  std::ifstream file(*folder + "/types.txt");
  std::string op;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line[0] == '#' ? "" : line);
    for (std::string word; words >> word;) {
      if (word.find('.') != std::string::npos) {
        op = word;
      } else {
        types[op].push_back(word);
      }
    }
  }
  return types;
}

TEST(GoldenTypes, EveryOperatorHasGoldensOfEveryTypeOfItsSpecification) {
  const auto types = ReadTypes();
  for (const ir::OpSchema* schema : ops::BuiltinOperators().Schemas()) {
    const std::string op = StrCat(schema->domain, ".", schema->name);
    const auto wanted = types.find(op);
    if (wanted == types.end()) {
      ADD_FAILURE() << op << ": no line in tests/goldens/types.txt";
      continue;
    }
    for (const std::string& text : wanted->second) {
      const Combination combination = Parse(text);
      bool found = false;
      for (const Golden& golden : LoadedGoldens())
        found |= golden.op == op && Covers(golden, combination);
      EXPECT_TRUE(found) << op << ": no golden of types " << text;
    }
  }
}

TEST(GoldenTypes, NameRegisteredOperators) {
  for (const auto& [op, combinations] : ReadTypes())
    EXPECT_NE(ops::BuiltinOperators().Find(op), nullptr) << op;
}

}  // namespace
}  // namespace tim::testing
