// The fuzzer of graph files on changes of its corpus.
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/fuzz/corpus.h"
#include "tests/fuzz/mutation.h"
#include "tools/timcl/graph_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace tim::testing {
namespace {

bool IsSound(const std::vector<std::byte>& file) {
  return tool::ReadGraphJson(
             {reinterpret_cast<const char*>(file.data()), file.size()})
      .ok();
}

TEST(GraphFuzz, ChangedFilesAreReadOrRefused) {
  const auto corpus = Corpus();
  ASSERT_EQ(corpus.size(), 3u);
  for (const auto& file : corpus) EXPECT_TRUE(IsSound(file));
  ExpectChangesAreJudged(17, [](const std::vector<std::byte>& file) {
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(file.data()),
                           file.size());
    return IsSound(file);
  });
}

}  // namespace
}  // namespace tim::testing
