// Detections of an SSD head, a custom operator.
#ifndef TIM_CUSTOM_OPS_DETECTION_POSTPROCESS_H_
#define TIM_CUSTOM_OPS_DETECTION_POSTPROCESS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tim/vx/ops/custom_base.h"

namespace tim {
namespace custom_ops {

/// From what an SSD head gives to detections: decodes boxes, then non-maximum
/// suppression (NMS).  N anchors, batch size B, K columns per box, D rows of
/// detections per image.
///
/// In the order of TensorFlow Lite (Parameters):
///   input 0: box encodings, {K, N, B}, K >= 4, (y, x, h, w, unused columns)
///   input 1: scores, {C, N, B}; C is num_classes, or num_classes + 1, where
///            column 0 is the background and counts for nothing
///   input 2: anchors, {4, N}, (y, x, h, w) of centre and size
///   output 0: boxes, {4, D, B}, (ymin, xmin, ymax, xmax)
///   output 1: classes, {D, B}, from 0 on, the background not counted
///   output 2: scores, {D, B}
///   output 3: numbers of detections, {B}
/// The outputs are FLOAT32.  In that of NNAPI (NnapiParameters):
///   inputs: scores, {C, N, B}, whose column 0 always is the background; box
///   encodings; anchors
///   outputs: scores, boxes, both FLOAT32; classes, numbers, both INT32
/// The inputs are all FLOAT32, or all UINT8 with one scale and zero point each
/// (ASYMMETRIC).  D = max_detections * max_classes_per_detection; rows that
/// hold no detection are zeros.  Outputs of UNKNOWN type get theirs.
///
/// A box has the unit of the anchors, mostly 1 = the width or height of the
/// image, and may lie outside of it:
///   yc = ey / y_scale * ah + ay   half height = exp(eh / h_scale) * ah / 2
///   ymin, ymax = yc -+ half height; x likewise
/// each of the two in double, rounded to float32, and their sum and difference
/// in float32.  On devices without cl_khr_fp64 all is float32: coordinates are
/// then within 1e-6 * (|yc - ay| + |ay| + height) of these for sizes of up to
/// e^8 anchors.
///
/// NMS keeps scores >= the threshold, goes by descending score, of equal ones
/// by ascending anchor, and drops a box whose IoU with a kept one, rounded to
/// float32, is > iou_threshold.  The IoU is 0 if an area is.  What exceeds
/// float32's range (an area above 3e38) is infinite; IoUs with such an area do
/// not suppress.  Scores that are NaN, and boxes with a NaN or with ymin > ymax
/// or xmin > xmax, are never selected and suppress nothing.
///
/// - fast: once per image, by each anchor's highest score, up to max_detections
///   anchors.  A detection is an anchor: its max_classes_per_detection highest
///   classes stand in consecutive rows, of equal scores the lower class first;
///   the threshold is for the highest one only.  Classes that there are not, or
///   whose score is NaN, leave a zero row.  The number counts anchors.
/// - regular: once per class, up to detections_per_class boxes each; of all of
///   them the max_detections highest scores, of equal ones the lower class
///   first.  Each takes one row, in the first max_detections ones.
///
/// Errors, all of Compile(), naming parameter or input: a shape that is none of
/// these (N up to kMaxBoxes); other types, such as INT8; a count below 1; a
/// threshold that is NaN; iou_threshold outside of (0, 1]; a scale that is 0 or
/// not finite; tensors of 2^31 elements or more, D * B too; those of
/// CustomOpBase.
/// Sources: TensorFlow Lite's TFLite_Detection_PostProcess, which fails for
/// ymin > ymax and leaves unused rows undefined; NNAPI 1.2
/// DETECTION_POSTPROCESSING.
class DetectionPostProcess : public vx::ops::CustomOpBase {
 public:
  /// Attributes: the members of Parameters or of NnapiParameters.
  static const char* OpName() { return "user.DetectionPostProcess"; }

  static constexpr uint32_t kMaxBoxes = 1u << 18;

  /// Named as the attributes of TensorFlow Lite.
  struct Parameters {
    int32_t max_detections = 10;
    int32_t max_classes_per_detection = 1;  ///< Of fast NMS.
    int32_t detections_per_class = 100;     ///< Of regular NMS.
    bool use_regular_nms = false;
    float nms_score_threshold = 0;
    float nms_iou_threshold = 0.5f;  ///< In (0, 1].
    int32_t num_classes = 0;         ///< Without the background.  Required.
    float y_scale = 10;              ///< Not 0, as the other scales.
    float x_scale = 10;
    float h_scale = 5;
    float w_scale = 5;
  };

  /// In the order of NNAPI's operands.
  struct NnapiParameters {
    float dy = 10;  ///< Not 0, as the other scales.
    float dx = 10;
    float dh = 5;
    float dw = 5;
    bool use_regular_nms = true;
    int32_t max_detections = 10;
    int32_t max_classes_per_detection = 1;   ///< Fast NMS; else taken as 1.
    int32_t max_detections_per_class = 100;  ///< Of regular NMS.
    float score_threshold = 0;
    float iou_threshold = 0.5f;  ///< In (0, 1].
    /// The classes count from 1 on, 0 being the background; else from 0 on.
    bool background_in_label = false;
  };

  DetectionPostProcess(vx::Graph* graph, const Parameters& parameters);
  DetectionPostProcess(vx::Graph* graph, const NnapiParameters& parameters);

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
  enum class Order { kTensorFlowLite, kNnapi };

  struct Sizes {
    std::size_t anchors = 0;        // N
    std::size_t columns = 0;        // K
    std::size_t score_columns = 0;  // C
    std::size_t batch = 0;          // B
    std::size_t classes = 0;
    std::size_t background = 0;   // columns of scores before the classes
    std::size_t rows = 0;         // D
    std::size_t lists = 0;        // that NMS gets of an image
    std::size_t list_limit = 0;   // boxes that it may keep of one
    std::size_t image_limit = 0;  // of all lists of an image
  };

  uint32_t Boxes() const { return order_ == Order::kNnapi ? 1 : 0; }
  uint32_t Scores() const { return order_ == Order::kNnapi ? 0 : 1; }
  void CheckParameters() const;
  void CheckShapes() const;
  std::size_t CheckedClasses() const;
  Sizes CheckedSizes() const;
  void CheckTypes(const std::vector<vx::DataType>& types) const;

  Order order_;
  Parameters parameters_;
  NnapiParameters nnapi_;
  Sizes sizes_;
  std::string source_;
};

}  // namespace custom_ops
}  // namespace tim

#endif  // TIM_CUSTOM_OPS_DETECTION_POSTPROCESS_H_
