// y = relu(x + bias) for two rows of three numbers.
#include <cstdio>
#include <vector>

#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/ops.h"

using namespace tim::vx;

int main() {
  const std::vector<float> bias = {-1, 0, 1};
  auto context = Context::Create();
  auto graph = context->CreateGraph();
  // Shapes list the fastest-varying dimension first: [columns, rows].
  auto x = graph->CreateTensor({DataType::FLOAT32, {3, 2}, INPUT});
  auto b = graph->CreateTensor({DataType::FLOAT32, {3}, CONSTANT}, bias.data());
  auto sum = graph->CreateTensor({DataType::FLOAT32, {}, TRANSIENT});
  auto y = graph->CreateTensor({DataType::FLOAT32, {3, 2}, OUTPUT});
  (*graph->CreateOperation<ops::Add>()).BindInputs({x, b}).BindOutput(sum);
  (*graph->CreateOperation<ops::Relu>()).BindInput(sum).BindOutput(y);
  std::vector<float> data = {0.5f, -2, 3, 4, 5, -6};
  x->CopyDataToTensor(data.data());
  if (!graph->Run()) return std::puts(LastError().c_str()), 1;
  y->CopyDataFromTensor(data.data());
  for (float value : data) std::printf("%g ", value);  // 0 0 4 3 5 0
}
