// PermuteAxes(): the layout rule of custom operators, as the schema has it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/op_registry.h"
#include "tests/support/status_macros.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/user/custom_operator.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using vx::ops::Permutation;
using vx::ops::PermutedOperands;

using Rule =
    std::function<bool(uint32_t, const Permutation&, PermutedOperands*)>;

class Ruled : public TestOp {
 public:
  Ruled(vx::Graph* graph, OpPlan plan, Rule rule)
      : TestOp(graph, std::move(plan)), rule_(std::move(rule)) {}
  bool PermuteAxes(uint32_t input, const Permutation& perm,
                   PermutedOperands* operands) const override {
    if (!rule_) return CustomOpBase::PermuteAxes(input, perm, operands);
    return rule_(input, perm, operands);
  }

 private:
  Rule rule_;
};

// What the schema answers for an operation of two inputs of rank 3.
struct Asked {
  explicit Asked(Rule rule, vx::TensorAttribute output = vx::OUTPUT)
      : graph(HostGraph()) {
    OpPlan plan;
    plan.inputs = 2;
    op = graph->CreateOperation<Ruled>(plan, rule);
    const vx::ShapeType shape = {2, 3, 4};
    for (int i = 0; i < 2; ++i) {
      op->BindInput(graph->CreateTensor(Floats(shape, vx::INPUT)));
    }
    op->BindOutput(graph->CreateTensor(Floats(shape, output)));
    node.schema = vx::CustomOperator::Register(
        std::make_shared<vx::CustomOperator>(*op, "user.TestOp#1"), &registry);
    desc.type = ir::DataType::kFloat32;
    desc.shape = ir::Shape(std::vector<int64_t>{2, 3, 4});
    node.attributes.Set("kept", int64_t{7});
    inputs.assign(output == vx::VARIABLE ? 3 : 2, &desc);
    outputs.assign(1, &desc);
  }

  Result<ir::PermutedNode> operator()(int operand, std::vector<int> perm) {
    return ir::PermuteNode({node, inputs, outputs}, operand, perm);
  }

  std::shared_ptr<vx::Graph> graph;
  std::shared_ptr<Ruled> op;
  ir::OpRegistry registry;
  ir::Node node;
  ir::TensorDesc desc;
  std::vector<const ir::TensorDesc*> inputs;
  std::vector<const ir::TensorDesc*> outputs;
};

bool AllTheSame(uint32_t, const Permutation& perm, PermutedOperands* operands) {
  for (Permutation& input : operands->inputs) input = perm;
  for (Permutation& output : operands->outputs) output = perm;
  return true;
}

TEST(CustomOpLayoutRule, IsABarrierWithoutOne) {
  const auto answer = Asked(nullptr)(0, {2, 0, 1});
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.status().message(),
              HasSubstr("user.TestOp#1 lets no permutation through"));
}

TEST(CustomOpLayoutRule, AnswersWithAttributesAndPermutations) {
  const auto answer = Asked(AllTheSame)(0, {2, 0, 1});
  ASSERT_OK(answer);
  EXPECT_EQ(answer->attributes.Int("kept"), 7);
  EXPECT_THAT(answer->inputs,
              ElementsAre(ElementsAre(2, 0, 1), ElementsAre(2, 0, 1)));
  EXPECT_THAT(answer->outputs, ElementsAre(ElementsAre(2, 0, 1)));
}

TEST(CustomOpLayoutRule, SeesWhichInputAndWhatStays) {
  Asked asked(
      [](uint32_t input, const Permutation& perm, PermutedOperands* operands) {
        EXPECT_EQ(input, 1u);
        EXPECT_THAT(perm, ElementsAre(1, 0, 2));
        EXPECT_THAT(operands->inputs, ElementsAre(IsEmpty(), perm));
        EXPECT_THAT(operands->outputs, ElementsAre(IsEmpty()));
        return true;  // what reduces input 1 to a number, say
      });
  const auto answer = asked(1, {1, 0, 2});
  ASSERT_OK(answer);
  EXPECT_THAT(answer->inputs, ElementsAre(IsEmpty(), ElementsAre(1, 0, 2)));
  EXPECT_THAT(answer->outputs, ElementsAre(IsEmpty()));
}

TEST(CustomOpLayoutRule, AStateGoesWithItsOutput) {
  Asked asked(AllTheSame, vx::VARIABLE);
  const auto answer = asked(0, {2, 0, 1});
  ASSERT_OK(answer);
  EXPECT_THAT(answer->inputs[2], ElementsAre(2, 0, 1));
  EXPECT_FALSE(asked(2, {2, 0, 1}).ok());
}

void ExpectRefused(const Rule& rule, const std::string& text) {
  const auto answer = Asked(rule)(0, {2, 0, 1});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(answer.status().message(), HasSubstr("user.TestOp#1"));
  EXPECT_THAT(answer.status().message(), HasSubstr(text));
}

TEST(CustomOpLayoutRule, AnswersThatCannotBe) {
  ExpectRefused(
      [](auto&&...) -> bool { throw std::runtime_error("no such axis"); },
      "no such axis");
  ExpectRefused(
      [](auto&&, auto&&, PermutedOperands* operands) {
        operands->outputs[0] = {0, 0, 1};
        return true;
      },
      "[0, 0, 1], which is no permutation");
  ExpectRefused(
      [](auto&&, auto&&, PermutedOperands* operands) {
        operands->outputs[0] = {0, 1, ~0u};
        return true;
      },
      "which is no permutation");
  ExpectRefused(
      [](auto&&, auto&&, PermutedOperands* operands) {
        operands->inputs.clear();
        return true;
      },
      "answers for 0 inputs");
  ExpectRefused(
      [](auto&&, auto&&, PermutedOperands* operands) {
        operands->inputs[0] = {0, 1, 2};
        return true;
      },
      "changes what was asked");
}

}  // namespace
}  // namespace tim::testing
