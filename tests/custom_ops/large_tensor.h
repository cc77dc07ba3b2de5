#ifndef TIM_TESTS_CUSTOM_OPS_LARGE_TENSOR_H_
#define TIM_TESTS_CUSTOM_OPS_LARGE_TENSOR_H_

#include <memory>

#include "tests/support/vx/vx_graph.h"
#include "tim/vx/ops.h"

namespace tim::testing {

/// A float32 tensor of any size, which no graph that fails to compile
/// allocates.
inline std::shared_ptr<vx::Tensor> LargeTensor(const vx::ShapeType& shape,
                                               vx::Graph* graph) {
  const vx::ShapeType ones(shape.size(), 1);
  const auto large = graph->CreateTensor(
      vx::TensorSpec(vx::DataType::FLOAT32, {}, vx::TRANSIENT));
  graph->CreateOperation<vx::ops::Broadcast>(shape)
      ->BindInput(graph->CreateTensor(Floats(ones, vx::INPUT)))
      .BindOutput(large);
  return large;
}

}  // namespace tim::testing

#endif  // TIM_TESTS_CUSTOM_OPS_LARGE_TENSOR_H_
