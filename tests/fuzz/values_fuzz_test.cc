// The fuzzer of tim::values on its corpus and on random bytes.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/corpus.h"
#include "tests/fuzz/mutation.h"
#include "tests/fuzz/values_session.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace tim::testing {
namespace {

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
  CallWithChanges(41, Call);
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
