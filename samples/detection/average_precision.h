// How good detections are: the mean average precision.
#ifndef TIM_SAMPLES_DETECTION_AVERAGE_PRECISION_H_
#define TIM_SAMPLES_DETECTION_AVERAGE_PRECISION_H_

#include <cstddef>
#include <vector>

#include "detector.h"
#include "picture.h"

namespace detection {

/// Intersection over union; 0 where one of them has no area.
float Iou(const Box& a, const Box& b);

/// mAP@0.5 over pictures: the mean, over the classes that occur in `objects`,
/// of the area under the curve of precision over recall, whose precision is
/// made to fall (PASCAL VOC since 2010). By descending score, of equal ones by
/// picture, a detection is right where the object of its class and picture with
/// the largest IoU among those not yet found has at least 0.5.
double MeanAveragePrecision(
    const std::vector<std::vector<Object>>& objects,
    const std::vector<std::vector<Detection>>& detections,
    std::size_t class_count);

}  // namespace detection

#endif  // TIM_SAMPLES_DETECTION_AVERAGE_PRECISION_H_
