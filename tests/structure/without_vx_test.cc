// A program of ir + ops + compiler + device + runtime runs a graph: nothing
// below the tim::vx facade needs it. (Bazel links this test without src/vx.)
#include <gtest/gtest.h>

#include <array>

#include "compiler/compiler.h"
#include "device/host/host_device.h"
#include "ops/builtin.h"
#include "runtime/cache/program_cache.h"
#include "runtime/execution_context.h"

namespace tim::structure {
namespace {

TEST(WithoutVx, CompilesAndRunsAGraph) {
  ir::TensorDesc desc;
  desc.type = ir::DataType::kFloat32;
  desc.shape = ir::Shape{4};
  ir::Graph graph("without_vx");
  const ir::ValueId input = graph.AddValue(desc, ir::Role::kInput, "input");
  const ir::ValueId output = graph.AddValue(desc);
  ir::Node relu;
  relu.name = "relu";
  relu.schema = ops::BuiltinOperators().Find("tim.Relu");
  ASSERT_NE(relu.schema, nullptr);
  relu.inputs = {input};
  relu.outputs = {output};
  graph.AddNode(std::move(relu));
  graph.AddInput(input);
  graph.AddOutput(output);

  const std::shared_ptr<device::Device> host = device::CreateHostDevice();
  compiler::CompileOptions options;
  options.devices = {host->info()};
  Result<ir::Plan> plan =
      compiler::Compile(std::move(graph), ops::BuiltinOperators(), options);
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  auto executable = runtime::Executable::Create(
      *std::move(plan), {host}, runtime::ProgramCache::Create({}));
  ASSERT_TRUE(executable.ok()) << executable.status().ToString();
  auto context = runtime::ExecutionContext::Create(*executable);
  ASSERT_TRUE(context.ok()) << context.status().ToString();

  const std::array<float, 4> data = {-1, 2, -3, 4};
  std::array<float, 4> result = {};
  const void* const inputs[] = {data.data()};
  void* const outputs[] = {result.data()};
  const Status status = (*context)->Run(inputs, outputs, nullptr);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(result, (std::array<float, 4>{0, 2, 0, 4}));
}

}  // namespace
}  // namespace tim::structure
