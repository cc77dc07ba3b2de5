// MD5, RFC 1321; for clients that name files by content, not for security.
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "tim/vx/graph.h"

namespace tim::vx {
namespace {

using State = std::array<uint32_t, 4>;

uint32_t LoadLittleEndian(const unsigned char* bytes) {
  return bytes[0] | static_cast<uint32_t>(bytes[1]) << 8 |
         static_cast<uint32_t>(bytes[2]) << 16 |
         static_cast<uint32_t>(bytes[3]) << 24;
}

// floor(2^32 * |sin(step + 1)|), as the RFC defines its table.
uint32_t SineConstant(int step) {
  return static_cast<uint32_t>(std::abs(std::sin(step + 1.0)) * 4294967296.0);
}

// The mixing function of a step and which word of the block it adds.
struct Mix {
  uint32_t value;
  int word;
};
Mix MixOf(int step, uint32_t b, uint32_t c, uint32_t d) {
  switch (step / 16) {
    case 0:
      return {(b & c) | (~b & d), step};
    case 1:
      return {(d & b) | (~d & c), (5 * step + 1) % 16};
    case 2:
      return {b ^ c ^ d, (3 * step + 5) % 16};
    default:
      return {c ^ (b | ~d), 7 * step % 16};
  }
}

void AddBlock(const unsigned char* block, State* state) {
  static constexpr int kRotations[4][4] = {
      {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  auto [a, b, c, d] = *state;
  for (int step = 0; step < 64; ++step) {
    const Mix mix = MixOf(step, b, c, d);
    const uint32_t sum = a + mix.value + SineConstant(step) +
                         LoadLittleEndian(block + 4 * mix.word);
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, kRotations[step / 16][step % 4]);
  }
  const State result = {a, b, c, d};
  for (size_t i = 0; i < 4; ++i) (*state)[i] += result[i];
}

}  // namespace

const std::string calculateMd5Secret32(const std::string& src) {
  std::string text = src + '\x80';
  text.resize((text.size() + 8 + 63) / 64 * 64);
  const uint64_t bits = static_cast<uint64_t>(src.size()) * 8;
  for (int i = 0; i < 8; ++i) {
    text[text.size() - 8 + i] = static_cast<char>(bits >> 8 * i & 0xff);
  }
  State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  for (size_t i = 0; i < text.size(); i += 64) AddBlock(bytes + i, &state);
  std::string digits;
  for (int i = 0; i < 32; ++i) {
    // Digit pairs are bytes, lowest byte of a word first, high nibble first.
    const uint32_t word = state[i / 8];
    digits += "0123456789ABCDEF"[word >> (i % 8 ^ 1) * 4 & 15];
  }
  return digits;
}

}  // namespace tim::vx
