// The fuzzer of plans on changes of its corpus.
#include <gtest/gtest.h>

#include <cstdint>

#include "binary/plan/plan_file.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/mutation.h"
#include "tests/fuzz/plan_operators.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace tim::testing {
namespace {

TEST(PlanFuzz, ChangedPlansAreReadOrRefused) {
  const auto corpus = Corpus();
  ASSERT_EQ(corpus.size(), 12u);
  for (const auto& file : corpus) {
    EXPECT_TRUE(binary::ReadPlan(file, BodyOperators()).ok());
  }
  ExpectChangesAreJudged(11, [](const std::vector<std::byte>& file) {
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(file.data()),
                           file.size());
    return binary::ReadPlan(file, BodyOperators()).ok();
  });
}

}  // namespace
}  // namespace tim::testing
