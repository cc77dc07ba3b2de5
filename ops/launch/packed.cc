// Packs constants, and passes kernels what was packed.
#include "ops/launch/packed.h"

#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "base/hash.h"
#include "base/str_cat.h"
#include "ops/launch/prices.h"

namespace tim::ops {

ir::PackedConstant PackedFloats(
    std::string id, const ir::KernelNode& node, int input, int64_t floats,
    std::function<void(const float* from, float* to)> fill) {
  return {.id = std::move(id),
          .sources = {input},
          .bytes = floats * int64_t{sizeof(float)},
          .pack = [fill = std::move(fill),
                   constant = node.constants[input]](std::span<std::byte> out) {
            fill(reinterpret_cast<const float*>(constant->bytes.data()),
                 reinterpret_cast<float*>(out.data()));
            return OkStatus();
          }};
}

ir::PackedConstant PackedTable(std::string_view name,
                               std::vector<int32_t> words) {
  const size_t bytes = words.size() * sizeof(int32_t);
  return {.id = StrCat(name, " ", HashBytes(words.data(), bytes).ToString()),
          .sources = {},
          .bytes = static_cast<int64_t>(bytes),
          .pack = [words = std::move(words)](std::span<std::byte> out) {
            std::memcpy(out.data(), words.data(), out.size());
            return OkStatus();
          }};
}

Result<PackedOperand> AppendPacking(Launch& launch, ir::Lowering* lowering) {
  TIM_RETURN_IF_ERROR(launch.AppendTo(lowering));
  return PackedOperand{.scratch =
                           static_cast<int>(lowering->scratch.size()) - 1};
}

void AddPacked(const std::string& name, PackedOperand packed, int element_bytes,
               Launch* launch) {
  if (packed.constant) {
    launch->Packed(name, *std::move(packed.constant), element_bytes);
  } else {
    launch->EarlierScratch(name, packed.scratch, element_bytes);
  }
}

double PackingCost(const ir::KernelNode& node, int input, double bytes,
                   const ir::DeviceInfo& device) {
  if (node.constants[input] != nullptr) return 0;
  const Result<int64_t> read = ir::ByteSize(node.inputs[input]);
  return EstimateMicroseconds(
      {.flops = 0,
       .bytes_read = read.ok() ? static_cast<double>(*read) : 0,
       .bytes_written = bytes},
      device, prices::kPacking);
}

}  // namespace tim::ops
