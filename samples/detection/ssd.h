// The detector as a tim::vx graph, the same code for float32 and uint8.
#ifndef TIM_SAMPLES_DETECTION_SSD_H_
#define TIM_SAMPLES_DETECTION_SSD_H_

#include <cstdint>
#include <memory>
#include <string>

#include "model_file.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/tensor.h"

namespace detection {

/// What non-maximum suppression keeps.
struct Selection {
  float score_threshold = 0.5f;
  float iou_threshold = 0.5f;
  std::uint32_t max_detections = 20;
};

/// A graph that is built, but not yet compiled. Boxes are (ymin, xmin, ymax,
/// xmax) in parts of the input's extent, and may reach outside of it.
struct Ssd {
  std::shared_ptr<tim::vx::Graph> graph;
  std::shared_ptr<tim::vx::Tensor> input;    // [extent, extent, 3, 1]
  std::shared_ptr<tim::vx::Tensor> boxes;    // [4, max_detections, 1], FLOAT32
  std::shared_ptr<tim::vx::Tensor> classes;  // [max_detections, 1], FLOAT32
  std::shared_ptr<tim::vx::Tensor> scores;   // [max_detections, 1], FLOAT32
  std::shared_ptr<tim::vx::Tensor> count;    // [1], FLOAT32
};

/// Builds the network: seven convolutions, and on two of them heads for boxes
/// and classes, whose results DetectionPostProcess turns into detections. The
/// types come from `model`: ssd_f32.bin gives a float32 graph, ssd_u8.bin a
/// uint8 one. Returns false, with the reason in `error`, where a tensor is
/// missing in `model` or does not fit the others.
bool BuildSsd(tim::vx::Context* context, const Model& model,
              const Selection& selection, Ssd* net, std::string* error);

}  // namespace detection

#endif  // TIM_SAMPLES_DETECTION_SSD_H_
