// Sequences of calls that the fuzzer begins with.
#include <cstddef>
#include <cstdint>
#include <random>

#include "tests/fuzz/corpus.h"

namespace tim::testing {
namespace {

// Numbers of the calls in ValuesSession::Run().
enum Call : uint8_t {
  kOperate = 1,
  kLook = 3,
  kCompare = 4,
  kCapture = 6,
  kCompile = 10,
  kRunProgram = 11,
  kUseVariable = 13,
  kChangeMode = 14,
  kUseThreads = 16,
  kUseTape = 17,
  kUseGradient = 18,
};

// Functions of random operators, which are compared, captured and run.
std::vector<std::byte> Functions(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes;
  const auto add = [&](std::initializer_list<int> more) {
    for (const int byte : more) bytes.push_back(static_cast<std::byte>(byte));
  };
  // Operators and their operands, few of them odd.
  const auto add_text = [&](int count) {
    for (int i = 0; i < count; ++i) add({static_cast<int>(random() % 250)});
  };
  for (int i = 0; i < 6; ++i) {
    add({kCompare, 24});
    add_text(24 + 3);
    add({kCapture, 16});
    add_text(16 + 2);
    add({1, static_cast<int>(i % 2), 1, 0, 0, 1, 1, 1, 1});
    add({kCompile, 2, 0, 1, 1, i % 2, i % 2});
    add({kRunProgram, i % 2, 1, 2, 0, 1, 2, 3, kLook, 3, 5});
    add({kOperate, 0, 1, 2});
    add_text(6);
    add({i % 2 == 0 ? kUseTape : kUseGradient, 12});
    add_text(12 + 5);
    add({kUseVariable, 1, 0, i % 2, 1, kChangeMode, i % 2});
  }
  add({kUseThreads, 36});
  add_text(36);
  add({36});
  add_text(36);
  return bytes;
}

}  // namespace

std::vector<std::vector<std::byte>> Corpus() {
  std::vector<std::vector<std::byte>> files;
  for (uint32_t seed = 1; seed <= 8; ++seed) files.push_back(Functions(seed));
  return files;
}

}  // namespace tim::testing
