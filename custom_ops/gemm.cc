#include "custom_ops/gemm.h"

#include <algorithm>
#include <cmath>
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

// Where an element of a matrix of rows and columns is, and the next one in the
// direction of K.
struct Steps {
  int64_t other;  // from one m, or n, to the next
  int64_t k;
};

// The kernels for the host: `Sum` is the type of the exact or rounded sum.
template <typename T, typename Sum, typename Encode>
void Multiply(const T* a, const T* b, T* c,
              const std::vector<vx::ops::Param>& p, Steps of_a, Steps of_b,
              const Gemm::Quantization& q, Encode encode) {
  for (int64_t m = 0; m < p[kM].data.i; ++m) {
    for (int64_t n = 0; n < p[kN].data.i; ++n) {
      Sum sum = 0;
      for (int64_t k = 0; k < p[kK].data.i; ++k) {
        sum += (static_cast<Sum>(a[m * of_a.other + k * of_a.k]) -
                static_cast<Sum>(q.zeroPointA)) *
               (static_cast<Sum>(b[n * of_b.other + k * of_b.k]) -
                static_cast<Sum>(q.zeroPointB));
      }
      const float code =
          static_cast<float>(sum) * q.scale + static_cast<float>(q.zeroPointC);
      c[m * p[kN].data.i + n] = encode(code);
    }
  }
}

uint8_t ToUint8(float code) {
  // Also of a NaN, as convert_uchar_sat_rte() does.
  if (!(code > 0)) return 0;
  return static_cast<uint8_t>(std::rint(std::min(code, 255.0f)));
}

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

void Gemm::HostEval(const std::vector<vx::ops::HostInput>& inputs,
                    const std::vector<vx::ops::HostOutput>& outputs) {
  const vx::ops::HostInput& a = inputs[0];
  const vx::ops::HostInput& b = inputs[1];
  const int64_t row_of_a = a.spec.shape_[0];
  const int64_t row_of_b = b.spec.shape_[0];
  const Steps of_a = trans_a_ ? Steps{1, row_of_a} : Steps{row_of_a, 1};
  const Steps of_b = trans_b_ ? Steps{row_of_b, 1} : Steps{1, row_of_b};
  if (a.spec.datatype_ == vx::DataType::UINT8) {
    Multiply<uint8_t, int32_t>(a.Data<uint8_t>(), b.Data<uint8_t>(),
                               outputs[0].Data<uint8_t>(), param_list_, of_a,
                               of_b, quantization_, ToUint8);
  } else {
    Multiply<float, float>(a.Data<float>(), b.Data<float>(),
                           outputs[0].Data<float>(), param_list_, of_a, of_b,
                           quantization_, [](float value) { return value; });
  }
}

}  // namespace custom_ops
}  // namespace tim
