// HSwish, a custom operator.
#ifndef TIM_CUSTOM_OPS_HSWISH_H_
#define TIM_CUSTOM_OPS_HSWISH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "tim/vx/ops/custom_base.h"

namespace tim {
namespace custom_ops {

/// Hard swish of every element:
///   x = code * inputScale + inputTail
///   y = x * clamp(x + 3, 0, 6) / 6
///   result = y * outputScale + outputZP
/// Input 0: any rank from 1 on; FLOAT32, FLOAT16, UINT8, or UINT16, whose
/// codes are the bits of bfloat16 numbers.  Output 0: same shape and type.
///
/// Floating-point data: leave the scalars at their defaults.  UINT8 of scale s
/// and zero point z: inputScale = s and inputTail = -z * s; outputScale = 1 / s
/// and outputZP = z of the output.  Computed in float32, in the order above
/// (the division is a product with 1.0f / 6.0f), and rounded once to the
/// element type: to nearest, ties to even; UINT8 saturates, a FLOAT16 or
/// bfloat16 overflow is infinite.
///
/// Errors, all of Compile(): another type; those of CustomOpBase.
/// Source: Howard et al., Searching for MobileNetV3, 2019.
class HSwish : public vx::ops::CustomOpBase {
 public:
  /// Attributes: inputScale, inputTail, outputScale and outputZP.
  static const char* OpName() { return "user.HSwish"; }

  /// How the kernel takes its tensors; the results are the same.
  enum class Storage { kImage, kBuffer };
  using ParamTuple = std::tuple<float, float, float, float>;

  HSwish(vx::Graph* graph, float inputScale = 1, float inputTail = 0,
         float outputScale = 1, float outputZP = 0,
         Storage storage = Storage::kImage);

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
  ParamTuple params_;
  Storage storage_;
};

}  // namespace custom_ops
}  // namespace tim

#endif  // TIM_CUSTOM_OPS_HSWISH_H_
