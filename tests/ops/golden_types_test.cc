// What the folders of goldens hold, taken together.
#include <gtest/gtest.h>

#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "ir/op_registry.h"
#include "ops/builtin.h"
#include "tests/support/data/golden.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

const std::vector<Golden>& LoadedGoldens() {
  static const auto* const kGoldens = [] {
    auto goldens = LoadAllGoldens();
    EXPECT_OK(goldens);
    return new std::vector<Golden>(goldens.ok() ? *std::move(goldens)
                                                : std::vector<Golden>());
  }();
  return *kGoldens;
}

TEST(HostSteps, NoneIsOfFloatOr8BitTypes) {
  const std::regex always(
      "tim[.]\\w+ ((f32|f16|u8a|i8a|i8pc|-)[,>])+"
      "(f32|f16|u8a|i8a)");
  for (const std::string& step : HostSteps()) {
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

TEST(GoldenTypes, EveryOperatorHasGoldensOfEveryTypeOfItsSpecification) {
  const auto types = GoldenTypes();
  for (const ir::OpSchema* schema : ops::BuiltinOperators().Schemas()) {
    if (schema->control) continue;  // Graphs: tests/runtime/control_test.cc.
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
  for (const auto& [op, combinations] : GoldenTypes())
    EXPECT_NE(ops::BuiltinOperators().Find(op), nullptr) << op;
}

}  // namespace
}  // namespace tim::testing
