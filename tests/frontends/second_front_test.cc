// A second front in some 50 lines: shapes slowest-first, as most frameworks
// write them, and of unknown rank until they are specialised.  It stands on
// ir, ops, compiler, device and runtime; nothing of tim::vx is linked.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/options.h"
#include "compiler/compiler.h"
#include "device/host/host_device.h"
#include "device/opencl/opencl_device.h"
#include "ops/builtin.h"
#include "runtime/cache/program_cache.h"
#include "runtime/compile_options.h"
#include "runtime/execution_context.h"
#include "tests/support/status_macros.h"

namespace tim {
namespace {

// A float32 graph described slowest-first; shapes come with the data.
class Front {
 public:
  int Input() {
    const ir::ValueId id = graph_.AddValue(Float({}), ir::Role::kInput);
    graph_.value(id).desc.shape = ir::Shape();
    graph_.AddInput(id);
    return id;
  }
  int Constant(std::vector<int64_t> dims, const std::vector<float>& data) {
    return graph_.AddConstant(
        Float(std::move(dims)),
        ir::MakeConstant(data.data(), data.size() * sizeof(float)));
  }
  int Op(const char* name, std::vector<ir::ValueId> inputs,
         ir::AttributeMap attributes = {}) {
    const ir::ValueId output = graph_.AddValue(ir::TensorDesc());
    ir::Node node;
    node.name = name;
    node.schema = ops::BuiltinOperators().Find(name);
    node.attributes = std::move(attributes);
    node.inputs = std::move(inputs);
    node.outputs = {output};
    graph_.AddNode(std::move(node));
    return output;
  }
  void Output(int value) { graph_.AddOutput(value); }

  // Compiles for one input shape and runs once.
  Result<std::vector<float>> Run(std::vector<int64_t> dims,
                                 const std::vector<float>& input) const {
    TIM_ASSIGN_OR_RETURN(auto opencl,
                         device::CreateOpenClDevice(0, GetOptions().on_device));
    const auto host = device::CreateHostDevice();
    compiler::CompileOptions options =
        runtime::CompileOptionsFor(std::vector{host, opencl});
    options.strict = true;
    ir::Graph graph = graph_;
    graph.value(graph.inputs()[0]).desc = Float(std::move(dims));
    TIM_ASSIGN_OR_RETURN(
        ir::Plan plan,
        compiler::Compile(graph, ops::BuiltinOperators(), options));
    std::vector<float> output(*plan.outputs[0].desc.shape.NumElements());
    TIM_ASSIGN_OR_RETURN(
        auto executable,
        runtime::Executable::Create(std::move(plan), {host, opencl},
                                    runtime::ProgramCache::Create({})));
    TIM_ASSIGN_OR_RETURN(auto context,
                         runtime::ExecutionContext::Create(executable));
    const void* in[] = {input.data()};
    void* out[] = {output.data()};
    TIM_RETURN_IF_ERROR(context->Run(in, out, nullptr));
    return output;
  }

 private:
  static ir::TensorDesc Float(std::vector<int64_t> slowest_first) {
    std::reverse(slowest_first.begin(), slowest_first.end());
    ir::TensorDesc desc;
    desc.type = ir::DataType::kFloat32;
    desc.shape = ir::Shape(std::move(slowest_first));
    return desc;
  }

  ir::Graph graph_{"second front"};
};

// relu(conv3x3(x)) with a kernel that subtracts the left neighbour.
Front MakeExample() {
  Front front;
  const int w = front.Constant({1, 1, 3, 3}, {0, 0, 0, -1, 1, 0, 0, 0, 0});
  const int y = front.Op("tim.Conv2d", {front.Input(), w},
                         {{"padding", int64_t{2}},
                          {"stride", std::vector<int64_t>{1, 1}},
                          {"dilation", std::vector<int64_t>{1, 1}}});
  front.Output(front.Op("tim.Relu", {y}));
  return front;
}

TEST(SecondFront, RunsWithoutTheFacadeForTwoShapes) {
  const Front front = MakeExample();
  for (const int64_t width : {3, 7}) {
    for (int round = 0; round < 2; ++round) {
      std::vector<float> image(2 * width);
      for (size_t i = 0; i < image.size(); ++i) {
        image[i] = static_cast<float>((i * 5 + round) % 7);
      }
      const auto result = front.Run({1, 1, 2, width}, image);
      ASSERT_OK(result);
      for (size_t i = 0; i < image.size(); ++i) {
        const float left = i % width == 0 ? 0 : image[i - 1];
        EXPECT_EQ((*result)[i], std::max(0.0f, image[i] - left)) << i;
      }
    }
  }
}

}  // namespace
}  // namespace tim
