// 128-bit content hashes (XXH3), used as identities of constants and programs.
#ifndef TIM_BASE_HASH_H_
#define TIM_BASE_HASH_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tim {

struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;
  auto operator<=>(const Hash128&) const = default;
  /// 32 lower-case hex digits.
  std::string ToString() const;
};

Hash128 HashBytes(const void* data, size_t size);
inline Hash128 HashText(std::string_view text) {
  return HashBytes(text.data(), text.size());
}

}  // namespace tim

#endif  // TIM_BASE_HASH_H_
