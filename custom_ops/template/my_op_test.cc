// Runs MyOp on four numbers and compares the result.
#include "my_op.h"

#include <cstdio>
#include <vector>

#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/tensor.h"

using tim::vx::DataType;
using tim::vx::TensorAttribute;
using tim::vx::TensorSpec;

int main() {
  auto context = tim::vx::Context::Create();
  auto graph = context->CreateGraph();
  auto x = graph->CreateTensor(
      TensorSpec(DataType::FLOAT32, {2, 2}, TensorAttribute::INPUT));
  auto y = graph->CreateTensor(
      TensorSpec(DataType::FLOAT32, {2, 2}, TensorAttribute::OUTPUT));
  graph->CreateOperation<MyOp>(0.5f)->BindInput(x).BindOutput(y);

  const std::vector<float> input = {-4, -1, 0, 2};
  const std::vector<float> expected = {-2, -0.5f, 0, 2};
  std::vector<float> result(4);
  if (!graph->Compile() || !x->CopyDataToTensor(input.data()) ||
      !graph->Run() || !y->CopyDataFromTensor(result.data())) {
    std::printf("FAIL MyOp: %s\n", tim::vx::LastError().c_str());
    return 1;
  }
  std::printf("%s MyOp\n", result == expected ? "PASS" : "FAIL");
  return result == expected ? 0 : 1;
}
