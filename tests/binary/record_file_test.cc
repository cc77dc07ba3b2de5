// Records beside a graph: what is written, and what is refused.
#include "binary/record_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "binary/record_generated.h"
#include "tests/binary/assign.h"

namespace tim::binary {
namespace {

using Bytes = std::vector<std::byte>;

Port FloatsOf(int64_t count) {
  Port port;
  port.desc.type = ir::DataType::kFloat32;
  port.desc.shape = {count};
  return port;
}

// The graph of a record with these bytes: inputs of 8 and 4 bytes, an output
// of 4.
Blob BlobOf(const Bytes& record) {
  Blob blob;
  blob.inputs = {FloatsOf(2), FloatsOf(1)};
  blob.outputs = {FloatsOf(1)};
  blob.record = record;
  return blob;
}

const Bytes kEight(8, std::byte{8});
const Bytes kFour(4, std::byte{4});

Record Whole() {
  return {.facts = {{"library", "9.9"}, {"device 0", "host"}},
          .run = 7,
          .end = RunEnd::kFailed,
          .message = "why",
          .inputs = {kEight, {}},
          .outputs = {kFour},
          .messages = {"slow", ""}};
}

TEST(Records, HoldWhatWasWritten) {
  const Bytes bytes = EncodeRecord(Whole()).ToBytes();
  ASSERT_OK_AND_ASSIGN(const Record record, ReadRecord(BlobOf(bytes)));
  EXPECT_EQ(record.facts, Whole().facts);
  EXPECT_EQ(record.run, 7u);
  EXPECT_EQ(record.end, RunEnd::kFailed);
  EXPECT_EQ(record.message, "why");
  EXPECT_EQ(record.messages, Whole().messages);
  ASSERT_EQ(record.inputs.size(), 2u);
  EXPECT_EQ(Bytes(record.inputs[0].begin(), record.inputs[0].end()), kEight);
  EXPECT_TRUE(record.inputs[1].empty());
  ASSERT_EQ(record.outputs.size(), 1u);
  EXPECT_EQ(Bytes(record.outputs[0].begin(), record.outputs[0].end()), kFour);
}

TEST(Records, WithoutARunHaveNoData) {
  const Bytes bytes = EncodeRecord({}).ToBytes();
  ASSERT_OK_AND_ASSIGN(const Record record, ReadRecord(BlobOf(bytes)));
  EXPECT_EQ(record.end, RunEnd::kNoRun);
  EXPECT_TRUE(record.inputs.empty());
  EXPECT_TRUE(record.outputs.empty());
  EXPECT_TRUE(record.messages.empty());
}

TEST(Records, OfOtherPortsAreRefused) {
  const auto expect = [](const Record& record, const std::string& message) {
    const Bytes bytes = EncodeRecord(record).ToBytes();
    EXPECT_ERROR(ReadRecord(BlobOf(bytes)), message);
  };
  Record fewer = Whole();
  fewer.inputs.pop_back();
  expect(fewer, "the record: it has 1 inputs, the binary graph has 2");
  Record larger = Whole();
  larger.outputs[0] = kEight;
  expect(larger, "output 0 has 8 bytes, ");
}

// A record whose one output is data `index`.
Bytes WithOutput(int32_t index, uint8_t end) {
  flatbuffers::FlatBufferBuilder builder;
  const auto outputs = builder.CreateVector(std::vector<int32_t>{index});
  builder.Finish(fbs::CreateRecord(builder, 0, 1, static_cast<fbs::RunEnd>(end),
                                   0, 0, outputs, 0));
  return Encoding({builder.GetBufferPointer(), builder.GetSize()}, {})
      .ToBytes();
}

TEST(Records, ThatMeanHarmAreRefused) {
  EXPECT_OK(ReadRecord(BlobOf(WithOutput(-1, 2))));
  EXPECT_ERROR(ReadRecord(BlobOf(WithOutput(0, 2))), "output 0 is data 0 of 0");
  EXPECT_ERROR(ReadRecord(BlobOf(WithOutput(-2, 2))), "is data -2 of 0");
  EXPECT_ERROR(ReadRecord(BlobOf(WithOutput(-1, 4))), "has ended in way 4");
}

TEST(Records, ThatAreCutShortAreRefused) {
  const Bytes whole = EncodeRecord(Whole()).ToBytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<long>(size));
    EXPECT_ERROR(ReadRecord(BlobOf(cut)), "the record: ");
  }
}

}  // namespace
}  // namespace tim::binary
