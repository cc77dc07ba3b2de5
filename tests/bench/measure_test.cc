// What the program run measures, serves and refuses.
#include "bench/networks/measure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/networks/catalog.h"
#include "bench/networks/process.h"
#include "bench/networks/serve.h"
#include "bench/networks/values.h"
#include "bench/timing/core_to_core.h"
#include "bench/timing/processors.h"
#include "tests/support/status_macros.h"

namespace tim::bench {
namespace {

TEST(Measure, GivesTimesAndMemory) {
  const auto figures = Measure(Perceptron(), {.runs = 3});
  ASSERT_OK(figures);
  const nlohmann::json& found = *figures;
  EXPECT_EQ(found["network"], "perceptron");
  EXPECT_GE(found["runs"], 3);
  EXPECT_EQ(found["weight_bytes"], 4 * 2 * (1024 * 1024 + 1024));
  EXPECT_GT(found["min_ms"], 0);
  EXPECT_GE(found["median_ms"], found["min_ms"]);
  EXPECT_GT(found["compile_s"], 0);
  EXPECT_GE(found["peak_bytes"], found["lower_bound_bytes"]);
  EXPECT_GE(found["lower_bound_bytes"], 4 * 8 * 1024);
  EXPECT_GE(found["planned_bytes"], found["weight_bytes"]);
  EXPECT_GT(found["resident_bytes"], found["weight_bytes"]);
}

TEST(Measure, TheCallersTimeIsNotOfTheRuns) {
  const auto figures = Measure(OneRelu(), {.runs = 3, .seconds_between = 0.1});
  ASSERT_OK(figures);
  EXPECT_LT((*figures)["min_ms"], 100);
}

TEST(CoreToCore, TakesNanoseconds) {
  const double found = CoreToCoreNanoseconds();
  if (AllowedProcessors().size() < 2) {
    EXPECT_EQ(found, 0);
    return;
  }
  EXPECT_GT(found, 1);
  EXPECT_LT(found, 1e6);
}

TEST(Measure, NoRunsAreAnError) {
  EXPECT_ERROR(Measure(OneRelu(), {.runs = 0}), "runs: expected 1 or more");
}

TEST(Measure, NegativeTimesBetweenAreAnError) {
  EXPECT_ERROR(Measure(OneRelu(), {.seconds_between = -1}),
               "between: expected 0 seconds or more");
}

TEST(PinThreads, MoreThanThereAreIsAnError) {
  EXPECT_ERROR(PinThreads(0), "threads: expected 1 to ");
  EXPECT_ERROR(PinThreads(100000), ", found 100000");
}

TEST(Serve, AnswersEveryInputWithSecondsAndOutput) {
  std::vector<float> inputs(32);
  FillValues(1, 1.0f, inputs);
  std::FILE* in = std::tmpfile();
  std::FILE* out = std::tmpfile();
  std::fwrite(inputs.data(), sizeof(float), inputs.size(), in);
  std::rewind(in);
  EXPECT_OK(Serve(OneRelu(), in, out));
  std::rewind(out);
  char line[200];
  ASSERT_NE(std::fgets(line, sizeof(line), out), nullptr);
  EXPECT_EQ(std::string(line).rfind("ready on ", 0), 0u) << line;
  for (int run = 0; run < 2; ++run) {
    double seconds = 0;
    float output[16];
    ASSERT_EQ(std::fread(&seconds, sizeof(seconds), 1, out), 1u);
    ASSERT_EQ(std::fread(output, sizeof(output), 1, out), 1u);
    EXPECT_GT(seconds, 0);
    for (int i = 0; i < 16; ++i) {
      EXPECT_FLOAT_EQ(output[i], std::max(inputs[16 * run + i], 0.0f));
    }
  }
  EXPECT_EQ(std::fgetc(out), EOF);
  std::fclose(in);
  std::fclose(out);
}

}  // namespace
}  // namespace tim::bench
