#include "tests/support/vx/test_op.h"

#include <gtest/gtest.h>

#include "tests/support/vx/vx_graph.h"

namespace tim::testing {

TestOp::TestOp(vx::Graph* graph, OpPlan plan,
               std::initializer_list<vx::NamedAttribute> attributes)
    : CustomOpBase(graph, plan.inputs, plan.outputs, -1, plan.name, attributes),
      plan_(std::move(plan)) {
  param_list_ = plan_.scalars;
  kernel_resource_ = plan_.source.c_str();
  if (plan_.construct) plan_.construct(*this);
}

std::shared_ptr<vx::Operation> TestOp::Clone(
    std::shared_ptr<vx::Graph>& graph) const {
  return graph->CreateOperation<TestOp>(plan_);
}

void TestOp::SetupTypes() {
  if (plan_.types) plan_.types(*this);
}

void TestOp::HostEval(const OpPlan::Inputs& inputs,
                      const OpPlan::Outputs& outputs) {
  plan_.host(*this, inputs, outputs);
}

void TestOp::SetupShapeInfor() {
  if (plan_.shapes) return plan_.shapes(*this);
  outputs_size_.assign(outputs_size_.size(), inputs_size_.at(0));
}

void TestOp::SetupParams(std::vector<vx::DataType> input_types,
                         std::string& build_option) {
  func_name_ = plan_.function.c_str();
  if (plan_.params) return plan_.params(*this, input_types, build_option);
  build_option = plan_.options;
}

void TestOp::SetupEnqueue(uint32_t& dim, std::vector<size_t>& gobal_size,
                          std::vector<size_t>& local_size) {
  if (plan_.enqueue) return plan_.enqueue(*this, dim, gobal_size, local_size);
  dim = 1;
  gobal_size[0] = 1;
  for (const uint32_t extent : outputs_size_[0]) gobal_size[0] *= extent;
}

std::shared_ptr<vx::Graph> OpenClGraph() {
  return ContextOn("opencl")->CreateGraph();
}

TestOpGraph::TestOpGraph(const OpPlan& plan, const vx::ShapeType& shape,
                         std::shared_ptr<vx::Graph> on)
    : graph(std::move(on)),
      x(graph->CreateTensor(Floats(shape, vx::INPUT))),
      y(graph->CreateTensor(Floats(shape, vx::OUTPUT))),
      op(graph->CreateOperation<TestOp>(plan)) {
  (*op).BindInput(x).BindOutput(y);
}

std::vector<float> TestOpGraph::Run(const std::vector<float>& values) {
  Write(x, values);
  EXPECT_TRUE(graph->Run()) << vx::LastError();
  return Read(y);
}

}  // namespace tim::testing
