// An operation that was registered with the partition front is an operator of
// tim::vx by its name.
#include <gtest/gtest.h>

#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <vector>

#include "tim/graph/extension.hpp"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/named_op.h"
#include "tim/vx/ops/simple_operations.h"
#include "tim/vx/tensor.h"

namespace tim {
namespace {

using vx::NamedAttribute;
using Attributes = std::initializer_list<NamedAttribute>;
using FloatList = std::vector<float>;

// y = factor * x
graph::op_definition Scaled(const char* name) {
  using graph::status;
  graph::op_definition definition;
  definition.domain = "demo";
  definition.name = name;
  definition.inputs = {{"x", {graph::logical_tensor::data_type::f32}, false}};
  definition.outputs = {{"y", {graph::logical_tensor::data_type::f32}, false}};
  definition.attributes = {
      {"factor", graph::attribute_type::f32, false, 2.0f, {}}};
  definition.infer_shapes = [](graph::infer_context& context) {
    const graph::logical_tensor x = context.input(0);
    if (context.input_ndims(0) < 0) return status::success;
    // Slow-first: the last axis of {W, H} = {3, 2} has 3 elements.
    if (x.get_dims() != graph::logical_tensor::dims{2, 3}) {
      return context.fail(status::invalid_shape, "expected {2, 3}");
    }
    context.set_output_dims(0, x.get_dims());
    return status::success;
  };
  return definition;
}

graph::status OnHost(graph::host_context& context) {
  const float factor = context.get_attr<float>("factor");
  const float* x = context.input_data<float>(0);
  float* y = context.output_data<float>(0);
  for (int i = 0; i < 6; ++i) y[i] = x[i] * factor;
  return graph::status::success;
}

// Abs, then the operator of the name; empty where it does not compile.
FloatList Ran(const char* name, Attributes attributes,
              const vx::ShapeType& shape = {3, 2}) {
  const auto context = vx::Context::Create();
  const auto graph = context->CreateGraph();
  const auto make = [&](vx::TensorAttribute attribute) {
    return graph->CreateTensor(
        vx::TensorSpec(vx::DataType::FLOAT32, shape, attribute));
  };
  const auto x = make(vx::TensorAttribute::INPUT);
  const auto between = make(vx::TensorAttribute::TRANSIENT);
  const auto y = make(vx::TensorAttribute::OUTPUT);
  (*graph->CreateOperation<vx::ops::Abs>()).BindInput(x).BindOutput(between);
  (*graph->CreateOperation<vx::ops::Named>(name, attributes))
      .BindInput(between)
      .BindOutput(y);
  if (!graph->Compile()) return {};
  const FloatList in = {1, -2, 3, -4, 5, -6};
  FloatList out(6);
  x->CopyDataToTensor(in.data(), in.size() * sizeof(float));
  if (!graph->Run()) return {};
  y->CopyDataFromTensor(out.data());
  return out;
}

// An operator that has a host reference alone runs there, beside a device too.
const int kIsLenient = setenv("TIMCL_STRICT", "0", 1);

TEST(RegisteredOperator, IsFoundByNameFromTheOtherFront) {
  ASSERT_EQ(kIsLenient, 0);
  graph::op_definition definition = Scaled("Scaled");
  definition.host = OnHost;
  graph::register_op(definition);
  EXPECT_EQ(Ran("demo.Scaled", {}), (FloatList{2, 4, 6, 8, 10, 12}));
  EXPECT_EQ(Ran("demo.Scaled@1", {{"factor", -1.0f}}),
            (FloatList{-1, -2, -3, -4, -5, -6}));
  EXPECT_EQ(Ran("demo.Scaled@2", {}), FloatList());
  EXPECT_EQ(Ran("demo.Other", {}), FloatList());
  EXPECT_EQ(Ran("demo.Scaled", {{"unknown", 1.0f}}), FloatList());
  EXPECT_EQ(Ran("demo.Scaled", {}, {2, 3}), FloatList());
}

TEST(RegisteredOperator, OfTheLibraryIsFoundToo) {
  EXPECT_EQ(Ran("Neg", {}), (FloatList{-1, -2, -3, -4, -5, -6}));
}

TEST(RegisteredOperator, IsDecomposedAndRunByKernels) {
  graph::op_definition definition = Scaled("Composed");
  definition.infer_shapes = nullptr;
  definition.decompose = [](graph::build_context& context) {
    using graph::op;
    const graph::logical_tensor factor = context.make_constant(
        FloatList{context.get_attr<float>("factor")}, {1});
    context.add_op(op(0, op::kind::Multiply, {context.input(0), factor},
                      {context.output(0)}));
    return graph::status::success;
  };
  graph::register_op(definition);
  EXPECT_EQ(Ran("demo.Composed", {{"factor", 3.0f}}),
            (FloatList{3, 6, 9, 12, 15, 18}));
  graph::op_definition own = Scaled("Kernel");
  own.host = OnHost;
  own.kernel.source =
      "__kernel void scale(__global const float* x, __global float* y,\n"
      "                    float factor) {\n"
      "  const int i = get_global_id(0);\n"
      "  y[i] = x[i] * factor;\n"
      "}\n";
  own.kernel.function = "scale";
  own.kernel.launch = [](graph::kernel_context& context) {
    context.add_scalar(context.get_attr<float>("factor"));
    return graph::status::success;
  };
  graph::register_op(own);
  EXPECT_EQ(Ran("demo.Kernel", {{"factor", 4.0f}}),
            (FloatList{4, 8, 12, 16, 20, 24}));
  graph::register_expression("demo", "Text", "op t(X) -> (O) { O = X + 1.0; }");
  EXPECT_EQ(Ran("demo.Text", {}), (FloatList{2, 3, 4, 5, 6, 7}));
}

}  // namespace
}  // namespace tim
