// FancyNorm by its definition, as ops of the library, on the host and as a
// kernel.
#include "tests/graph_api/fancy_norm.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tim::graph::testing {
namespace {

using lt = logical_tensor;
using dt = lt::data_type;

constexpr char kSource[] = R"(
__kernel void fancy_norm(__global const float* x, __global float* y, int n,
                         float epsilon) {
  const int row = (int)get_global_id(0) * n;
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += x[row + i] * x[row + i];
  const float scale = rsqrt(sum / n + epsilon);
  for (int i = 0; i < n; ++i) y[row + i] = x[row + i] * scale;
}
)";

}  // namespace

op_definition FancyNorm(const std::string& name) {
  op_definition definition;
  definition.domain = "demo";
  definition.name = name;
  definition.inputs = {{"x", {dt::f32}, false}};
  definition.outputs = {{"y", {dt::f32}, false}};
  definition.attributes = {{"epsilon", attribute_type::f32, false, 1e-5f, {}}};
  definition.same_types = {{"x", "y"}};
  definition.infer_shapes = [](infer_context& context) {
    if (context.input_ndims(0) < 0) return status::success;
    if (context.input_ndims(0) == 0) {
      return context.fail(status::invalid_shape, "a scalar has no last axis");
    }
    context.set_output_dims(0, context.input(0).get_dims());
    return status::success;
  };
  return definition;
}

status DecomposeFancyNorm(build_context& context) {
  const lt x = context.input(0);
  const float epsilon = context.get_attr<float>("epsilon");
  const int64_t last = static_cast<int64_t>(x.get_dims().size()) - 1;
  const lt square = context.make_tensor(dt::f32);
  const lt mean = context.make_tensor(dt::f32);
  const lt shifted = context.make_tensor(dt::f32);
  const lt root = context.make_tensor(dt::f32);
  const lt offset = context.make_constant(std::vector<float>{epsilon}, {1});
  context.add_op(op(0, op::kind::Square, {x}, {square}));
  op reduce(1, op::kind::ReduceMean, {square}, {mean});
  reduce.set_attr(op::attr::axes, lt::dims{last});
  reduce.set_attr(op::attr::keep_dims, true);
  context.add_op(reduce);
  context.add_op(op(2, op::kind::Add, {mean, offset}, {shifted}));
  context.add_op(op(3, op::kind::Sqrt, {shifted}, {root}));
  context.add_op(op(4, op::kind::Divide, {x, root}, {context.output(0)}));
  return status::success;
}

status FancyNormOnHost(host_context& context) {
  const lt::dims dims = context.input(0).get_dims();
  const float epsilon = context.get_attr<float>("epsilon");
  const float* x = context.input_data<float>(0);
  float* y = context.output_data<float>(0);
  const int64_t n = dims.back();
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < dims.size(); ++i) rows *= dims[i];
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    float sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += x[i] * x[i];
    const float root = std::sqrt(sum / static_cast<float>(n) + epsilon);
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] / root;
  }
  return status::success;
}

// Refuses a last axis of 5.
opencl_kernel FancyNormKernel() {
  opencl_kernel kernel;
  kernel.source = kSource;
  kernel.function = "fancy_norm";
  kernel.launch = [](kernel_context& context) {
    const lt::dims dims = context.input(0).get_dims();
    if (dims.back() == 5) {
      return context.fail(status::unimplemented, "no axis of 5");
    }
    size_t rows = 1;
    for (size_t i = 0; i + 1 < dims.size(); ++i) {
      rows *= static_cast<size_t>(dims[i]);
    }
    context.set_global_size({rows});
    context.add_scalar(dims.back());
    context.add_scalar(context.get_attr<float>("epsilon"));
    return status::success;
  };
  return kernel;
}

}  // namespace tim::graph::testing
