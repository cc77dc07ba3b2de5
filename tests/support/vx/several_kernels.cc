#include "tests/support/vx/several_kernels.h"

#include <gtest/gtest.h>

#include <tuple>

#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

constexpr uint32_t kGroup = 64;

constexpr char kSum[] =
    "__kernel void partial_sums(__global const float* x, __global float* y,\n"
    "                           __global float* partial,\n"
    "                           __local float* lanes, uint n) {\n"
    "  const size_t i = get_local_id(0);\n"
    "  lanes[i] = get_global_id(0) < n ? x[get_global_id(0)] : 0;\n"
    "  for (size_t k = get_local_size(0) / 2; k > 0; k /= 2) {\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (i < k) lanes[i] += lanes[i + k];\n"
    "  }\n"
    "  if (i == 0) partial[get_group_id(0)] = lanes[0];\n"
    "}\n"
    "__kernel void total(__global const float* partial, __global float* y) {\n"
    "  float sum = 0;\n"
    "  for (int i = 0; i < TIM_SIZE_SCRATCH0_0; ++i) sum += partial[i];\n"
    "  y[0] = sum;\n"
    "}\n";

}  // namespace

OpPlan SumPlan() {
  using vx::ops::KernelArg;
  OpPlan plan;
  plan.source = kSum;
  plan.function = "partial_sums";
  plan.shapes = [](OpPlan::Op& op) { op.outputs_size_[0] = {1}; };
  plan.params = [](OpPlan::Op& op, auto&&...) {
    const uint32_t n = op.inputs_size_[0][0];
    op.AddScratch(vx::DataType::FLOAT32, {(n + kGroup - 1) / kGroup});
    op.AddLocal(kGroup * sizeof(float));
    vx::ops::param_transform(std::make_tuple(n), op.param_list_);
  };
  plan.enqueue = [](OpPlan::Op& op, uint32_t& dim, OpPlan::Sizes& global,
                    OpPlan::Sizes& local) {
    dim = 1;
    global[0] = gpu_align(op.inputs_size_[0][0], kGroup);
    local[0] = kGroup;
    op.AddKernel("total", {1}, {},
                 {KernelArg::Scratch(0), KernelArg::Output(0)});
  };
  return plan;
}

SumGraph::SumGraph(uint32_t count)
    : graph(OpenClGraph()),
      x(graph->CreateTensor(Floats({count}, vx::INPUT))),
      y(graph->CreateTensor(Floats({1}, vx::OUTPUT))),
      op(graph->CreateOperation<TestOp>(SumPlan())) {
  (*op).BindInput(x).BindOutput(y);
}

std::vector<float> SumGraph::Run(const std::vector<float>& values) {
  Write(x, values);
  EXPECT_TRUE(graph->Run()) << vx::LastError();
  return Read(y);
}

}  // namespace tim::testing
