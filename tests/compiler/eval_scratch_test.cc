// What eval steps allocate, in the memory report of a plan.
#include <gtest/gtest.h>

#include <memory>

#include "tests/support/pinned_nodes.h"
#include "tests/support/status_macros.h"
#include "tests/support/toy_ops.h"

namespace tim {
namespace {

using testing::ToyGraph;
using testing::ToyOperators;

constexpr int64_t kScratch = 1000;
constexpr int64_t kBytes = 16 * 4;  // of a tensor

// toy.Slow, which has no kernel, with scratch of `factor` * kScratch bytes.
class Slow {
 public:
  explicit Slow(std::vector<int> factors) {
    for (const int factor : factors) {
      ir::OpSchema schema = *ToyOperators().Find("toy.Slow");
      schema.name = StrCat("Slow", factor);
      schema.memory_estimate = [factor](const ir::NodeView&) {
        return factor * kScratch;
      };
      registry_.Add(schema);
    }
  }

  ir::ValueId Add(ToyGraph& toy, ir::ValueId x, int factor) {
    const ir::ValueId y = toy.Op("Slow", {x});
    ir::Graph& graph = toy.graph();
    graph.node(graph.value(y).producer).schema =
        registry_.Find(StrCat("toy.Slow", factor));
    return y;
  }

  Result<ir::Plan> Compile(ToyGraph& toy,
                           const compiler::CompileOptions& options) {
    return compiler::Compile(toy.graph(), registry_, options);
  }

 private:
  ir::OpRegistry registry_{&ToyOperators()};
};

TEST(EvalScratch, KernelsNeedNone) {
  ToyGraph toy;
  toy.Output(toy.Op("Twice", {toy.Input({16})}));
  const Result<ir::Plan> plan = toy.Compile();
  ASSERT_OK(plan);
  EXPECT_EQ(plan->memory.eval_scratch, 0);
}

TEST(EvalScratch, IsTheMostOfTheStepsOfADevice) {
  Slow slow({1, 2, 3});
  ToyGraph toy;
  ir::ValueId x = toy.Input({16});
  for (const int factor : {1, 3, 2}) x = slow.Add(toy, x, factor);
  toy.Output(x);
  const Result<ir::Plan> plan = slow.Compile(toy, testing::ToyOptions());
  ASSERT_OK(plan);
  EXPECT_EQ(plan->memory.eval_scratch, 3 * kScratch);
  EXPECT_NE(ir::Dump(*plan).find(" eval_scratch 3000\n"), std::string::npos);
}

TEST(EvalScratch, AddsUpOverDevices) {
  Slow slow({1, 3});
  ToyGraph toy;
  const ir::ValueId x = slow.Add(toy, toy.Input({16}), 1);
  toy.Output(slow.Add(toy, x, 3));
  compiler::CompileOptions options = testing::ToyOptions();
  options.devices[1].runs_eval = true;
  testing::PinNodes(toy.graph(), [](const ir::Node& node) {
    return node.schema->name == "Slow3" ? 1 : 0;
  });
  const Result<ir::Plan> plan = slow.Compile(toy, options);
  ASSERT_OK(plan);
  EXPECT_EQ(plan->memory.eval_scratch, 4 * kScratch);
}

// A composite that the host evaluates keeps what its body has made so far.
TEST(EvalScratch, CountsTheValuesOfABody) {
  Slow slow({2, 3});
  ToyGraph body("body");
  const ir::ValueId x = body.Input(ir::Shape());
  body.Output(slow.Add(body, slow.Add(body, x, 3), 2));
  auto composite = std::make_shared<ir::Composite>();
  composite->name = "toy.Whole";
  composite->body = body.graph();
  ToyGraph toy;
  ir::Node node;
  node.name = "Whole#0";
  node.inputs = {toy.Input({16})};
  node.outputs = {toy.graph().AddValue(ir::TensorDesc())};
  node.composite = composite;
  toy.Output(node.outputs[0]);
  toy.graph().AddNode(std::move(node));
  // A kernel claims it, but it must run on the host.
  ir::OpRegistry registry(&ToyOperators());
  ir::KernelDef claim = *ToyOperators().Kernels("toy.Twice", "opencl")[0];
  claim.op = "toy.Whole";
  claim.name = "whole";
  registry.Add(claim);
  testing::PinNodes(toy.graph(), [](const ir::Node&) { return 0; });
  const Result<ir::Plan> plan =
      compiler::Compile(toy.graph(), registry, testing::ToyOptions());
  ASSERT_OK(plan);
  ASSERT_EQ(plan->decisions.size(), 1u);
  EXPECT_EQ(plan->memory.eval_scratch, kBytes + 3 * kScratch);
}

}  // namespace
}  // namespace tim
