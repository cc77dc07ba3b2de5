// Every registered operator has a description of its cases, and only one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "ir/op_registry.h"
#include "ops/builtin.h"
#include "tests/properties/operator_cases.h"

namespace tim::testing {
namespace {

std::vector<std::string> Undescribed(const ir::OpRegistry& registry) {
  std::set<std::string> described;
  for (const OperatorCases& cases : AllCases()) described.insert(cases.op);
  std::vector<std::string> missing;
  for (const ir::OpSchema* schema : registry.Schemas()) {
    if (schema->control) continue;  // Graphs: tests/runtime/control_test.cc.
    const std::string op = StrCat(schema->domain, ".", schema->name);
    if (!described.contains(op)) {
      missing.push_back(op + ": no description in tests/ops/*/*_cases.cc");
    }
  }
  return missing;
}

TEST(OperatorCases, AreThereForEveryOperator) {
  EXPECT_THAT(Undescribed(ops::BuiltinOperators()), ::testing::IsEmpty());
}

TEST(OperatorCases, AnOperatorWithoutThemIsSeen) {
  ir::OpRegistry registry(&ops::BuiltinOperators());
  ir::OpSchema schema = *registry.Find("tim.Relu");
  schema.name = "Undescribed";
  registry.Add(std::move(schema));
  EXPECT_THAT(Undescribed(registry),
              ::testing::ElementsAre(::testing::HasSubstr("tim.Undescribed")));
}

TEST(OperatorCases, AreOfRegisteredOperatorsAndComplete) {
  std::string previous;
  for (const OperatorCases& cases : AllCases()) {
    EXPECT_NE(ops::BuiltinOperators().Find(cases.op), nullptr) << cases.op;
    EXPECT_NE(cases.op, previous) << "described twice";
    EXPECT_TRUE(cases.legal && cases.illegal && cases.flops) << cases.op;
    previous = cases.op;
  }
}

}  // namespace
}  // namespace tim::testing
