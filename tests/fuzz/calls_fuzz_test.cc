// The fuzzer of call sequences on its corpus and on random bytes.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include "tests/fuzz/calls_session.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/mutation.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace tim::testing {
namespace {

using Clock = std::chrono::steady_clock;

void Call(const std::vector<std::byte>& file) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(file.data()),
                         file.size());
}

TEST(CallsFuzz, SequencesOfTheCorpusRun) {
  for (const auto& file : Corpus()) Call(file);
  EXPECT_GT(CountsOfCalls().executes, 15);
}

TEST(CallsFuzz, ChangedSequencesAreAnsweredOrRefused) {
  const bool is_long = std::getenv("TIMCL_TEST_LONG") != nullptr;
  const auto end = Clock::now() + std::chrono::seconds(is_long ? 600 : 6);
  const auto corpus = Corpus();
  std::mt19937 random(41);
  do {
    const auto& file = corpus[random() % corpus.size()];
    Call(Mutated(file, corpus[random() % corpus.size()], random));
    std::vector<std::byte> bytes(random() % 300);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    Call(bytes);
  } while (Clock::now() < end);
  const CallCounts& counts = CountsOfCalls();
  RecordProperty("calls", std::to_string(counts.calls));
  RecordProperty("executes", std::to_string(counts.executes));
  EXPECT_GT(counts.refused, counts.calls / 100);
  EXPECT_GT(counts.partitions, 100);
  EXPECT_GT(counts.compiles, 50);
  EXPECT_GT(counts.executes, 50);
}

}  // namespace
}  // namespace tim::testing
