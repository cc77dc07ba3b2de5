// An SSD head for DetectionPostProcess, and what must be found in it.
#ifndef TIM_TESTS_CUSTOM_OPS_SSD_CASE_H_
#define TIM_TESTS_CUSTOM_OPS_SSD_CASE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/detection/scalar_nms.h"
#include "custom_ops/detection_postprocess.h"
#include "tim/vx/graph.h"

namespace tim::testing {

/// Box encodings, scores or anchors; UINT8 codes where `codes` has some.
struct SsdOperand {
  std::vector<float> values;
  std::vector<uint8_t> codes;
  float scale = 1;
  int32_t zero_point = 0;

  /// Makes `values` those of `codes`, as a graph takes them.
  static SsdOperand OfCodes(std::vector<uint8_t> codes, float scale,
                            int32_t zero_point);
  /// The codes nearest to `values`.
  static SsdOperand Quantized(const std::vector<float>& values, float scale,
                              int32_t zero_point);
};

enum class SsdOrder { kTensorFlowLite, kNnapi };

struct SsdCase {
  SsdOrder order = SsdOrder::kTensorFlowLite;
  custom_ops::DetectionPostProcess::Parameters parameters;
  bool background_in_label = false;  ///< Of NNAPI's order.
  uint32_t count = 0;                ///< of anchors
  uint32_t columns = 4;
  uint32_t score_columns = 0;
  uint32_t batch = 1;
  SsdOperand encodings;
  SsdOperand scores;
  SsdOperand anchors;

  uint32_t Rows() const {
    return static_cast<uint32_t>(parameters.max_detections *
                                 parameters.max_classes_per_detection);
  }
};

/// Rows of all images, one behind the other; numbers of each image.
struct SsdDetections {
  std::vector<float> boxes;
  std::vector<float> labels;
  std::vector<float> scores;
  std::vector<float> numbers;
  /// Of the expected boxes: 1e-6 * (|yc - ay| + |ay| + height), likewise of x.
  std::vector<float> tolerances;
};

/// What is bound to the operator.
struct SsdTensors {
  std::vector<std::shared_ptr<vx::Tensor>> inputs;
  std::vector<std::shared_ptr<vx::Tensor>> outputs;
};
SsdTensors SsdTensorsOf(const SsdCase& ssd, vx::Graph* graph);

std::shared_ptr<vx::Operation> SsdOperation(const SsdCase& ssd,
                                            vx::Graph* graph);

SsdDetections RunSsd(const SsdCase& ssd, std::shared_ptr<vx::Graph> graph);

/// An image of the case for the scalar reference.
bench::ScalarHead ScalarHeadOf(const SsdCase& ssd, uint32_t image);

/// By the scalar reference in double.
SsdDetections ExpectedSsd(const SsdCase& ssd);

/// Equal rows and numbers, zeros in unused rows; coordinates within their
/// tolerances.
void ExpectSsd(const SsdDetections& expected, const SsdDetections& found);

/// The six anchors of TensorFlow Lite's tests and of NNAPI's.
SsdCase PublishedSsd();

}  // namespace tim::testing

#endif  // TIM_TESTS_CUSTOM_OPS_SSD_CASE_H_
