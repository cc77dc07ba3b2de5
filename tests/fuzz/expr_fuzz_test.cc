// The fuzzer of texts on changes of its corpus.
#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

#include "expr/program.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/mutation.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace tim::testing {
namespace {

bool IsSound(const std::vector<std::byte>& file) {
  return expr::ReadProgram(
             {reinterpret_cast<const char*>(file.data()), file.size()})
      .ok();
}

TEST(ExprFuzz, ChangedTextsAreReadOrRefused) {
  const auto corpus = Corpus();
  ASSERT_EQ(corpus.size(), 6u);
  for (const auto& file : corpus) EXPECT_TRUE(IsSound(file));
  ExpectChangesAreJudged(13, [](const std::vector<std::byte>& file) {
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(file.data()),
                           file.size());
    return IsSound(file);
  });
}

}  // namespace
}  // namespace tim::testing
