// Non-maximum suppression of boxes, a custom operator.
#ifndef TIM_CUSTOM_OPS_NON_MAX_SUPPRESSION_H_
#define TIM_CUSTOM_OPS_NON_MAX_SUPPRESSION_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tim/vx/ops/custom_base.h"

namespace tim {
namespace custom_ops {

/// ONNX's NonMaxSuppression on tensors of fixed size.  N boxes, C classes,
/// batch size B.
///
/// Input 0: boxes, {4, N, B}: two opposite corners (y1, x1, y2, x2), of any
/// diagonal, or with center_point_box (xc, yc, width, height).  Any unit.
/// Input 1: scores, {N, C, B}.  Both FLOAT32.
/// Output 0: rows (image, class, box), INT32 {3, R}; R = B * C *
/// min(max_output_boxes_per_class, N), and 1 where that is 0.  Output 1: how
/// many of them count, INT32 {1}; the others are zeros.  ONNX's output is
/// INT64, of as many rows as count.  Outputs of UNKNOWN type get theirs.
///
/// Of each image and class: takes scores > score_threshold, goes by descending
/// score, of equal ones by ascending box, and drops a box whose IoU with one of
/// its class kept before, rounded to float32, is > iou_threshold, until
/// max_output_boxes_per_class are kept.  Rows stand by image, then class, then
/// in the order of selection.
///
/// The IoU is 0 if an area is.  What exceeds float32's range (an area above
/// 3e38) is infinite; IoUs with such an area do not suppress.  Scores that are
/// NaN, boxes with a NaN, and with center_point_box those of negative width or
/// height are never selected and suppress nothing.
///
/// Errors, all of Compile(), naming parameter or input: a shape that is none of
/// these (N up to kMaxBoxes); another type; max_output_boxes_per_class below 0;
/// a threshold that is NaN; iou_threshold outside of [0, 1]; tensors of 2^31
/// elements or more, the rows too; those of CustomOpBase.
/// Source: ONNX NonMaxSuppression-11 and its reference implementation, which
/// takes scores > score_threshold.
class NonMaxSuppression : public vx::ops::CustomOpBase {
 public:
  /// Attributes: the members of Parameters.
  static const char* OpName() { return "user.NonMaxSuppression"; }

  static constexpr uint32_t kMaxBoxes = 1u << 18;

  /// With ONNX's names and defaults; it has the first three as inputs.
  struct Parameters {
    int32_t max_output_boxes_per_class = 0;  ///< 0: no output
    float iou_threshold = 0;                 ///< In [0, 1].
    /// -infinity: takes every score but NaN.
    float score_threshold = -std::numeric_limits<float>::infinity();
    bool center_point_box = false;
  };

  NonMaxSuppression(vx::Graph* graph, const Parameters& parameters);

  std::shared_ptr<vx::Operation> Clone(
      std::shared_ptr<vx::Graph>& graph) const override;
  bool HasHostEval() const override { return true; }

 protected:
  void SetupTypes() override;
  void SetupShapeInfor() override;
  void SetupParams(std::vector<vx::DataType> input_types,
                   std::string& build_option) override;
  void SetupEnqueue(uint32_t& dim, std::vector<size_t>& gobal_size,
                    std::vector<size_t>& local_size) override;
  void HostEval(const std::vector<vx::ops::HostInput>& inputs,
                const std::vector<vx::ops::HostOutput>& outputs) override;

 private:
  void CheckParameters() const;
  void CheckShapes() const;

  Parameters parameters_;
  std::size_t boxes_ = 0;  // N
  std::size_t lists_ = 0;  // B * C
  std::size_t limit_ = 0;  // rows of a list, at most
  std::string source_;
};

}  // namespace custom_ops
}  // namespace tim

#endif  // TIM_CUSTOM_OPS_NON_MAX_SUPPRESSION_H_
