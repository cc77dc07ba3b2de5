// Constants in the form that a kernel reads.
#ifndef TIM_OPS_LAUNCH_PACKED_H_
#define TIM_OPS_LAUNCH_PACKED_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/kernel_def.h"

namespace tim::ops {

/// Constant input `input` of float32 as `floats` floats that `fill` puts in
/// place; those that it leaves out are 0.  `id` says how they are arranged.
ir::PackedConstant PackedFloats(
    std::string id, const ir::KernelNode& node, int input, int64_t floats,
    std::function<void(const float* from, float* to)> fill);

/// A table that comes from sizes and quantization, not from a constant.
ir::PackedConstant PackedTable(std::string_view name,
                               std::vector<int32_t> words);

}  // namespace tim::ops

#endif  // TIM_OPS_LAUNCH_PACKED_H_
