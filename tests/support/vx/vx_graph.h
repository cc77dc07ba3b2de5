// Short forms for tests that build graphs through the public API.
#ifndef TIM_TESTS_SUPPORT_VX_VX_GRAPH_H_
#define TIM_TESTS_SUPPORT_VX_VX_GRAPH_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/ops.h"
#include "tim/vx/tensor.h"

namespace tim::testing {

/// A context on the host alone.
std::shared_ptr<vx::Context> HostContext();
/// On "host" or "opencl[:n]"; null where that is not there.
std::shared_ptr<vx::Context> ContextOn(const std::string& device);

/// An empty graph on the host.
std::shared_ptr<vx::Graph> HostGraph();

/// Spec of a float32 tensor.
inline vx::TensorSpec Floats(const vx::ShapeType& shape,
                             vx::TensorAttribute attribute) {
  return vx::TensorSpec(vx::DataType::FLOAT32, shape, attribute);
}

/// The whole content; `T` is as wide as the tensor's elements.
template <typename T = float>
std::vector<T> Read(const std::shared_ptr<vx::Tensor>& tensor) {
  std::vector<T> values(static_cast<size_t>(tensor->GetSpec().GetElementNum()));
  EXPECT_TRUE(tensor->CopyDataFromTensor(values.data())) << vx::LastError();
  return values;
}

template <typename T>
void Write(const std::shared_ptr<vx::Tensor>& tensor,
           const std::vector<T>& values) {
  EXPECT_TRUE(tensor->CopyDataToTensor(values.data())) << vx::LastError();
}

/// INPUT -> Relu -> OUTPUT, all float32.
struct ReluGraph {
  explicit ReluGraph(const vx::ShapeType& shape = {4},
                     std::shared_ptr<vx::Graph> on = HostGraph());

  std::shared_ptr<vx::Graph> graph;
  std::shared_ptr<vx::Tensor> input;
  std::shared_ptr<vx::Tensor> output;
  std::shared_ptr<vx::ops::Relu> relu;
};

/// The graph does not compile, and both error accessors say `text`.
::testing::AssertionResult CompileFailsWith(vx::Graph& graph,
                                            const std::string& text);

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_VX_VX_GRAPH_H_
