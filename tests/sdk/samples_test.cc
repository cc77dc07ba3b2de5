// The sample programs, as `bazel build //samples/...` makes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

CommandResult RunSample(const std::string& name,
                        const std::string& environment = "") {
  return RunCommand(environment + " samples/" + name + "/" + name);
}

TEST(Samples, SeveralThreads) {
  for (const char* environment : {"", "TIMCL_DEVICE=host"}) {
    const CommandResult run = RunSample("several_threads", environment);
    EXPECT_EQ(run.exit_status, 0) << run.output;
    EXPECT_THAT(run.output, HasSubstr("a context each: 400 of 400 runs right"));
    EXPECT_THAT(run.output, HasSubstr("one context: 400 of 400 runs right"));
  }
}

TEST(Samples, SeveralDevices) {
  const CommandResult run = RunSample("several_devices");
  EXPECT_EQ(run.exit_status, 0) << run.output;
  EXPECT_THAT(run.output, ContainsRegex("device [0-9]+, host: 1 core"));
  EXPECT_THAT(run.output, ContainsRegex("images on [0-9]+ queues"));
}

TEST(Samples, Digits) {
  const CommandResult run = RunSample("digits");
  EXPECT_EQ(run.exit_status, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("PASS float32"));
  EXPECT_THAT(run.output, HasSubstr("PASS uint8"));
}

TEST(Samples, GraphGettingStarted) {
  const CommandResult run =
      RunSample("graph_getting_started", "TIMCL_GRAPH_GPU=all");
  EXPECT_EQ(run.exit_status, 0) << run.output;
  for (const char* kind : {"cpu", "gpu"}) {
    EXPECT_THAT(run.output, HasSubstr(std::string(kind) + " engine\n"));
  }
  EXPECT_THAT(run.output, HasSubstr("partition of conv bias relu, makes"));
  EXPECT_THAT(run.output, HasSubstr("partition of mirror: not supported"));
  EXPECT_THAT(run.output, HasSubstr("partition of reshape product, makes"));
  EXPECT_THAT(run.output, testing::Not(HasSubstr("WRONG")));
}

TEST(Samples, FirstGraph) {
  const CommandResult run = RunSample("first_graph");
  EXPECT_EQ(run.exit_status, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("0 0 4 3 5 0"));
}

TEST(Samples, FirstValue) {
  const CommandResult run = RunSample("first_value");
  EXPECT_EQ(run.exit_status, 0) << run.output;
  EXPECT_EQ(run.output, "0 0 4 3 5 0 \n0 0 4 3 5 0 \n0 0 4 3 5 0 \n");
}

}  // namespace
}  // namespace tim::structure
