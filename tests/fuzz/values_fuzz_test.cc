// The fuzzer of tim::values on its corpus and on random bytes.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/corpus.h"
#include "tests/fuzz/mutation.h"
#include "tests/fuzz/values_session.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace tim::testing {
namespace {

using Clock = std::chrono::steady_clock;

void Call(const std::vector<std::byte>& file) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(file.data()),
                         file.size());
}

TEST(ValuesFuzz, SequencesOfTheCorpusRun) {
  for (const auto& file : Corpus()) Call(file);
  EXPECT_GT(CountsOfValues().compared, 10);
  EXPECT_GT(CountsOfValues().runs, 15);
}

TEST(ValuesFuzz, ChangedSequencesAreAnsweredOrRefused) {
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
  const ValuesCounts& counts = CountsOfValues();
  RecordProperty("calls", std::to_string(counts.calls));
  RecordProperty("compared", std::to_string(counts.compared));
  EXPECT_GT(counts.refused, counts.calls / 100);
  EXPECT_GT(counts.graphs, 50);
  EXPECT_GT(counts.runs, 50);
  EXPECT_GT(counts.compared, 30);
}

}  // namespace
}  // namespace tim::testing
