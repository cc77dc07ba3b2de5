#include "custom_ops/gemm.h"

#include <stdexcept>
#include <tuple>

namespace tim {
namespace custom_ops {
namespace {

// One item = one element of C, global id (n, m).  Required: TRANS_A, TRANS_B.
const char kSource[] = R"(
#pragma OPENCL FP_CONTRACT OFF

#ifndef TRANS_A
#define TRANS_A 0
#endif
#ifndef TRANS_B
#define TRANS_B 0
#endif

#define AT_A(m, k) (TRANS_A ? (int2)((m), (k)) : (int2)((k), (m)))
#define AT_B(k, n) (TRANS_B ? (int2)((k), (n)) : (int2)((n), (k)))

__kernel void gemm_F32F32toF32(__read_only image2d_t a,
                               __read_only image2d_t b,
                               __write_only image2d_t c, int M, int K, int N,
                               int zeroPointA, int zeroPointB, int zeroPointC,
                               float scale) {
  const int n = get_global_id(0);
  const int m = get_global_id(1);
  float sum = 0;
  for (int k = 0; k < K; ++k) {
    sum += (read_imagef(a, AT_A(m, k)).x - zeroPointA) *
           (read_imagef(b, AT_B(k, n)).x - zeroPointB);
  }
  write_imagef(c, (int2)(n, m), (float4)(sum * scale + zeroPointC, 0, 0, 0));
}

__kernel void gemm_U8U8toU8(__read_only image2d_t a, __read_only image2d_t b,
                            __write_only image2d_t c, int M, int K, int N,
                            int zeroPointA, int zeroPointB, int zeroPointC,
                            float scale) {
  const int n = get_global_id(0);
  const int m = get_global_id(1);
  int sum = 0;
  for (int k = 0; k < K; ++k) {
    sum += ((int)read_imageui(a, AT_A(m, k)).x - zeroPointA) *
           ((int)read_imageui(b, AT_B(k, n)).x - zeroPointB);
  }
  const float code = convert_float_rte(sum) * scale + zeroPointC;
  write_imageui(c, (int2)(n, m), (uint4)(convert_uchar_sat_rte(code), 0, 0, 0));
}
)";

// Of param_list_, known when the shapes are.
enum Scalar { kM, kK, kN };

}  // namespace

constexpr uint32_t Gemm::kMaxQuantizedK;

Gemm::Gemm(vx::Graph* graph, bool transA, bool transB,
           Quantization quantization)
    : CustomOpBase(graph, 2, 1, -1, "Gemm",
                   {{"transA", transA},
                    {"transB", transB},
                    {"zeroPointA", quantization.zeroPointA},
                    {"zeroPointB", quantization.zeroPointB},
                    {"zeroPointC", quantization.zeroPointC},
                    {"scale", quantization.scale}}),
      trans_a_(transA),
      trans_b_(transB),
      quantization_(quantization) {
  const auto sizes = std::make_tuple(0, 0, 0);
  vx::ops::param_transform(sizes, param_list_);
  vx::ops::param_transform(
      std::make_tuple(quantization.zeroPointA, quantization.zeroPointB,
                      quantization.zeroPointC, quantization.scale),
      param_list_);
  kernel_resource_ = kSource;
}

std::shared_ptr<vx::Operation> Gemm::Clone(
    std::shared_ptr<vx::Graph>& graph) const {
  return graph->CreateOperation<Gemm>(trans_a_, trans_b_, quantization_);
}

void Gemm::SetupShapeInfor() {
  const vx::ShapeType& a = inputs_size_[0];
  const vx::ShapeType& b = inputs_size_[1];
  if (a.size() != 2 || b.size() != 2) {
    throw std::invalid_argument("Gemm takes tensors of rank 2, not " +
                                std::to_string(a.size()) + " and " +
                                std::to_string(b.size()));
  }
  const uint32_t k = a[trans_a_ ? 1 : 0];
  const uint32_t k_of_b = b[trans_b_ ? 0 : 1];
  if (k != k_of_b) {
    throw std::invalid_argument("Gemm: A has K = " + std::to_string(k) +
                                ", B has K = " + std::to_string(k_of_b));
  }
  const uint32_t m = a[trans_a_ ? 0 : 1];
  const uint32_t n = b[trans_b_ ? 1 : 0];
  outputs_size_[0] = {n, m};
  param_list_[kM].data.i = static_cast<int>(m);
  param_list_[kK].data.i = static_cast<int>(k);
  param_list_[kN].data.i = static_cast<int>(n);
}

void Gemm::SetupParams(std::vector<vx::DataType> input_types,
                       std::string& build_option) {
  build_option = std::string("-DTRANS_A=") + (trans_a_ ? "1" : "0") +
                 " -DTRANS_B=" + (trans_b_ ? "1" : "0");
  if (input_types[0] != input_types[1]) {
    throw std::invalid_argument("Gemm: A and B have different types");
  }
  if (input_types[0] == vx::DataType::FLOAT32) {
    func_name_ = "gemm_F32F32toF32";
  } else if (input_types[0] == vx::DataType::UINT8) {
    if (param_list_[kK].data.i > static_cast<int>(kMaxQuantizedK)) {
      throw std::invalid_argument("Gemm: K of UINT8 tensors may be up to " +
                                  std::to_string(kMaxQuantizedK));
    }
    func_name_ = "gemm_U8U8toU8";
  } else {
    throw std::invalid_argument("Gemm takes FLOAT32 or UINT8");
  }
}

void Gemm::SetupEnqueue(uint32_t& dim, std::vector<size_t>& gobal_size,
                        std::vector<size_t>&) {
  dim = 2;
  gobal_size[0] = outputs_size_[0][0];
  gobal_size[1] = outputs_size_[0][1];
}

}  // namespace custom_ops
}  // namespace tim
