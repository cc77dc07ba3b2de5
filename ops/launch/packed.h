// Operands in the form that a kernel reads.
#ifndef TIM_OPS_LAUNCH_PACKED_H_
#define TIM_OPS_LAUNCH_PACKED_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/device_info.h"
#include "ir/kernel_def.h"
#include "ir/packed_form.h"
#include "ops/launch/launch.h"

namespace tim::ops {

/// Constant input `input` of float32 as `floats` floats that `fill` puts in
/// place; those that it leaves out are 0.  `id` says how they are arranged.
ir::PackedConstant PackedFloats(
    std::string id, const ir::KernelNode& node, int input, int64_t floats,
    std::function<void(const float* from, float* to)> fill);

/// PackedFloats() where `elements` of the constant are copied: for_each(visit)
/// calls visit(from, to) with the index of each and that of its place.
template <typename ForEach>
ir::PackedConstant CopiedFloats(std::string id, const ir::KernelNode& node,
                                int input, int64_t elements, int64_t floats,
                                ForEach for_each) {
  return {.id = std::move(id),
          .sources = {input},
          .bytes = floats * int64_t{sizeof(float)},
          .pack = ir::ReversiblePacking{
              .constant = node.constants[input],
              .pack =
                  [for_each](const std::byte* constant, std::byte* packed) {
                    const auto* from = reinterpret_cast<const float*>(constant);
                    auto* to = reinterpret_cast<float*>(packed);
                    for_each([&](int64_t i, int64_t at) { to[at] = from[i]; });
                  },
              .unpack =
                  [for_each](const std::byte* packed, std::byte* constant) {
                    const auto* from = reinterpret_cast<const float*>(packed);
                    auto* to = reinterpret_cast<float*>(constant);
                    for_each([&](int64_t i, int64_t at) { to[i] = from[at]; });
                  },
              .unpacked = elements * int64_t{sizeof(float)}}};
}

/// A table that comes from sizes and quantization, not from a constant.
ir::PackedConstant PackedTable(std::string_view name,
                               std::vector<int32_t> words);

/// An operand as the kernel reads it: of a constant it is made at Compile, else
/// in every run, by an earlier launch of the same lowering.
struct PackedOperand {
  std::optional<ir::PackedConstant> constant = std::nullopt;
  int scratch = -1;  ///< In Lowering::scratch, where it is no constant.
};

/// Operand that `launch`, which has one Scratch(), packs in every run.
Result<PackedOperand> AppendPacking(Launch& launch, ir::Lowering* lowering);

/// The parameter `name` of `launch`.
void AddPacked(const std::string& name, PackedOperand packed, int element_bytes,
               Launch* launch);

/// Microseconds of a launch that packs input `input` of the node into `bytes`
/// bytes in every run; 0 where the input is a constant.
double PackingCost(const ir::KernelNode& node, int input, double bytes,
                   const ir::DeviceInfo& device);

}  // namespace tim::ops

#endif  // TIM_OPS_LAUNCH_PACKED_H_
