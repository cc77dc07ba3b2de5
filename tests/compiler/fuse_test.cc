// Fusion where chains meet: the sum goes to the chain that gains most by it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "tests/support/status_macros.h"
#include "tests/support/toy_ops.h"

namespace tim {
namespace {

using ::testing::Contains;
using testing::ToyGraph;
using testing::ToyOperators;

// Adds toy.<name>, alone 100 us, with toy.Sum behind it `fused`; it takes
// toy.Bump, too, at no cost.
void AddAdder(const std::string& name, double fused, ir::OpRegistry* registry) {
  ir::OpSchema schema = *ToyOperators().Find("toy.Twice");
  schema.name = name;
  registry->Add(schema);
  const ir::KernelDef twice = *ToyOperators().Kernels("toy.Twice", "opencl")[0];
  registry->Add(ir::PlainKernel{
      .op = "toy." + name,
      .name = name,
      .takes_epilogue = true,
      .analyze = [](const ir::KernelNode&,
                    const ir::DeviceInfo&) { return OkStatus(); },
      .cost =
          [fused](const ir::KernelNode& node, const ir::DeviceInfo&) {
            const bool sums = !node.epilogue.empty() &&
                              node.epilogue.back().node->schema->name == "Sum";
            return sums ? fused : 100.0;
          },
      .lower = [twice](const ir::KernelNode& node,
                       const ir::DeviceInfo& device) -> Result<ir::Lowering> {
        TIM_ASSIGN_OR_RETURN(const ir::KernelProblem problem,
                             twice.analyze(node, device));
        TIM_ASSIGN_OR_RETURN(ir::Lowering lowering,
                             twice.lower(problem, node, device));
        lowering.applied = static_cast<int>(node.epilogue.size());
        return lowering;
      }});
}

class FuseJoins : public ::testing::Test {
 protected:
  FuseJoins() {
    AddAdder("Good", 101, &registry_);
    AddAdder("Poor", 105, &registry_);
    AddAdder("Same", 101, &registry_);
    AddAdder("Never", 1000, &registry_);
  }

  // Nodes of the plan of sum(first(x), bump(second(x))).
  std::vector<std::string> Nodes(const std::string& first,
                                 const std::string& second) {
    ToyGraph toy;
    const ir::ValueId x = toy.Input({8});
    const ir::ValueId a = Op(toy, first, x);
    const ir::ValueId b = toy.Op("Bump", {Op(toy, second, x)});
    toy.Output(toy.Op("Sum", {a, b}));
    const auto plan =
        compiler::Compile(toy.graph(), registry_, testing::ToyOptions());
    EXPECT_OK(plan);
    std::vector<std::string> names;
    if (!plan.ok()) return names;
    for (const ir::Decision& decision : plan->decisions) {
      names.push_back(decision.node);
    }
    return names;
  }

 private:
  ir::ValueId Op(ToyGraph& toy, const std::string& name, ir::ValueId x) const {
    const ir::ValueId y = toy.Op("Twice", {x});
    ir::Graph& graph = toy.graph();
    ir::Node& node = graph.node(graph.value(y).producer);
    node.schema = registry_.Find("toy." + name);
    node.name = name;
    return y;
  }

  ir::OpRegistry registry_{&ToyOperators()};
};

TEST_F(FuseJoins, TheChainThatGainsMostTakesTheSum) {
  EXPECT_THAT(Nodes("Poor", "Good"), Contains("Good+Bump#2+Sum#3"));
  EXPECT_THAT(Nodes("Good", "Poor"), Contains("Good+Sum#3"));
}

TEST_F(FuseJoins, OfEqualChainsTheFirstTakesIt) {
  EXPECT_THAT(Nodes("Same", "Good"), Contains("Same+Sum#3"));
  EXPECT_THAT(Nodes("Good", "Same"), Contains("Good+Sum#3"));
}

TEST_F(FuseJoins, AChainThatLosesByItIsNotAsked) {
  EXPECT_THAT(Nodes("Never", "Poor"), Contains("Poor+Bump#2+Sum#3"));
  EXPECT_THAT(Nodes("Never", "Never"), Contains("Sum#3"));
}

}  // namespace
}  // namespace tim
