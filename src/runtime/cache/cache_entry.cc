#include "runtime/cache/cache_entry.h"

#include <cstdint>
#include <cstring>

#include "base/hash.h"

namespace tim::runtime {
namespace {

constexpr char kMagic[8] = {'T', 'I', 'M', 'C', 'L', 'B', 'I', 'N'};
constexpr uint32_t kVersion = 1;

// Written as it lies in memory: a cache is never moved between machines.
struct Header {
  char magic[8] = {};
  uint32_t version = 0;
  uint32_t key_bytes = 0;
  uint64_t payload_bytes = 0;
  uint64_t hash_high = 0;  // of the payload
  uint64_t hash_low = 0;
};
static_assert(sizeof(Header) == 40);

Header MakeHeader(std::string_view key, std::string_view payload) {
  const Hash128 hash = HashText(payload);
  Header header;
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = kVersion;
  header.key_bytes = static_cast<uint32_t>(key.size());
  header.payload_bytes = payload.size();
  header.hash_high = hash.high;
  header.hash_low = hash.low;
  return header;
}

}  // namespace

std::string EncodeEntry(std::string_view key, std::string_view payload) {
  const Header header = MakeHeader(key, payload);
  std::string file(reinterpret_cast<const char*>(&header), sizeof(header));
  file.append(key);
  file.append(payload);
  return file;
}

std::optional<std::string> DecodeEntry(std::string_view key,
                                       std::string_view file) {
  const size_t start = sizeof(Header) + key.size();
  if (file.size() < start) return std::nullopt;
  if (file.substr(sizeof(Header), key.size()) != key) return std::nullopt;
  const std::string_view payload = file.substr(start);
  // What a correct file of this key and payload begins with.
  const Header expected = MakeHeader(key, payload);
  if (std::memcmp(file.data(), &expected, sizeof(expected)) != 0) {
    return std::nullopt;
  }
  return std::string(payload);
}

}  // namespace tim::runtime
