// A client of the installed library: one graph, written as for TIM-VX.
#include <cstdio>
#include <vector>

#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/operation.h"
#include "tim/vx/ops.h"
#include "tim/vx/tensor.h"

int main() {
  auto context = tim::vx::Context::Create();
  auto graph = context->CreateGraph();
  const tim::vx::ShapeType shape({4});
  auto input = graph->CreateTensor(tim::vx::TensorSpec(
      tim::vx::DataType::FLOAT32, shape, tim::vx::TensorAttribute::INPUT));
  auto output = graph->CreateTensor(tim::vx::TensorSpec(
      tim::vx::DataType::FLOAT32, shape, tim::vx::TensorAttribute::OUTPUT));
  auto relu = graph->CreateOperation<tim::vx::ops::Relu>();
  (*relu).BindInput(input).BindOutput(output);

  const std::vector<float> data = {-1.0f, 2.0f, -3.0f, 4.0f};
  const std::vector<float> expected = {0.0f, 2.0f, 0.0f, 4.0f};
  std::vector<float> result(4, -1.0f);
  const bool ran = graph->Compile() &&
                   input->CopyDataToTensor(data.data(), 4 * sizeof(float)) &&
                   graph->Run() && output->CopyDataFromTensor(result.data());
  if (!ran || result != expected) {
    std::printf("relu: a call failed or the result is wrong\n");
    return 1;
  }
  std::printf("relu: ok\n");
  return 0;
}
