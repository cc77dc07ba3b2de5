#include "ops/launch/packed.h"

#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "base/hash.h"
#include "base/str_cat.h"

namespace tim::ops {

ir::PackedConstant PackedFloats(
    std::string id, const ir::KernelNode& node, int input, int64_t floats,
    std::function<void(const float* from, float* to)> fill) {
  return {.id = std::move(id),
          .sources = {input},
          .bytes = floats * int64_t{sizeof(float)},
          .pack = [fill = std::move(fill),
                   constant = node.constants[input]](std::span<std::byte> out) {
            std::memset(out.data(), 0, out.size());
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

}  // namespace tim::ops
