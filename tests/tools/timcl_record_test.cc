// `timcl run` and `compare` of records: what was is repeated and compared.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <span>

#include "binary/record_file.h"
#include "runtime/device_pool.h"
#include "tests/tools/timcl_program.h"
#include "tools/timcl/record.h"
#include "vx/core/graph_core.h"
#include "vx/graph/context_impl.h"

namespace tim::tool {
namespace {

using binary::BlobHeader;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

std::shared_ptr<vx::Graph> RecordedGraph(const std::string& file,
                                         bool inputs = true) {
  auto devices = runtime::SelectDevices("host", {});
  EXPECT_TRUE(devices.ok());
  vx::ContextOptions options;
  options.record = {.file = file, .inputs = inputs};
  return vx::CreateContext(*std::move(devices), std::move(options))
      ->CreateGraph();
}

// Runs and gives the path of the record.
std::string RunRecorded(vx::Graph& graph) {
  EXPECT_TRUE(graph.Run()) << vx::LastError();
  return vx::CoreOf(&graph)->record_path;
}

// Log of four positive numbers.
std::string RecordLog(const std::string& folder, bool inputs = true) {
  const auto graph = RecordedGraph(folder + "/log.bin", inputs);
  const auto in = graph->CreateTensor(testing::Floats({4}, vx::INPUT));
  const auto out = graph->CreateTensor(testing::Floats({4}, vx::OUTPUT));
  (*graph->CreateOperation<vx::ops::Log>()).BindInput(in).BindOutput(out);
  testing::Write<float>(in, {1, 2, 3, 4});
  return RunRecorded(*graph);
}

std::string RunOf(const std::string& path, const std::string& more = "") {
  return "run '" + path + "' --device host --runs 1 --warm-up 0 " + more;
}

// Changes the last output of the record in a file, and its checksums.
void ChangeOutput(const std::string& path,
                  const std::function<void(char*)>& change) {
  std::string text = ReadText(path);
  const auto bytes = std::as_bytes(std::span(text));
  const auto blob = binary::OpenBlob(bytes, nullptr);
  ASSERT_TRUE(blob.ok());
  const auto record = binary::ReadRecord(*blob);
  ASSERT_TRUE(record.ok());
  change(text.data() + (record->outputs.back().data() - bytes.data()));
  BlobHeader header;
  std::memcpy(&header, text.data(), sizeof(header));
  binary::Seal(&header, bytes.subspan(sizeof(header)));
  std::memcpy(text.data(), &header, sizeof(header));
  WriteText(path, text);
}

TEST(TimclRecord, RunsAreRepeatedAndCompared) {
  const std::string path = RecordLog(FreshFolder("timcl_record"));
  const auto json = TimclJson(RunOf(path));
  EXPECT_EQ(json["inputs"][0]["least"], 1);
  EXPECT_EQ(json["inputs"][0]["greatest"], 4);
  ASSERT_EQ(json["repeated"].size(), 1u) << json;
  EXPECT_EQ(json["repeated"][0]["verdict"], "equal");
  EXPECT_EQ(json["record"]["end"], "run 1, which went well");
  EXPECT_EQ(json["record"]["environment"][0]["name"], "library");
  EXPECT_EQ(json["record"]["environment"][0]["differs"], false);
  const CommandResult text = Timcl(RunOf(path), "TIMCL_WINOGRAD=0");
  EXPECT_EQ(text.exit_status, 0) << text.output;
  EXPECT_THAT(text.output,
              AllOf(HasSubstr("record    run 1, which went well\n"),
                    ContainsRegex("\\*  TIMCL_WINOGRAD +-"),
                    HasSubstr("repeated  output 0 't1': equal\n")));
}

TEST(TimclRecord, WarningsAreToldALineEach) {
  const auto devices = runtime::SelectDevices("host", {});
  ASSERT_TRUE(devices.ok());
  binary::Record record;
  record.messages = {"no kernel\nfits", "it is slow"};
  EXPECT_THAT(RecordText(record, *devices),
              ::testing::EndsWith("warned    no kernel fits\n"
                                  "warned    it is slow\n"));
  EXPECT_EQ(RecordJson(record, *devices)["messages"], record.messages);
}

TEST(TimclRecord, OutputsThatDifferAreToldAndAreStatusOne) {
  const std::string path = RecordLog(FreshFolder("timcl_record"));
  const auto set = [](float value) {
    return [value](char* output) { std::memcpy(output, &value, 4); };
  };
  ChangeOutput(path, set(1e-6f));
  const CommandResult close = Timcl(RunOf(path));
  EXPECT_EQ(close.exit_status, 0) << close.output;
  EXPECT_THAT(close.output, HasSubstr("output 0 't1': within the tolerance; "
                                      "75.00 % equal, relative error 7."));
  ChangeOutput(path, set(1));
  const CommandResult apart = Timcl(RunOf(path));
  EXPECT_EQ(apart.exit_status, 1) << apart.output;
  EXPECT_THAT(apart.output, HasSubstr("output 0 't1': differs; 75.00 %"));
}

TEST(TimclRecord, CodesAreComparedExactly) {
  const std::string folder = FreshFolder("timcl_record");
  const auto graph = RecordedGraph(folder + "/codes.bin");
  const vx::Quantization quantization(vx::QuantType::ASYMMETRIC, 0.5f, 1);
  const auto in = graph->CreateTensor(
      vx::TensorSpec(vx::DataType::INT8, {2}, vx::INPUT, quantization));
  const auto out = graph->CreateTensor(
      vx::TensorSpec(vx::DataType::INT8, {2}, vx::OUTPUT, quantization));
  (*graph->CreateOperation<vx::ops::Relu>()).BindInput(in).BindOutput(out);
  testing::Write<int8_t>(in, {-100, 100});
  const std::string path = RunRecorded(*graph);
  EXPECT_EQ(Timcl(RunOf(path)).exit_status, 0);
  ChangeOutput(path, [](char* output) { ++output[1]; });
  const CommandResult apart = Timcl(RunOf(path));
  EXPECT_EQ(apart.exit_status, 1);
  EXPECT_THAT(apart.output, HasSubstr("differs; 50.00 % equal, codes up to 1"));
}

// state = state + in, out = state as it was.
TEST(TimclRecord, StatesBeginAsTheyWere) {
  const std::string folder = FreshFolder("timcl_record");
  const auto graph = RecordedGraph(folder + "/state.bin");
  const auto state = graph->CreateTensor(testing::Floats({2}, vx::VARIABLE));
  const auto in = graph->CreateTensor(testing::Floats({2}, vx::INPUT));
  const auto out = graph->CreateTensor(testing::Floats({2}, vx::OUTPUT));
  (*graph->CreateOperation<vx::ops::Add>())
      .BindInputs({state, in})
      .BindOutput(state);
  (*graph->CreateOperation<vx::ops::DataConvert>())
      .BindInput(state)
      .BindOutput(out);
  testing::Write<float>(in, {1, 10});
  RunRecorded(*graph);
  RunRecorded(*graph);
  const auto json = TimclJson(RunOf(RunRecorded(*graph)));
  EXPECT_EQ(json["record"]["run"], 3);
  EXPECT_EQ(json["repeated"][0]["verdict"], "equal") << json;
}

TEST(TimclRecord, OtherInputsAreNotCompared) {
  const std::string folder = FreshFolder("timcl_record");
  const std::string path = RecordLog(folder);
  WriteText(folder + "/in.raw", Bytes({5, 6, 7, 8}));
  const auto given = TimclJson(RunOf(path, "--input '" + folder + "/in.raw'"));
  EXPECT_EQ(given["inputs"][0]["least"], 5);
  EXPECT_FALSE(given.contains("repeated"));
  const auto random = TimclJson(RunOf(path, "--seed 3"));
  EXPECT_LT(random["inputs"][0]["least"], 1);
  EXPECT_FALSE(random.contains("repeated"));
}

TEST(TimclRecord, WithoutInputsHasOnlyItsEnvironment) {
  const std::string path = RecordLog(FreshFolder("timcl_record"), false);
  const CommandResult text = Timcl(RunOf(path));
  EXPECT_EQ(text.exit_status, 0) << text.output;
  EXPECT_THAT(text.output,
              AllOf(HasSubstr("record    no run; with TIMCL_"),
                    HasSubstr("library"), Not(HasSubstr("repeated  "))));
}

// At random some of the logarithms would be NaN.
TEST(TimclRecord, IsWhatCompareReads) {
  const std::string path = RecordLog(FreshFolder("timcl_record"));
  const auto json = TimclJson("compare '" + path +
                              "' --device host --other-set TIMCL_WINOGRAD=0");
  ASSERT_EQ(json["layers"].size(), 1u) << json;
  EXPECT_EQ(json["layers"][0]["first_nan"], 0);
  const auto random =
      TimclJson("compare '" + path +
                "' --device host --other-set TIMCL_WINOGRAD=0 --seed 1");
  EXPECT_GT(random["layers"][0]["first_nan"], 0);
  for (const std::string command : {"explain", "memory"}) {
    const CommandResult result =
        Timcl(command + " '" + path + "' --device host");
    EXPECT_EQ(result.exit_status, 0) << result.output;
  }
}

TEST(TimclRecord, FilesThatCannotBeUsedAreStatusThree) {
  const std::string path = RecordLog(FreshFolder("timcl_record"));
  const std::string whole = ReadText(path);
  const auto expect = [&](std::string text, const std::string& message) {
    WriteText(path, text);
    const CommandResult result = Timcl(RunOf(path));
    EXPECT_EQ(result.exit_status, 3) << result.output;
    EXPECT_THAT(result.output, HasSubstr(message));
  };
  expect(whole.substr(0, whole.size() - 1), "it is cut short");
  std::string later = whole;
  later[offsetof(BlobHeader, version)] = 2;
  expect(later, "it has format version 2, this library reads version 1");
  // One whose tables mean harm, as the header's hashes are right.
  std::string harm = whole;
  BlobHeader header;
  std::memcpy(&header, harm.data(), sizeof(header));
  std::fill_n(harm.begin() + static_cast<long>(header.record.offset), 8,
              '\x7f');
  binary::Seal(&header, std::as_bytes(std::span(harm)).subspan(sizeof(header)));
  std::memcpy(harm.data(), &header, sizeof(header));
  expect(harm, "the file cannot be used: the record: ");
}

}  // namespace
}  // namespace tim::tool
