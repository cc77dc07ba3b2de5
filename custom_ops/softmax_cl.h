// Softmax over rows, a custom operator.
#ifndef TIM_CUSTOM_OPS_SOFTMAX_CL_H_
#define TIM_CUSTOM_OPS_SOFTMAX_CL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tim/vx/ops/custom_base.h"

namespace tim {
namespace custom_ops {

/// Softmax of every row, as at the end of a LeNet:
///   out[n][c] = exp(beta * (in[n][c] - max)) / sum_j exp(beta * (in[n][j] -
///   max)), where max is the row's largest element
/// Input 0: {C} or {C, N}, any C and N; FLOAT32, or UINT8, whose codes count:
/// give their scale as `beta`.  Output 0: same shape, FLOAT32; declare its
/// type. \param beta scale of the input, unitless, positive.
///
/// Errors, all of Compile(): rank above 2; another type; those of CustomOpBase.
/// Source: ONNX Softmax-13 with axis = -1.
class SoftmaxCl : public vx::ops::CustomOpBase {
 public:
  /// Attributes: beta.
  static const char* OpName() { return "user.SoftmaxCl"; }

  explicit SoftmaxCl(vx::Graph* graph, float beta = 1);

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
  float beta_;
};

}  // namespace custom_ops
}  // namespace tim

#endif  // TIM_CUSTOM_OPS_SOFTMAX_CL_H_
