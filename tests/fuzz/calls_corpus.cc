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

// Numbers of ops in calls_session.cc, and of their inputs.
struct Op {
  uint8_t number;
  int inputs;
};
constexpr Op kOps[] = {{0, 1}, {1, 2}, {2, 2}, {3, 2}, {4, 1}, {6, 1}};

// As the change of a port: none; as a call: one that a finalized graph refuses.
constexpr uint8_t kFill = 160;

// An engine, a stream, and networks of random ops, each compiled and executed.
std::vector<uint8_t> Networks(uint32_t seed, uint8_t flags, int count) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes;
  const auto allocator = static_cast<uint8_t>(seed % 2);
  Add(&bytes, {kMakeEngine, 0, allocator, 0, kMakeStream, 0, 0, flags});
  for (int i = 0; i < count; ++i) {
    const auto ops = static_cast<uint8_t>(1 + random() % 4);
    Add(&bytes, {kMakeNetwork, 0, static_cast<uint8_t>(random() % 3), ops});
    for (int j = 0; j < ops; ++j) {
      const Op& op = kOps[random() % std::size(kOps)];
      Add(&bytes, {0, op.number});
      for (int k = 0; k < op.inputs; ++k) {
        bytes.push_back(static_cast<uint8_t>(random() % 8));
      }
      Add(&bytes, {1, 0});
    }
    constexpr int kMostPorts = 7;
    Add(&bytes, {kCompile, 0, 0, 0, 0});
    bytes.insert(bytes.end(), kMostPorts, kFill);
    Add(&bytes, {kExecute, 0, 0, 0, 2});
    bytes.insert(bytes.end(), kMostPorts, kFill + 1);
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
