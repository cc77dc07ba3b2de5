#include "tim/transform/mean_stddev_normalize_fusion.h"

namespace tim::transform {

void MeanStdDevNormalization(std::shared_ptr<vx::Graph>&) {}

}  // namespace tim::transform
