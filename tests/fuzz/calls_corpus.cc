// Sequences of calls that the fuzzer begins with.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>

#include "tests/fuzz/corpus.h"

namespace tim::testing {
namespace {

// Numbers of the calls in CallsSession::Run().
enum Call : uint8_t {
  kMakeEngine = 0,
  kMakeStream = 1,
  kMakeNetwork = 7,
  kCompile = 10,
  kExecute = 13,
};

void Add(std::vector<uint8_t>* bytes, std::initializer_list<uint8_t> more) {
  bytes->insert(bytes->end(), more);
}

// An engine, a stream, and networks of random ops, each compiled and executed.
std::vector<uint8_t> Networks(uint32_t seed, uint8_t flags, int count) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes;
  const auto engine = static_cast<uint8_t>(seed % 2);
  Add(&bytes, {kMakeEngine, 0, engine, 0, kMakeStream, 0, 0, flags});
  for (int i = 0; i < count; ++i) {
    constexpr int kBytesOfNetwork = 24;
    Add(&bytes, {kMakeNetwork, 0, static_cast<uint8_t>(1 + random() % 4)});
    for (int j = 0; j < kBytesOfNetwork; ++j) {
      bytes.push_back(static_cast<uint8_t>(random() % 128));
    }
    Add(&bytes, {kCompile, 0, 0, 0, 0, 0, 0, 0, 0, kExecute, 0, 0, 0, 2});
  }
  return bytes;
}

}  // namespace

std::vector<std::vector<std::byte>> Corpus() {
  std::vector<std::vector<std::byte>> files;
  for (const uint8_t flags : {0, 1}) {
    for (uint32_t seed = 1; seed <= 4; ++seed) {
      const std::vector<uint8_t> bytes = Networks(seed, flags, 6);
      auto& file = files.emplace_back();
      std::transform(bytes.begin(), bytes.end(), std::back_inserter(file),
                     [](uint8_t byte) { return std::byte{byte}; });
    }
  }
  return files;
}

}  // namespace tim::testing
