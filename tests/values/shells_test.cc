// Thin functions of tim/values/ops.h name operators and attributes that there
// are, and every operator can be called by its name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>
#include <vector>

#include "ir/op_schema.h"
#include "ops/builtin.h"
#include "tests/structure/source_tree.h"
#include "tim/values/values.h"

namespace tim::values {
namespace {

using structure::ReadText;
using ::testing::HasSubstr;
using ::testing::Not;

struct Shell {
  std::string op;
  std::vector<std::string> attributes;
};

// Calls of the header: an operator each, then attributes.
std::vector<Shell> Shells() {
  const std::string text = ReadText("include/tim/values/ops.h");
  static const std::regex name(R"re("tim\.(\w+)"|\{"(\w+)",)re");
  std::vector<Shell> shells;
  for (std::sregex_iterator it(text.begin(), text.end(), name), end; it != end;
       ++it) {
    if ((*it)[1].matched) {
      shells.push_back({(*it)[1], {}});
    } else if (!shells.empty()) {
      shells.back().attributes.push_back((*it)[2]);
    }
  }
  return shells;
}

TEST(Shells, NameWhatThereIs) {
  const std::vector<Shell> shells = Shells();
  EXPECT_GE(shells.size(), 60u);
  for (const Shell& shell : shells) {
    const ir::OpSchema* schema =
        ops::BuiltinOperators().Find("tim." + shell.op);
    ASSERT_NE(schema, nullptr) << shell.op;
    std::set<std::string> known = {"output_type"};
    for (const ir::AttributeSpec& spec : schema->attributes) {
      known.insert(spec.name);
    }
    for (const std::string& attribute : shell.attributes) {
      EXPECT_EQ(known.count(attribute), 1u) << shell.op << " " << attribute;
    }
  }
}

// Attributes that have no default, with a value of their type.
Attributes RequiredOf(const ir::OpSchema& schema) {
  Attributes attributes;
  for (const ir::AttributeSpec& spec : schema.attributes) {
    if (spec.default_value) continue;
    switch (spec.type) {
      case ir::AttributeType::kBool:
        attributes.emplace_back(spec.name, false);
        break;
      case ir::AttributeType::kInt:
        attributes.emplace_back(
            spec.name, spec.values.empty() ? 1 : spec.values[0].second);
        break;
      case ir::AttributeType::kFloat:
        attributes.emplace_back(spec.name, 1.0);
        break;
      case ir::AttributeType::kString:
        attributes.emplace_back(spec.name, "x");
        break;
      case ir::AttributeType::kInts:
        attributes.emplace_back(spec.name, std::vector<int64_t>{1});
        break;
      case ir::AttributeType::kFloats:
        attributes.emplace_back(spec.name, std::vector<double>{1});
        break;
      case ir::AttributeType::kStrings:
        attributes.emplace_back(spec.name, std::vector<std::string>{"x"});
        break;
      default:
        break;
    }
  }
  return attributes;
}

bool HasGraphs(const ir::OpSchema& schema) {
  for (const ir::AttributeSpec& spec : schema.attributes) {
    if (spec.type == ir::AttributeType::kGraph) return true;
  }
  return false;
}

TEST(Operators, AreNodesByName) {
  int count = 0;
  for (const ir::OpSchema* schema : ops::BuiltinOperators().Schemas()) {
    if (HasGraphs(*schema)) continue;
    ++count;
    const Node node(schema->domain + "." + schema->name, RequiredOf(*schema));
    EXPECT_TRUE(node.ok()) << node.error();
  }
  EXPECT_GT(count, 100);
}

// Operands of which nothing but the type is known: inference says what follows
// or what is wrong, whatever the operator.
TEST(Operators, InferFromOpenSpecs) {
  for (const ir::OpSchema* schema : ops::BuiltinOperators().Schemas()) {
    const Node node(schema->domain + "." + schema->name, RequiredOf(*schema));
    if (!node.ok()) continue;
    for (const Shape& shape :
         {Shape(), Shape({2, Shape::kUnknown, 3, Shape::kUnknown}),
          Shape({Shape::kUnknown}), Shape::Scalar()}) {
      for (size_t count = 0; count <= 8; ++count) {
        const auto outputs = node.InferOutputs(
            std::vector<Spec>(count, Spec(Type::kFloat32, shape)));
        EXPECT_TRUE(!outputs.empty() || !LastError().empty());
      }
    }
  }
}

TEST(Names, AreToldWhereTheyAreWrong) {
  EXPECT_THAT(Node("tim.Conv").error(), HasSubstr("operator tim.Conv"));
  EXPECT_THAT(Node("Relu").error(), HasSubstr("named like tim.Relu"));
  EXPECT_THAT(Node("").error(), Not(""));
}

}  // namespace
}  // namespace tim::values
