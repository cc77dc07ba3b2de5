// The fuzzer of binary graphs on changes of its corpus.
#include <gtest/gtest.h>

#include <cstdint>

#include "binary/blob.h"
#include "tests/fuzz/blob_operators.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/mutation.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace tim::testing {
namespace {

bool IsSound(const std::vector<std::byte>& file) {
  const auto blob = binary::OpenBlob(file, nullptr, binary::Checksum::kIgnored);
  if (!blob.ok()) return false;
  ir::OpRegistry own(&FuzzOperators());
  return binary::ReadBlobGraph(*blob, FuzzOperators(), &own, "").ok();
}

TEST(BlobFuzz, ChangedFilesAreReadOrRefused) {
  const auto corpus = Corpus();
  ASSERT_EQ(corpus.size(), 4u);
  for (const auto& file : corpus) {
    EXPECT_TRUE(binary::OpenBlob(file, nullptr).ok());
    EXPECT_TRUE(IsSound(file));
  }
  ExpectChangesAreJudged(7, [](const std::vector<std::byte>& file) {
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(file.data()),
                           file.size());
    return IsSound(file);
  });
}

}  // namespace
}  // namespace tim::testing
