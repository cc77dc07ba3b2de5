#include "threshold.h"

namespace sdk_app {
namespace {

constexpr char kSource[] = R"(
__kernel void threshold(__global const float* in, __global float* out,
                        float limit, float below, int count) {
  const int i = get_global_id(0);
  if (i < count) out[i] = in[i] > limit ? in[i] : below * in[i];
}
)";

}  // namespace

Threshold::Threshold(tim::vx::Graph* graph, float limit, float below)
    : CustomOpBase(graph, 1, 1, -1, "sdk_app.Threshold"),
      scalars_(limit, below, 0) {
  tim::vx::ops::param_transform(scalars_, param_list_);
  kernel_resource_ = kSource;
}

std::shared_ptr<tim::vx::Operation> Threshold::Clone(
    std::shared_ptr<tim::vx::Graph>& graph) const {
  return graph->CreateOperation<Threshold>(std::get<0>(scalars_),
                                           std::get<1>(scalars_));
}

void Threshold::SetupShapeInfor() { outputs_size_[0] = inputs_size_[0]; }

void Threshold::SetupParams(std::vector<tim::vx::DataType>, std::string&) {
  func_name_ = "threshold";
  int32_t count = 1;
  for (const uint32_t extent : inputs_size_[0]) {
    count *= static_cast<int32_t>(extent);
  }
  param_list_[2].data.i = count;
}

void Threshold::SetupEnqueue(uint32_t& dim, std::vector<size_t>& global_size,
                             std::vector<size_t>&) {
  dim = 1;
  global_size[0] = static_cast<size_t>(param_list_[2].data.i);
}

}  // namespace sdk_app
