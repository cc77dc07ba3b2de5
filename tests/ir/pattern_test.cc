// Patterns: what matches, what does not, and what replacements do.
#include "ir/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "compiler/compiler.h"
#include "ir/inferred_node.h"
#include "tests/support/status_macros.h"
#include "tests/support/toy_ops.h"

namespace tim {
namespace {

using ir::Pattern;
using ir::PatternMatch;
using ir::ValueId;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ToyGraph;
using testing::ToyOperators;

std::vector<PatternMatch> Found(const ToyGraph& toy, const Pattern& pattern) {
  auto matches = ir::FindMatches(const_cast<ToyGraph&>(toy).graph(), pattern);
  EXPECT_OK(matches);
  return matches.ok() ? *matches : std::vector<PatternMatch>();
}

size_t Count(const ToyGraph& toy, const Pattern& pattern) {
  return Found(toy, pattern).size();
}

// Puts "toy.<op>" over the value "x" in the place of a match.
ir::PatternReplacement By(const std::string& op) {
  return [op](const PatternMatch& match,
              ir::Graph* graph) -> Result<std::vector<ValueId>> {
    TIM_ASSIGN_OR_RETURN(const ir::NodeId id,
                         ir::AddInferredNode({.op = "toy." + op,
                                              .inputs = {match.values.at("x")}},
                                             ToyOperators(), graph));
    return graph->node(id).outputs;
  };
}

std::vector<std::string> OpsOf(const ir::Graph& graph) {
  std::vector<std::string> out;
  const auto order = graph.TopologicalOrder();
  EXPECT_OK(order);
  for (const ir::NodeId id : *order) out.push_back(graph.node(id).schema->name);
  return out;
}

TEST(Pattern, MatchesOperatorsWithTheirInputs) {
  ToyGraph toy;
  const ValueId x = toy.Input({4});
  const ValueId y = toy.Op("Twice", {x});
  toy.Output(toy.Op("Sum", {y, toy.Op("Bump", {x})}));
  const auto found = Found(
      toy, Pattern::Op("toy.Sum",
                       {Pattern::Op("toy.Twice", {Pattern::Any("x")}, "left"),
                        Pattern::Op("toy.Bump", {Pattern::Any("x")})},
                       "sum"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].values.at("x"), x);
  EXPECT_EQ(found[0].values.at("left"), y);
  EXPECT_EQ(found[0].named_nodes.at("sum"), found[0].root);
  EXPECT_EQ(found[0].nodes.size(), 3u);
  // Inputs that the pattern lacks may be anything; operators without a name
  // are any; the version may be named.
  EXPECT_EQ(Count(toy, Pattern::Op("toy.Sum")), 1u);
  EXPECT_EQ(Count(toy, Pattern::Op("")), 3u);
  EXPECT_EQ(Count(toy, Pattern::Op("toy.Sum@1")), 1u);
  EXPECT_EQ(Count(toy, Pattern::Op("toy.Sum@2")), 0u);
  EXPECT_EQ(Count(toy, Pattern::Op("toy.Su")), 0u);
}

TEST(Pattern, EqualNamesAreTheSameValue) {
  const Pattern same =
      Pattern::Op("toy.Sum", {Pattern::Any("x"), Pattern::Any("x")});
  ToyGraph toy;
  const ValueId a = toy.Input({4});
  toy.Output(toy.Op("Sum", {a, toy.Input({4})}));
  EXPECT_EQ(Count(toy, same), 0u);
  toy.Output(toy.Op("Sum", {a, a}));
  EXPECT_EQ(Count(toy, same), 1u);
}

TEST(Pattern, AnyOrderTriesBothOrders) {
  ToyGraph toy;
  const ValueId x = toy.Input({4});
  toy.Output(toy.Op("Sum", {x, toy.Op("Twice", {x})}));
  Pattern pattern = Pattern::Op(
      "toy.Sum",
      {Pattern::Op("toy.Twice", {Pattern::Any("x")}), Pattern::Any("x")});
  EXPECT_EQ(Count(toy, pattern), 0u);
  pattern.any_order = true;
  EXPECT_EQ(Count(toy, pattern), 1u);
}

TEST(Pattern, OneOfOptionalAndRepeat) {
  ToyGraph toy;
  ValueId x = toy.Input({4});
  x = toy.Op("Twice", {x});
  x = toy.Op("Bump", {x});
  x = toy.Op("Bump", {x});
  x = toy.Op("Bump", {x});
  toy.Output(toy.Op("Heavy", {x}));
  const Pattern twice = Pattern::Op("toy.Twice", {}, "twice");
  EXPECT_EQ(Count(toy, Pattern::OneOf({Pattern::Op("toy.Heavy"), twice})), 2u);
  const auto heavy = [](Pattern inside) {
    return Pattern::Op("toy.Heavy", {std::move(inside)});
  };
  EXPECT_EQ(Count(toy, heavy(Pattern::Optional("toy.Bump", twice))), 0u);
  EXPECT_EQ(Count(toy, heavy(Pattern::Repeat("toy.Bump", 1, 2, twice))), 0u);
  EXPECT_EQ(Count(toy, heavy(Pattern::Repeat("toy.Bump", 4, 9, twice))), 0u);
  const auto found =
      Found(toy, heavy(Pattern::Repeat("toy.Bump", 0, 3, twice, "bumps")));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].nodes.size(), 5u);
  EXPECT_EQ(found[0].values.at("bumps"), x);
  const auto absent =
      Found(toy, Pattern::Op("toy.Bump",
                             {Pattern::Optional("toy.Heavy", twice, "heavy")}));
  ASSERT_EQ(absent.size(), 1u);
  EXPECT_EQ(absent[0].values.count("heavy"), 0u);
}

TEST(Pattern, AttributesAndPredicates) {
  ToyGraph toy;
  const ValueId x = toy.Input({4});
  toy.Output(toy.Op("Bump", {x}));
  toy.Output(toy.Op("Bump", {x}, {{"by", 2.0}}));
  Pattern pattern = Pattern::Op("toy.Bump", {Pattern::Any("x")}, "bump");
  pattern.attributes = {{"by", int64_t{2}}};
  EXPECT_EQ(Count(toy, pattern), 1u);
  pattern.attributes = {{"by", 1.0}};  // The default.
  EXPECT_EQ(Count(toy, pattern), 1u);
  pattern.attributes = {{"to", 1.0}};
  EXPECT_EQ(Count(toy, pattern), 0u);
  pattern.attributes = {};
  pattern.where = [](const PatternMatch& match) {
    const ir::Node& node = match.graph->node(match.named_nodes.at("bump"));
    return node.attributes.Find("by") != nullptr;
  };
  EXPECT_EQ(Count(toy, pattern), 1u);
}

TEST(Pattern, ConstantsAreConstants) {
  ToyGraph toy;
  const ValueId x = toy.Input({4});
  toy.Output(toy.Op("Sum", {x, toy.Constant({4}, 3)}));
  toy.Output(toy.Op("Sum", {x, x}));
  EXPECT_EQ(Count(toy, Pattern::Op("toy.Sum",
                                   {Pattern::Any(), Pattern::Constant("c")})),
            1u);
}

TEST(Pattern, NoOtherReaderButWhereItMayBeShared) {
  Pattern inner = Pattern::Op("toy.Twice", {Pattern::Any("x")});
  const auto outer = [&] { return Pattern::Op("toy.Bump", {inner}); };
  ToyGraph read;
  const ValueId y = read.Op("Twice", {read.Input({4})});
  read.Output(read.Op("Bump", {y}));
  EXPECT_EQ(Count(read, outer()), 1u);
  read.Output(read.Op("Heavy", {y}));
  EXPECT_EQ(Count(read, outer()), 0u);
  ToyGraph returned;
  const ValueId z = returned.Op("Twice", {returned.Input({4})});
  returned.Output(returned.Op("Bump", {z}));
  returned.Output(z);
  EXPECT_EQ(Count(returned, outer()), 0u);
  inner.may_be_shared = true;
  EXPECT_EQ(Count(read, outer()), 1u);
  EXPECT_EQ(Count(returned, outer()), 1u);
}

TEST(Pattern, MatchesDoNotOverlap) {
  ToyGraph toy;
  ValueId x = toy.Input({4});
  for (int i = 0; i < 5; ++i) x = toy.Op("Bump", {x});
  toy.Output(x);
  const Pattern pair =
      Pattern::Op("toy.Bump", {Pattern::Op("toy.Bump", {Pattern::Any("x")})});
  const auto found = Found(toy, pair);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].root, 1);
  EXPECT_EQ(found[1].root, 3);
}

Pattern PairOfBumps() {
  return Pattern::Op("toy.Bump",
                     {Pattern::Op("toy.Bump", {Pattern::Any("x")})});
}

ToyGraph Bumps(int count) {
  ToyGraph toy;
  ValueId x = toy.Input({4});
  for (int i = 0; i < count; ++i) x = toy.Op("Bump", {x});
  toy.graph().value(x).name = "result";
  toy.Output(x);
  EXPECT_OK(compiler::InferGraph(&toy.graph(), ToyOperators()));
  return toy;
}

TEST(Replace, PutsNodesInThePlaceOfMatches) {
  ToyGraph toy = Bumps(5);
  const auto report =
      ir::ReplaceMatches(PairOfBumps(), By("Twice"), 1, &toy.graph());
  ASSERT_OK(report);
  EXPECT_EQ(report->replaced, 2);
  EXPECT_THAT(OpsOf(toy.graph()), ElementsAre("Twice", "Twice", "Bump"));
  EXPECT_EQ(toy.graph().value(toy.graph().outputs()[0]).name, "result");
  EXPECT_OK(toy.graph().CheckChains());
}

TEST(Replace, RoundsEndWhereNothingMatches) {
  ToyGraph toy = Bumps(8);
  const auto report =
      ir::ReplaceMatches(PairOfBumps(), By("Bump"), 100, &toy.graph());
  ASSERT_OK(report);
  EXPECT_EQ(report->replaced, 7);
  EXPECT_THAT(OpsOf(toy.graph()), ElementsAre("Bump"));
  EXPECT_EQ(toy.graph().value(toy.graph().outputs()[0]).name, "result");
  ToyGraph once = Bumps(8);
  const auto first =
      ir::ReplaceMatches(PairOfBumps(), By("Bump"), 1, &once.graph());
  ASSERT_OK(first);
  EXPECT_EQ(first->replaced, 4);
}

TEST(Replace, NewNodesMayReadWhatTheyReplace) {
  ToyGraph toy = Bumps(1);
  const auto wrap = [](const PatternMatch& match,
                       ir::Graph* graph) -> Result<std::vector<ValueId>> {
    TIM_ASSIGN_OR_RETURN(const ir::NodeId id,
                         ir::AddInferredNode({.op = "toy.Twice",
                                              .inputs = {match.values.at("y")}},
                                             ToyOperators(), graph));
    return graph->node(id).outputs;
  };
  const auto report = ir::ReplaceMatches(Pattern::Op("toy.Bump", {}, "y"), wrap,
                                         1, &toy.graph());
  ASSERT_OK(report);
  EXPECT_THAT(OpsOf(toy.graph()), ElementsAre("Bump", "Twice"));
}

TEST(Replace, AnotherShapeIsSkippedAndReported) {
  ToyGraph toy = Bumps(2);
  const auto other = [](const PatternMatch&,
                        ir::Graph* graph) -> Result<std::vector<ValueId>> {
    ir::TensorDesc desc;
    desc.type = ir::DataType::kFloat32;
    desc.shape = ir::Shape({5});
    const std::vector<float> zeros(5);
    return std::vector<ValueId>{graph->AddConstant(
        desc, ir::MakeConstant(zeros.data(), zeros.size() * sizeof(float)))};
  };
  const std::string before = toy.graph().Dump();
  const auto report = ir::ReplaceMatches(PairOfBumps(), other, 3, &toy.graph());
  ASSERT_OK(report);
  EXPECT_EQ(report->replaced, 0);
  EXPECT_THAT(report->skipped,
              ElementsAre(HasSubstr("the replacement of output 0 is float32 "
                                    "[5], expected float32 [4]")));
  EXPECT_EQ(toy.graph().Dump(), before);
}

TEST(Replace, AFailureLeavesTheGraphAsItWas) {
  ToyGraph toy = Bumps(4);
  const std::string before = toy.graph().Dump();
  int calls = 0;
  const auto fails = [&](const PatternMatch& match,
                         ir::Graph* graph) -> Result<std::vector<ValueId>> {
    if (++calls == 2) return InvalidArgument("not this one");
    return By("Twice")(match, graph);
  };
  EXPECT_ERROR(ir::ReplaceMatches(PairOfBumps(), fails, 1, &toy.graph()),
               "not this one");
  EXPECT_EQ(toy.graph().Dump(), before);
  // A cycle: the replacement reads what comes behind it.
  const auto cycle = [](const PatternMatch&,
                        ir::Graph* graph) -> Result<std::vector<ValueId>> {
    TIM_ASSIGN_OR_RETURN(const ir::NodeId id,
                         ir::AddInferredNode({.op = "toy.Twice",
                                              .inputs = {graph->outputs()[0]}},
                                             ToyOperators(), graph));
    return graph->node(id).outputs;
  };
  Pattern first = PairOfBumps();
  first.where = [](const PatternMatch& match) { return match.root == 1; };
  EXPECT_ERROR(ir::ReplaceMatches(first, cycle, 1, &toy.graph()), "cycle");
  EXPECT_EQ(toy.graph().Dump(), before);
}

TEST(Replace, TenThousandNodesTakeLessThanAFifthOfASecond) {
  ToyGraph toy;
  ValueId x = toy.Input({4});
  for (int i = 0; i < 1000; ++i) {
    const ValueId twice = toy.Op("Twice", {x});
    x = toy.Op("Sum", {x, twice});
    for (int k = 0; k < 8; ++k) x = toy.Op("Bump", {x});
  }
  toy.Output(x);
  ASSERT_OK(compiler::InferGraph(&toy.graph(), ToyOperators()));
  ASSERT_EQ(toy.graph().NodeIds().size(), 10000u);
  Pattern pattern = Pattern::Op(
      "toy.Sum",
      {Pattern::Op("toy.Twice", {Pattern::Any("x")}), Pattern::Any("x")});
  pattern.any_order = true;
  const auto start = std::chrono::steady_clock::now();
  const auto report = ir::ReplaceMatches(pattern, By("Heavy"), 1, &toy.graph());
  const std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  ASSERT_OK(report);
  EXPECT_EQ(report->replaced, 1000);
  EXPECT_EQ(toy.graph().NodeIds().size(), 9000u);
  EXPECT_LT(seconds.count(), 0.2);
  RecordProperty("milliseconds", static_cast<int>(seconds.count() * 1000));
}

}  // namespace
}  // namespace tim
