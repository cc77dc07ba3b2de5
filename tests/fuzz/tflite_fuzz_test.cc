// The fuzzer of TFLite models on changes of its corpus.
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/fuzz/corpus.h"
#include "tests/fuzz/mutation.h"
#include "tim/models/tflite.h"
#include "tim/vx/context.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace tim::testing {
namespace {

bool IsSound(const std::vector<std::byte>& file) {
  static const auto context = vx::Context::Create();
  const auto model = models::ParseTflite(context, file.data(), file.size());
  EXPECT_EQ(model.graph == nullptr, !model.error.empty());
  return static_cast<bool>(model);
}

TEST(TfliteFuzz, ChangedFilesAreReadOrRefused) {
  const auto corpus = Corpus();
  ASSERT_EQ(corpus.size(), 4u);
  for (const auto& file : corpus) EXPECT_TRUE(IsSound(file));
  ExpectChangesAreJudged(7, [](const std::vector<std::byte>& file) {
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(file.data()),
                           file.size());
    return IsSound(file);
  });
}

}  // namespace
}  // namespace tim::testing
