// Rules of gradients against those that JAX made (goldens/make_golden.py).
#include "tests/support/data/golden.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "compiler/differentiate.h"
#include "ir/evaluate.h"
#include "ops/builtin.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

std::vector<Golden> Cases() {
  const Result<std::string> folder = GoldensFolder();
  EXPECT_OK(folder);
  if (!folder.ok()) return {};
  Result<std::vector<Golden>> cases =
      LoadGoldens(*folder + "/../gradients/goldens");
  EXPECT_OK(cases);
  return cases.ok() ? *std::move(cases) : std::vector<Golden>();
}

// The node; inputs of the case behind its own are cotangents of its outputs.
ir::Graph GraphOf(const Golden& golden, std::vector<int>* wrt) {
  ir::Graph graph(golden.name);
  ir::Node node;
  node.name = golden.name;
  node.schema = ops::BuiltinOperators().Find(golden.op);
  node.attributes = golden.attributes;
  for (size_t i = 0; i + 1 < golden.inputs.size(); ++i) {
    const ir::TensorDesc& desc = golden.inputs[i]->desc;
    const ir::ValueId id = graph.AddValue(desc, ir::Role::kInput);
    graph.AddInput(id);
    node.inputs.push_back(id);
    if (ir::IsFloat(desc.type)) wrt->push_back(static_cast<int>(i));
  }
  ir::TensorDesc output;
  output.type = ir::DataType::kFloat32;
  node.outputs = {graph.AddValue(output)};
  graph.AddOutput(node.outputs[0]);
  graph.AddNode(std::move(node));
  return graph;
}

std::vector<float> FloatsOf(const TensorData& data) {
  std::vector<float> out(data.bytes.size() / sizeof(float));
  std::memcpy(out.data(), data.bytes.data(), data.bytes.size());
  return out;
}

void ExpectGradients(const Golden& golden) {
  std::vector<int> wrt;
  const ir::Graph graph = GraphOf(golden, &wrt);
  const auto vjp = compiler::Vjp(graph, ops::BuiltinOperators(), wrt);
  ASSERT_OK(vjp) << golden.name;
  std::vector<ir::ConstTensor> inputs;
  for (const auto& input : golden.inputs) {
    inputs.push_back({&input->desc, input->bytes.data()});
  }
  ASSERT_EQ(vjp->outputs().size(), golden.outputs.size()) << golden.name;
  std::vector<std::vector<float>> found;
  for (const TensorData& output : golden.outputs) {
    found.push_back(FloatsOf(output));
  }
  std::vector<ir::MutableTensor> outputs;
  for (size_t i = 0; i < found.size(); ++i) {
    outputs.push_back({&vjp->value(vjp->outputs()[i]).desc, found[i].data()});
    ASSERT_EQ(outputs[i].desc->shape, golden.outputs[i].desc.shape)
        << golden.name;
  }
  ASSERT_OK(ir::Evaluate(*vjp, inputs, outputs)) << golden.name;
  for (size_t i = 0; i < found.size(); ++i) {
    const std::vector<float> expected = FloatsOf(golden.outputs[i]);
    for (size_t k = 0; k < expected.size(); ++k) {
      ASSERT_LE(std::fabs(found[i][k] - expected[k]), golden.tolerance.absolute)
          << golden.name << ", gradient " << i << " at " << k << ": "
          << found[i][k] << ", expected " << expected[k];
    }
  }
}

TEST(GradientGoldens, AreReached) {
  const std::vector<Golden> cases = Cases();
  EXPECT_GE(cases.size(), 60u);
  for (const Golden& golden : cases) ExpectGradients(golden);
}

}  // namespace
}  // namespace tim::testing
