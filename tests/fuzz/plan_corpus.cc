// What a fuzzer of plans begins with.
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "binary/plan/plan_file.h"
#include "ir/constant.h"
#include "ir/graph.h"
#include "ir/op_schema.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/plan_operators.h"
#include "tests/support/plans/whole_plan.h"

namespace tim::testing {
namespace {

// x + constant.
ir::Graph Body() {
  ir::Graph graph("body");
  ir::TensorDesc desc;
  desc.type = ir::DataType::kFloat32;
  desc.shape = ir::Shape{16};
  const ir::ValueId x = graph.AddValue(desc, ir::Role::kInput, "x");
  const ir::ValueId y = graph.AddValue(desc, ir::Role::kTransient, "y");
  const std::string bytes(64, 'b');
  const ir::ValueId w = graph.AddConstant(
      desc, ir::MakeConstant(bytes.data(), bytes.size()), "w");
  graph.AddInput(x);
  graph.AddOutput(y);
  ir::Node node;
  node.name = "Inner#1";
  node.schema = BodyOperators().Find("fuzz.Inner");
  node.inputs = {x, w};
  node.outputs = {y};
  graph.AddNode(std::move(node));
  return graph;
}

ir::Plan WithBody() {
  ir::Plan plan = WholePlan();
  std::get<ir::HostCall>(plan.steps[kHost].action).body =
      std::make_shared<const ir::Graph>(Body());
  return plan;
}

// The whole plan without what a smaller one can do without.
ir::Plan OfSteps(int count) {
  ir::Plan plan = WholePlan();
  plan.steps.resize(static_cast<size_t>(count));
  if (count < 3) plan.chains.clear();
  return plan;
}

}  // namespace

const ir::OpRegistry& BodyOperators() {
  static const ir::OpRegistry* const operators = [] {
    auto* made = new ir::OpRegistry();
    made->Add(
        ir::OpSchema{.domain = "fuzz", .name = "Inner", .inputs = {1, 2}});
    return made;
  }();
  return *operators;
}

std::vector<std::vector<std::byte>> Corpus() {
  std::vector<std::vector<std::byte>> files;
  for (int steps = 0; steps <= 9; ++steps) {
    auto file = binary::WritePlan(OfSteps(steps));
    if (file.ok()) files.push_back(*std::move(file));
  }
  ir::Plan empty;
  empty.devices.resize(1);
  for (const ir::Plan& plan : {empty, WithBody()}) {
    auto file = binary::WritePlan(plan);
    if (file.ok()) files.push_back(*std::move(file));
  }
  return files;
}

}  // namespace tim::testing
