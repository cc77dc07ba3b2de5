// Rules of gradients of normalisations.
#ifndef TIM_OPS_NORMALIZATION_NORMALIZATION_RULES_H_
#define TIM_OPS_NORMALIZATION_NORMALIZATION_RULES_H_

#include <vector>

#include "ops/gradients/vjp_builder.h"

namespace tim::ops {

Result<std::vector<ir::ValueId>> SoftmaxVjp(const ir::VjpContext& context);
Result<std::vector<ir::ValueId>> LogSoftmaxVjp(const ir::VjpContext& context);
Result<std::vector<ir::ValueId>> BatchNormVjp(const ir::VjpContext& context);
Result<std::vector<ir::ValueId>> LayerNormalizationVjp(
    const ir::VjpContext& context);
Result<std::vector<ir::ValueId>> InstanceNormalizationVjp(
    const ir::VjpContext& context);
Result<std::vector<ir::ValueId>> RmsNormalizationVjp(
    const ir::VjpContext& context);

}  // namespace tim::ops

#endif  // TIM_OPS_NORMALIZATION_NORMALIZATION_RULES_H_
