#include "custom_ops/softmax_cl.h"

#include <algorithm>
#include <cmath>
#include <limits>
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

// The kernel for the host.
template <typename T>
void SoftmaxRow(const T* x, float* y, int64_t count, float beta) {
  float largest = -std::numeric_limits<float>::infinity();
  for (int64_t c = 0; c < count; ++c) {
    largest = std::fmax(largest, static_cast<float>(x[c]));
  }
  float sum = 0;
  for (int64_t c = 0; c < count; ++c) {
    y[c] = std::exp(beta * (static_cast<float>(x[c]) - largest));
    sum += y[c];
  }
  for (int64_t c = 0; c < count; ++c) y[c] /= sum;
}

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

void SoftmaxCl::HostEval(const std::vector<vx::ops::HostInput>& inputs,
                         const std::vector<vx::ops::HostOutput>& outputs) {
  const vx::TensorSpec& spec = inputs[0].spec;
  float* y = outputs[0].Data<float>();
  const int64_t row = spec.shape_[0];
  for (int64_t at = 0; at < spec.GetElementNum(); at += row) {
    if (spec.datatype_ == vx::DataType::UINT8) {
      SoftmaxRow(inputs[0].Data<uint8_t>() + at, y + at, row, beta_);
    } else {
      SoftmaxRow(inputs[0].Data<float>() + at, y + at, row, beta_);
    }
  }
}

}  // namespace custom_ops
}  // namespace tim
