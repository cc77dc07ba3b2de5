// The boxes and scores of a YOLOv4-tiny network's heads.
#ifndef TIM_VX_OPS_TINY_YOLOV4_POSTPROCESS_H_
#define TIM_VX_OPS_TINY_YOLOV4_POSTPROCESS_H_

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Anchor a of a head has the channels t = head[85 * a + ...]: 0 to 3 a box, 4
/// the objectness, 5 to 84 the classes.  With s the sigmoid function and (i, j)
/// the numbers of the cell's grid:
///   confidence of class c = s(t[4]) * s(t[5 + c])
///   box = ((s(t[0]) * 1.05 - 0.025 + i) * stride,
///          (s(t[1]) * 1.05 - 0.025 + j) * stride,
///          e^t[2] * anchor width, e^t[3] * anchor height)
/// that is center x, center y, width, height in pixels.  There is no
/// suppression of boxes that overlap.
///
/// Input 0, coarse head: [W, H, 255, 1], stride 32, anchors (81, 82),
/// (135, 169), (344, 319); YOLOv4-tiny for 416 pixels has W = H = 13.
/// Input 1, fine head: [2W, 2H, 255, 1], stride 16, anchors (23, 27), (37, 58),
/// (81, 82).
/// Inputs 2 and 3: the grids of heads 0 and 1, [W, H, 2] and [2W, 2H, 2]: the
/// plane of i, then that of j.
/// Output 0, confidences: [80, R, 1].  Output 1, boxes: [4, R, 1].  R = 3 * 5 *
/// W
/// * H rows: anchors 0, 1, 2 of the fine head, then those of the coarse one,
/// the cells of an anchor row-major. Types: FLOAT32, FLOAT16 or quantized
/// (UINT8 in TIM-VX), each tensor its own. All arithmetic is FLOAT32; TIM-VX
/// rounds both sigmoids to 8 bits, so that its confidences may be one code off.
/// Errors: Compile() fails on other shapes and on bool8.
/// Source: TIM-VX; Darknet's YOLO layer with scale_x_y = 1.05.
class TinyYolov4Postprocess : public BuiltinOpOf<TinyYolov4Postprocess> {
 public:
  static const char* OpName() { return "TinyYolov4Postprocess"; }

  explicit TinyYolov4Postprocess(Graph* graph) : BuiltinOpOf(graph, {}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_TINY_YOLOV4_POSTPROCESS_H_
