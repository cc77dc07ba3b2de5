// An operator of one input that a kernel of another one applies to its results
// before it stores them.
#ifndef TIM_OPS_LAUNCH_ACTIVATION_H_
#define TIM_OPS_LAUNCH_ACTIVATION_H_

#include <cstdint>
#include <optional>

#include "base/status.h"
#include "ir/kernel_def.h"
#include "ir/pointwise.h"

namespace tim::ops {

struct Activation {
  const ir::Pointwise* pointwise = nullptr;  ///< Null: there is none.
  ir::PointwiseParameters parameters;
  /// Where it only sets limits: they may be set before results are rounded or
  /// after, which is the same.
  std::optional<ir::Limits> limits = std::nullopt;
};

/// Reads a step that follows results of `before`: any formula on float32, one
/// that sets limits on other types; or says why it must be a step of its own.
Result<Activation> ActivationOf(const ir::EpilogueStep& step,
                                const ir::TensorDesc& before);

/// The code that a real value, which may be infinite, has in a tensor of
/// integers: of its quantization, in the range of its type.
int64_t CodeOf(float real, const ir::TensorDesc& desc);

}  // namespace tim::ops

#endif  // TIM_OPS_LAUNCH_ACTIVATION_H_
