#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tim {

std::string Hash128::ToString() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const uint64_t word : {high, low}) {
    for (int shift = 60; shift >= 0; shift -= 4) {
      out.push_back(kDigits[(word >> shift) & 15]);
    }
  }
  return out;
}

Hash128 HashBytes(const void* data, size_t size) {
  const XXH128_hash_t hash = XXH3_128bits(data, size);
  return {hash.high64, hash.low64};
}

}  // namespace tim
