// Every operator through the bridge in both directions, on operands of which
// independent programs know the results.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "tests/support/data/golden.h"
#include "tests/support/status_macros.h"
#include "tests/support/vx/vx_graph.h"
#include "tim/values/values.h"
#include "tim/values/vx_bridge.h"
#include "values/access.h"
#include "values/conversion.h"
#include "values/graph_state.h"

namespace tim::testing {
namespace {

using values::Value;

const bool g_on_host = [] {
  setenv("TIMCL_DEVICE", "host", 1);
  setenv("TIMCL_LOG", "error", 1);  // goldens have doubtful attributes, too
  return true;
}();

bool IsDense(const Golden& golden) {
  for (const auto& input : golden.inputs) {
    if (input && !input->desc.layout.dense()) return false;
  }
  for (const TensorData& output : golden.outputs) {
    if (!output.desc.layout.dense()) return false;
  }
  return true;
}

// The operator as a graph of values.
values::Graph GraphOf(const Golden& golden) {
  auto node = MakeNode(golden);
  EXPECT_OK(node) << golden.name;
  if (!node.ok()) return values::Graph();
  node->graph.node(node->node).composite = nullptr;
  auto state = values::internal::GraphState::Import(node->graph);
  EXPECT_OK(state) << golden.name;
  if (!state.ok()) return values::Graph();
  return values::internal::Access::Make<values::Graph>(*std::move(state));
}

void ExpectGolden(const Golden& golden, size_t index, const void* data,
                  const char* where) {
  const TensorData& expected = golden.outputs[index];
  TensorData found{expected.desc, {}};
  const auto* bytes = static_cast<const std::byte*>(data);
  found.bytes.assign(bytes, bytes + expected.bytes.size());
  EXPECT_OK(CompareTensors(expected, found, golden.tolerance))
      << golden.name << " output " << index << " " << where;
}

void ExpectVx(const Golden& golden, vx::Graph& graph) {
  const auto inputs = graph.InputsTensor();
  const std::vector<TensorData> data = golden.VariableInputs();
  ASSERT_EQ(inputs.size(), data.size()) << golden.name;
  for (size_t i = 0; i < inputs.size(); ++i) {
    ASSERT_TRUE(inputs[i]->CopyDataToTensor(data[i].bytes.data()));
  }
  ASSERT_TRUE(graph.Run()) << golden.name << ": " << graph.ErrorMessage();
  const auto outputs = graph.OutputsTensor();
  ASSERT_EQ(outputs.size(), golden.outputs.size()) << golden.name;
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::vector<std::byte> bytes(golden.outputs[i].bytes.size());
    ASSERT_EQ(static_cast<size_t>(outputs[i]->GetSpec().GetByteSize()),
              bytes.size())
        << golden.name;
    ASSERT_TRUE(outputs[i]->CopyDataFromTensor(bytes.data()));
    ExpectGolden(golden, i, bytes.data(), "in tim::vx");
  }
}

void ExpectValues(const Golden& golden, const values::Graph& graph) {
  ASSERT_TRUE(graph.ok()) << golden.name << ": " << graph.error();
  std::vector<Value> inputs;
  for (const TensorData& input : golden.VariableInputs()) {
    inputs.push_back(Value::FromHost(
        values::internal::ToSpec(input.desc, false), input.bytes.data()));
  }
  const values::Outputs outputs = graph.Call(inputs);
  ASSERT_EQ(outputs.size(), golden.outputs.size())
      << golden.name << ": " << outputs.error();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const values::Plain plain = outputs[i].ToPlain();
    ASSERT_EQ(plain.bytes, golden.outputs[i].bytes.size())
        << golden.name << ": " << values::LastError();
    ExpectGolden(golden, i, plain.data.get(), "back in values");
  }
}

TEST(VxBridge, EveryOperatorGoesThereAndBack) {
  const auto goldens = LoadAllGoldens();
  ASSERT_OK(goldens);
  const auto context = HostContext();
  std::set<std::string> operators;
  for (const Golden& golden : *goldens) {
    if (!IsDense(golden)) continue;
    const values::Graph graph = GraphOf(golden);
    const auto vx = values::ToVxGraph(graph, context);
    ASSERT_NE(vx, nullptr) << golden.name << ": " << values::LastError();
    ExpectVx(golden, *vx);
    ExpectValues(golden, values::FromVxGraph(vx));
    operators.insert(golden.op);
  }
  EXPECT_GT(operators.size(), 100u);
}

}  // namespace
}  // namespace tim::testing
