// The fuzzer of call sequences on its corpus and on random bytes.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/fuzz/calls_session.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/mutation.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace tim::testing {
namespace {

void Call(const std::vector<std::byte>& file) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(file.data()),
                         file.size());
}

TEST(CallsFuzz, SequencesOfTheCorpusRun) {
  for (const auto& file : Corpus()) Call(file);
  EXPECT_GT(CountsOfCalls().executes, 15);
}

TEST(CallsFuzz, ChangedSequencesAreAnsweredOrRefused) {
  CallWithChanges(41, Call);
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
