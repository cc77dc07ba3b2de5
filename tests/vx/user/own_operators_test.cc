// A context has one registry: schemas, kernels and attributes come from it.
#include "tests/support/vx/own_operators.h"

#include <gtest/gtest.h>

#include "ops/builtin.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using Values = std::vector<float>;

class ByKind : public vx::BuiltinOp {
 public:
  ByKind(vx::Graph* graph, uint32_t kind) : BuiltinOp(graph, kind, 1, 1) {}
  std::shared_ptr<vx::Operation> Clone(
      std::shared_ptr<vx::Graph>& graph) const override {
    return graph->CreateOperation<ByKind>(0u);
  }
};

// x -> `operation` -> y, for x = {1, -2}.
Values RunOne(vx::Graph& graph, vx::Operation& operation) {
  const Values values = {1, -2};
  const auto x = graph.CreateTensor(Floats({2}, vx::INPUT), values.data());
  const auto y = graph.CreateTensor(Floats({2}, vx::OUTPUT));
  operation.BindInput(x).BindOutput(y);
  EXPECT_TRUE(graph.Run()) << vx::LastError();
  return Read(y);
}

TEST(OwnOperators, AreFoundByTheirNames) {
  const auto graph = OwnContextOn("host")->CreateGraph();
  EXPECT_EQ(RunOne(*graph, *graph->CreateOperation<Pick>()), (Values{1, -2}));
}

TEST(OwnOperators, AreUnknownToOtherContexts) {
  const auto graph = HostGraph();
  const auto operation = graph->CreateOperation<Pick>();
  (*operation).BindInput(graph->CreateTensor(Floats({2}, vx::INPUT)));
  EXPECT_TRUE(CompileFailsWith(*graph, "none of the name 'own.Pick'"));
}

TEST(OwnOperators, AreFoundByTheirPlaceInTheList) {
  const auto schemas = OwnOperators().Schemas();
  uint32_t kind = 0;
  while (schemas[kind]->Key() != "own.Pick@1") ++kind;
  EXPECT_GT(kind, 0u);
  const auto graph = OwnContextOn("host")->CreateGraph();
  EXPECT_EQ(RunOne(*graph, *graph->CreateOperation<ByKind>(kind)),
            (Values{1, -2}));
}

// A second definition of tim.Relu: y = 3 x, with an attribute.
TEST(OwnOperators, ReplaceBuiltInOnesInTheirContextOnly) {
  ir::OpRegistry registry(&ops::BuiltinOperators());
  ir::OpSchema relu = PickSchema();
  relu.domain = "tim";
  relu.name = "Relu";
  relu.attributes = {{.name = "factor", .default_value = int64_t{3}}};
  relu.eval = [](const ir::EvalContext& context) {
    for (int i = 0; i < 2; ++i) {
      static_cast<float*>(context.outputs[0].data)[i] =
          static_cast<float>(context.attributes().Int("factor")) *
          static_cast<const float*>(context.inputs[0].data)[i];
    }
    return OkStatus();
  };
  registry.Add(relu);
  const auto own = OwnContextOn("host", registry)->CreateGraph();
  const auto operation = own->CreateOperation<vx::ops::Relu>();
  EXPECT_EQ(RunOne(*own, *operation), (Values{3, -6}));
  int factor = 0;
  EXPECT_TRUE(operation->GetAttribute("factor", &factor));
  EXPECT_EQ(factor, 3);
  const auto other = HostGraph();
  const auto builtin = other->CreateOperation<vx::ops::Relu>();
  EXPECT_EQ(RunOne(*other, *builtin), (Values{1, 0}));
  EXPECT_FALSE(builtin->GetAttribute("factor", &factor));
}

}  // namespace
}  // namespace tim::testing
