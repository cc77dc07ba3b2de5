#include "custom_ops/softmax_cl.h"

#include <stdexcept>
#include <tuple>

namespace tim {
namespace custom_ops {
namespace {

// One item = one row.
const char kSource[] = R"(
#define SOFTMAX(types, read)                                                 \
  __kernel void softmax_##types(__read_only image2d_t input,                 \
                                __write_only image2d_t output, float beta) { \
    const int n = get_global_id(0);                                          \
    const int count = get_image_width(input);                                \
    float largest = -INFINITY;                                               \
    for (int c = 0; c < count; ++c) {                                        \
      largest = fmax(largest, convert_float(read(input, (int2)(c, n)).x));   \
    }                                                                        \
    float sum = 0;                                                           \
    for (int c = 0; c < count; ++c) {                                        \
      const float x = convert_float(read(input, (int2)(c, n)).x);            \
      sum += exp(beta * (x - largest));                                      \
    }                                                                        \
    for (int c = 0; c < count; ++c) {                                        \
      const float x = convert_float(read(input, (int2)(c, n)).x);            \
      const float y = exp(beta * (x - largest)) / sum;                       \
      write_imagef(output, (int2)(c, n), (float4)(y, 0, 0, 0));              \
    }                                                                        \
  }

SOFTMAX(F32toF32, read_imagef)
SOFTMAX(U8toF32, read_imageui)
)";

}  // namespace

SoftmaxCl::SoftmaxCl(vx::Graph* graph, float beta)
    : CustomOpBase(graph, 1, 1, -1, "SoftmaxCl", {{"beta", beta}}),
      beta_(beta) {
  vx::ops::param_transform(std::make_tuple(beta), param_list_);
  kernel_resource_ = kSource;
}

std::shared_ptr<vx::Operation> SoftmaxCl::Clone(
    std::shared_ptr<vx::Graph>& graph) const {
  return graph->CreateOperation<SoftmaxCl>(beta_);
}

void SoftmaxCl::SetupShapeInfor() {
  if (inputs_size_[0].size() > 2) {
    throw std::invalid_argument("SoftmaxCl takes {C} or {C, N}, not rank " +
                                std::to_string(inputs_size_[0].size()));
  }
  outputs_size_[0] = inputs_size_[0];
}

void SoftmaxCl::SetupParams(std::vector<vx::DataType> input_types,
                            std::string&) {
  if (input_types[0] == vx::DataType::FLOAT32) {
    func_name_ = "softmax_F32toF32";
  } else if (input_types[0] == vx::DataType::UINT8) {
    func_name_ = "softmax_U8toF32";
  } else {
    throw std::invalid_argument("SoftmaxCl takes FLOAT32 or UINT8");
  }
}

void SoftmaxCl::SetupEnqueue(uint32_t& dim, std::vector<size_t>& gobal_size,
                             std::vector<size_t>&) {
  dim = 1;
  gobal_size[0] = inputs_size_[0].size() > 1 ? inputs_size_[0][1] : 1;
}

}  // namespace custom_ops
}  // namespace tim
