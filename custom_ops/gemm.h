// Matrix product, a custom operator.
#ifndef TIM_CUSTOM_OPS_GEMM_H_
#define TIM_CUSTOM_OPS_GEMM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tim/vx/ops/custom_base.h"

namespace tim {
namespace custom_ops {

/// C = op(A) * op(B), where op(A) has M rows and K columns, op(B) K rows and
/// N columns:
///   c[m][n] = scale * sum_k (a[m][k] - zeroPointA) * (b[k][n] - zeroPointB)
///             + zeroPointC
/// Input 0: A, {K, M}, or {M, K} with transA.  Input 1: B, {N, K}, or {K, N}
/// with transB.  Output 0: C, {N, M}.  All FLOAT32 or all UINT8.
///
/// Floating-point data: leave Quantization at its defaults.  UINT8: `scale` is
/// scale of A * scale of B / scale of C.  The sum is exact; its product with
/// `scale` and the sum with zeroPointC are float32, rounded to nearest, ties
/// to even, and saturated.
///
/// Errors, all of Compile(): ranks other than 2; two different K; another
/// type; UINT8 with K above kMaxQuantizedK; those of CustomOpBase.
/// Source: BLAS GEMM with alpha = 1 and beta = 0.
class Gemm : public vx::ops::CustomOpBase {
 public:
  /// Attributes: transA, transB and the members of Quantization.
  static const char* OpName() { return "user.Gemm"; }

  struct Quantization {
    int32_t zeroPointA;
    int32_t zeroPointB;
    int32_t zeroPointC;
    float scale;
  };
  static Quantization NotQuantized() { return {0, 0, 0, 1.0f}; }
  /// The sum then fits in 32 bits.
  static constexpr uint32_t kMaxQuantizedK = 33025;

  explicit Gemm(vx::Graph* graph, bool transA = false, bool transB = false,
                Quantization quantization = NotQuantized());

  std::shared_ptr<vx::Operation> Clone(
      std::shared_ptr<vx::Graph>& graph) const override;

  bool HasHostEval() const override { return true; }
  void HostEval(const std::vector<vx::ops::HostInput>& inputs,
                const std::vector<vx::ops::HostOutput>& outputs) override;

 protected:
  void SetupShapeInfor() override;
  void SetupParams(std::vector<vx::DataType> input_types,
                   std::string& build_option) override;
  void SetupEnqueue(uint32_t& dim, std::vector<size_t>& gobal_size,
                    std::vector<size_t>& local_size) override;

 private:
  bool trans_a_;
  bool trans_b_;
  Quantization quantization_;
};

}  // namespace custom_ops
}  // namespace tim

#endif  // TIM_CUSTOM_OPS_GEMM_H_
