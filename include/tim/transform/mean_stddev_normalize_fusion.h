// Recognises normalizations written with simple operators.
#ifndef TIM_TRANSFORM_MEAN_STDDEV_NORMALIZE_FUSION_H_
#define TIM_TRANSFORM_MEAN_STDDEV_NORMALIZE_FUSION_H_

#include <memory>

#include "tim/vx/export.h"
#include "tim/vx/graph.h"

namespace tim {
namespace transform {

/// Leaves the graph as it is: Compile() fuses what pays on the device.
TIM_VX_API void MeanStdDevNormalization(std::shared_ptr<vx::Graph>& src_graph);

}  // namespace transform
}  // namespace tim

#endif  // TIM_TRANSFORM_MEAN_STDDEV_NORMALIZE_FUSION_H_
