// The fuzzer of plans on changes of its corpus.
#include <gtest/gtest.h>

#include <cstdint>

#include "binary/plan/plan_file.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/mutation.h"
#include "tests/support/long_tests.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace tim::testing {
namespace {

TEST(PlanFuzz, ChangedPlansAreReadOrRefused) {
  const auto corpus = Corpus();
  ASSERT_EQ(corpus.size(), 9u);
  for (const auto& file : corpus) {
    EXPECT_TRUE(binary::ReadPlan(file).ok());
  }
  std::mt19937 random(11);
  int sound = 0;
  const int files = RunsLongTests() ? 3'000'000 : 60'000;
  for (int i = 0; i < files; ++i) {
    const auto file = Mutated(corpus[random() % corpus.size()],
                              corpus[random() % corpus.size()], random);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(file.data()),
                           file.size());
    sound += binary::ReadPlan(file).ok();
  }
  // Both sides of the border are tried.
  EXPECT_GT(sound, files / 50);
  EXPECT_LT(sound, files - files / 50);
}

}  // namespace
}  // namespace tim::testing
