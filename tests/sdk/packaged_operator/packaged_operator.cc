// A client of the library of custom operators, which pkg-config finds.
#include <cstdio>
#include <vector>

#include "tim/custom_ops/hswish.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"

int main() {
  using namespace tim::vx;
  auto graph = Context::Create()->CreateGraph();
  auto x = graph->CreateTensor({DataType::FLOAT32, {4}, INPUT});
  auto y = graph->CreateTensor({DataType::FLOAT32, {4}, OUTPUT});
  graph->CreateOperation<tim::custom_ops::HSwish>()->BindInput(x).BindOutput(y);
  std::vector<float> data = {-3, 0, 3, 6};
  x->CopyDataToTensor(data.data());
  if (!graph->Run()) return std::puts(LastError().c_str()), 1;
  y->CopyDataFromTensor(data.data());
  for (const float value : data) std::printf("%g ", value);  // 0 0 3 6
  std::puts("");
  return data[0] == 0 && data[2] == 3 && data[3] == 6 ? 0 : 1;
}
