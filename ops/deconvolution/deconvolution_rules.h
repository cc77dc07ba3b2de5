// The rule of gradients of DeConv2d.
#ifndef TIM_OPS_DECONVOLUTION_DECONVOLUTION_RULES_H_
#define TIM_OPS_DECONVOLUTION_DECONVOLUTION_RULES_H_

#include <vector>

#include "ops/gradients/vjp_builder.h"

namespace tim::ops {

Result<std::vector<ir::ValueId>> DeConv2dVjp(const ir::VjpContext& context);

}  // namespace tim::ops

#endif  // TIM_OPS_DECONVOLUTION_DECONVOLUTION_RULES_H_
