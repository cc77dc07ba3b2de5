// Boxes and scores of YOLO heads, a custom operator.
#ifndef TIM_CUSTOM_OPS_YOLO_DECODE_H_
#define TIM_CUSTOM_OPS_YOLO_DECODE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tim/vx/ops/custom_base.h"

namespace tim {
namespace custom_ops {

/// From the heads of a YOLO network, as its convolutions give them, to boxes
/// and scores that NonMaxSuppression takes.  s is the sigmoid; do not put one
/// before.  Batch size B, C classes, A anchors per head, 0 for kV8; N = the sum
/// of width * height * max(A, 1) over the heads.
///
/// Inputs: the heads, FLOAT32, one per stride: {W, H, F, B}, or {F, W, H, B}
/// for Layout::kInterleaved.  F = A * (5 + C): per anchor tx, ty, tw, th, an
/// objectness and a value per class; for kV8 4 * bins + C: the bins of left,
/// top, right and bottom, and a value per class.
/// Output 0: boxes, {4, N, B}, (ymin, xmin, ymax, xmax) in pixels of the
/// network's input, not clipped.  Output 1: scores, {N, C, B}.  Both FLOAT32;
/// outputs of UNKNOWN type get it.  Boxes stand by head, then anchor, row and
/// column.
///
///   kV3 (v3, v4)  centre = (s(t) * k - (k - 1) / 2 + cell) * stride, where k =
///                 scale_x_y   size = exp(t) * anchor
///   kV5 (v5, v7)  centre = (2 * s(t) - 0.5 + cell) * stride
///                 size = (2 * s(t))^2 * anchor
///                 both: score = s(objectness) * s(class)
///   kV8 (v8, v9, v11)  distance of a side = stride * the mean of 0 to bins -
///   1,
///                 weighted by the softmax of its bins, from the centre
///                 (cell + 0.5) * stride;  score = s(class)
/// in float32: scores within 1e-6, coordinates within 4e-6 times the sum of the
/// box's size and its centre's distance from the corner.
///
/// Heads that are decoded already ({8400, 4 + C, B} of an exported v8) need no
/// operator but Slice, Transpose and NonMaxSuppression with center_point_box.
///
/// Errors, all of Compile(), naming parameter or input: no stride, or one that
/// is not above 0; a count below 1; anchors that are no whole number of pairs
/// per head, or of kV8; scale_x_y for another number of heads; a head of
/// another shape, batch size or type; tensors of 2^31 elements or more; those
/// of CustomOpBase. Sources: Redmon and Farhadi, YOLOv3, 2018; Bochkovskiy et
/// al., YOLOv4, 2020 (scale_x_y); Ultralytics' YOLOv5 and YOLOv8; Li et al.,
/// Generalized Focal Loss, 2020 (bins).
class YoloDecode : public vx::ops::CustomOpBase {
 public:
  /// Attributes: the members of Parameters.
  static const char* OpName() { return "user.YoloDecode"; }

  enum class Version { kV3, kV5, kV8 };
  enum class Layout {
    kPlanar,      ///< {W, H, F, B}, as in ONNX
    kInterleaved  ///< {F, W, H, B}, as in TensorFlow
  };

  struct Parameters {
    Version version = Version::kV5;
    Layout layout = Layout::kPlanar;
    int32_t num_classes = 0;     ///< Required.
    std::vector<float> strides;  ///< Pixels per cell, of each head.
    /// (width, height) in pixels, A pairs of the first head, of the second ...
    std::vector<float> anchors;
    std::vector<float> scale_x_y;  ///< Of kV3, per head; empty: 1.
    int32_t bins = 16;             ///< Of kV8.
  };

  YoloDecode(vx::Graph* graph, const Parameters& parameters);

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
  /// Where a head's elements and boxes are.
  struct Head {
    std::size_t width;
    std::size_t cells;
    std::size_t first;       // box of the image
    std::size_t of_cell;     // step of elements from cell to cell
    std::size_t of_feature;  // and from feature to feature
    float scale_x_y;
  };

  bool HasAnchors() const { return parameters_.version != Version::kV8; }
  std::size_t Anchors() const;
  std::size_t Features() const;
  void CheckParameters() const;
  std::size_t AddHead(std::size_t i, std::size_t first);
  void DecodeOnHost(std::size_t i, std::size_t item, const float* elements,
                    float* boxes, float* scores, std::size_t classes) const;

  Parameters parameters_;
  std::size_t batch_ = 0;
  std::size_t boxes_ = 0;  // N
  std::vector<Head> heads_;
};

}  // namespace custom_ops
}  // namespace tim

#endif  // TIM_CUSTOM_OPS_YOLO_DECODE_H_
