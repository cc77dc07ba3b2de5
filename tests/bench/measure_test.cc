// What the program run measures, serves and refuses.
#include "bench/networks/measure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "bench/models/catalog.h"
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
  EXPECT_EQ(found["type"], "float32");
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

// What Serve says to its input: `line` of the begin and the bytes after it.
struct Answer {
  Status status;
  std::string line;
  std::string bytes;
};

Answer ServeOneRelu(const std::string& input) {
  std::FILE* in = std::tmpfile();
  std::FILE* out = std::tmpfile();
  std::fwrite(input.data(), 1, input.size(), in);
  std::rewind(in);
  Answer answer;
  answer.status = Serve(OneRelu(), in, out);
  std::rewind(out);
  char line[200] = "";
  if (std::fgets(line, sizeof(line), out) != nullptr) answer.line = line;
  for (int c = std::fgetc(out); c != EOF; c = std::fgetc(out)) {
    answer.bytes.push_back(static_cast<char>(c));
  }
  std::fclose(in);
  std::fclose(out);
  return answer;
}

std::string Turn(int64_t count, const std::vector<float>& inputs) {
  std::string bytes(reinterpret_cast<const char*>(&count), sizeof(count));
  return bytes.append(reinterpret_cast<const char*>(inputs.data()),
                      inputs.size() * sizeof(float));
}

TEST(Serve, AnswersEveryTurnWithSecondsAndOutputs) {
  std::vector<float> inputs(48);
  FillValues(1, 1.0f, inputs);
  const std::vector<float> two(inputs.begin(), inputs.begin() + 32);
  const std::vector<float> one(inputs.begin() + 32, inputs.end());
  const Answer answer = ServeOneRelu(Turn(2, two) + Turn(1, one));
  EXPECT_OK(answer.status);
  EXPECT_EQ(answer.line.rfind("ready on ", 0), 0u) << answer.line;
  ASSERT_EQ(answer.bytes.size(), 3 * sizeof(double) + 48 * sizeof(float));
  const char* at = answer.bytes.data();
  for (int run = 0; run < 3; ++run) {
    if (run == 0 || run == 2) {
      std::vector<double> seconds(run == 0 ? 2 : 1);
      std::memcpy(seconds.data(), at, seconds.size() * sizeof(double));
      at += seconds.size() * sizeof(double);
      for (const double second : seconds) EXPECT_GT(second, 0);
    }
    float output[16];
    std::memcpy(output, at, sizeof(output));
    at += sizeof(output);
    for (int i = 0; i < 16; ++i) {
      EXPECT_FLOAT_EQ(output[i], std::max(inputs[16 * run + i], 0.0f));
    }
  }
}

TEST(Serve, ATurnCutShortIsAnError) {
  EXPECT_ERROR(ServeOneRelu(Turn(2, std::vector<float>(16))).status,
               "a turn of 2 inputs ended early");
  EXPECT_ERROR(ServeOneRelu("1234").status, "a turn ended early");
}

TEST(Serve, TurnsOfNoInputsAreAnError) {
  EXPECT_ERROR(ServeOneRelu(Turn(0, {})).status,
               "a turn of 0 inputs, expected 1 to 16777216");
  EXPECT_ERROR(ServeOneRelu(Turn(int64_t{1} << 40, {})).status,
               "expected 1 to 16777216");
}

}  // namespace
}  // namespace tim::bench
