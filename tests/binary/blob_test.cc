// The envelope of binary graphs: header, checksum, inputs and outputs.
#include "binary/blob.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "binary/program_file.h"
#include "binary/record_file.h"
#include "tests/binary/assign.h"
#include "tests/support/toy_ops.h"

namespace tim::binary {
namespace {

using testing::ToyGraph;
using testing::ToyOperators;
using Bytes = std::vector<std::byte>;

Port PortOf(const ir::Graph& graph, ir::ValueId id) {
  return {.name = graph.value(id).name, .desc = graph.value(id).desc};
}

// y = x + 1; the second input is unused.
BlobContent Content() {
  ToyGraph toy("small");
  const ir::ValueId x = toy.Input({4});
  toy.graph().AddInput(ir::kNone);
  const ir::ValueId y = toy.Op("Sum", {x, toy.Constant({4}, 1)});
  toy.graph().value(y).desc = toy.graph().value(x).desc;
  toy.Output(y);
  auto encoding = EncodeGraph(toy.graph());
  EXPECT_OK(encoding);
  Port unused = PortOf(toy.graph(), x);
  unused.unused = true;
  return {.library = "9.9",
          .graph_name = "small",
          .inputs = {PortOf(toy.graph(), x), unused},
          .outputs = {PortOf(toy.graph(), y)},
          .graph = *encoding,
          .plan = std::nullopt,
          .programs = std::nullopt,
          .record = std::nullopt,
          .kernels = "k"};
}

Bytes Write(const BlobContent& content) {
  const BlobWriter writer(content);
  Bytes bytes(static_cast<size_t>(writer.bytes()));
  writer.WriteTo(bytes.data());
  return bytes;
}

Status Open(const Bytes& bytes) { return OpenBlob(bytes, nullptr).status(); }

TEST(Blob, HoldsWhatWasWritten) {
  const Bytes bytes = Write(Content());
  ASSERT_OK_AND_ASSIGN(const Blob blob, OpenBlob(bytes, nullptr));
  EXPECT_EQ(blob.library, "9.9");
  EXPECT_EQ(blob.graph_name, "small");
  ASSERT_EQ(blob.inputs.size(), 2u);
  EXPECT_EQ(blob.inputs[0].desc, Content().inputs[0].desc);
  EXPECT_TRUE(blob.inputs[1].unused);
  EXPECT_TRUE(blob.plan.empty());
  ASSERT_OK_AND_ASSIGN(const ir::Graph graph,
                       ReadBlobGraph(blob, ToyOperators(), nullptr, ""));
  EXPECT_EQ(graph.NodeIds().size(), 1u);
  EXPECT_EQ(Write(Content()), bytes);
}

TEST(Blob, HoldsAPlanAndPrograms) {
  BlobContent content = Content();
  content.plan = content.graph;
  const Programs programs = {{"a", "AAA"}, {"b", std::string(100, 'B')}};
  content.programs = EncodePrograms(programs);
  const Bytes bytes = Write(content);
  ASSERT_OK_AND_ASSIGN(const Blob blob, OpenBlob(bytes, nullptr));
  EXPECT_EQ(Bytes(blob.plan.begin(), blob.plan.end()), content.graph.ToBytes());
  EXPECT_EQ(blob.kernels, "k");
  ASSERT_OK_AND_ASSIGN(const auto found, ReadPrograms(blob.programs));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found.at("b").size(), 100u);
  EXPECT_EQ(found.at("a")[2], std::byte{'A'});
  EXPECT_ERROR(ReadPrograms(blob.programs.first(blob.programs.size() - 1)),
               "stored programs: ");
}

TEST(Blob, HoldsARecordThatOthersNeedNotKnow) {
  BlobContent content = Content();
  const Bytes without = Write(content);
  Record facts;
  facts.facts = {{"library", "9.9"}};
  content.record = EncodeRecord(facts);
  Bytes bytes = Write(content);
  ASSERT_OK_AND_ASSIGN(const Blob blob, OpenBlob(bytes, nullptr));
  ASSERT_OK_AND_ASSIGN(const Record record, ReadRecord(blob));
  EXPECT_EQ(record.facts, facts.facts);
  EXPECT_TRUE(blob.plan.empty());
  EXPECT_OK(ReadBlobGraph(blob, ToyOperators(), nullptr, ""));
  // The parts before it lie where they lie without.
  constexpr size_t kHeader = sizeof(BlobHeader);
  EXPECT_TRUE(std::equal(without.begin() + kHeader, without.end(),
                         bytes.begin() + kHeader));
  BlobHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  EXPECT_EQ(header.version, 1u);
  header.record.bytes = 1u << 20;
  Seal(&header, std::span(bytes).subspan(kHeader));
  std::memcpy(bytes.data(), &header, sizeof(header));
  EXPECT_ERROR(Open(bytes), "its header is wrong");
}

TEST(Blob, CopiesKnowTheirLength) {
  Bytes bytes = Write(Content());
  const size_t size = bytes.size();
  bytes.resize(size + 100);
  ASSERT_OK_AND_ASSIGN(const Blob blob, CopyBlob(bytes.data()));
  std::fill(bytes.begin(), bytes.end(), std::byte{0});
  EXPECT_OK(ReadBlobGraph(blob, ToyOperators(), nullptr, ""));
  EXPECT_ERROR(CopyBlob(nullptr), "the binary graph: there is none");
}

TEST(Blob, MayHaveBytesBehindIt) {
  Bytes bytes = Write(Content());
  bytes.push_back(std::byte{1});
  EXPECT_OK(Open(bytes));
}

TEST(Blob, EveryTruncationIsAnError) {
  const Bytes good = Write(Content());
  for (size_t size = 0; size < good.size(); ++size) {
    const Bytes cut(good.begin(), good.begin() + static_cast<long>(size));
    EXPECT_ERROR(Open(cut), size == 0  ? "there is none"
                            : size < 8 ? "no binary graph of this library"
                                       : "cut short");
  }
}

TEST(Blob, EveryFlippedBitIsAnError) {
  const Bytes good = Write(Content());
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    Bytes bytes = good;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_ERROR(Open(bytes), bit < 64     ? "no binary graph of this library"
                              : bit < 96   ? "format version"
                              : bit < 1024 ? "header is damaged"
                                           : "checksum is wrong");
  }
}

// A header that is sealed anew, as who writes a hostile file would do.
void ExpectRefused(const std::function<void(BlobHeader&)>& change,
                   const std::string& why) {
  Bytes bytes = Write(Content());
  BlobHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  change(header);
  Seal(&header, std::span(bytes).subspan(sizeof(header)));
  std::memcpy(bytes.data(), &header, sizeof(header));
  EXPECT_ERROR(Open(bytes), why);
}

TEST(Blob, HostileSectionsAreRefused) {
  for (BlobSection BlobHeader::*section :
       {&BlobHeader::contents, &BlobHeader::graph, &BlobHeader::plan,
        &BlobHeader::programs}) {
    for (const uint64_t offset : {uint64_t{0}, uint64_t{64}, uint64_t{129},
                                  uint64_t{1} << 40, ~uint64_t{63}}) {
      ExpectRefused(
          [&](BlobHeader& header) {
            header.*section = {.offset = offset, .bytes = 64};
          },
          "its header is wrong");
    }
    ExpectRefused(
        [&](BlobHeader& header) {
          header.*section = {.offset = 128, .bytes = ~uint64_t{0}};
        },
        "its header is wrong");
  }
  ExpectRefused([](BlobHeader& header) { header.contents.bytes = 0; },
                "it has 0 bytes");
  ExpectRefused([](BlobHeader& header) { header.total_bytes += 1; },
                "cut short");
  ExpectRefused([](BlobHeader& header) { header.total_bytes = 128; },
                "its header is wrong");
  ExpectRefused([](BlobHeader& header) { header.total_bytes = 0; }, "");
}

TEST(Blob, PortsMustBeThoseOfTheGraph) {
  const auto refused = [](const std::function<void(BlobContent&)>& change,
                          const std::string& why) {
    BlobContent content = Content();
    change(content);
    const Bytes bytes = Write(content);
    const auto blob = OpenBlob(bytes, nullptr);
    const auto graph =
        blob.ok() ? ReadBlobGraph(*blob, ToyOperators(), nullptr, "").status()
                  : blob.status();
    EXPECT_EQ(graph.code(), StatusCode::kInvalidArgument);
    EXPECT_ERROR(graph, why);
  };
  refused([](auto& c) { c.inputs.pop_back(); },
          "it lists 1 inputs, its graph has 2");
  refused([](auto& c) { c.inputs[1].unused = false; },
          "differs from its graph");
  refused([](auto& c) { c.outputs[0].desc.shape = {5}; },
          "its list of outputs differs from its graph in output 0");
  refused([](auto& c) { c.inputs[0].desc.shape = ir::Shape(); },
          "not completely known");
  refused([](auto& c) { c.inputs[0].desc.type = ir::DataType::kUnknown; },
          "the data type is unknown");
}

}  // namespace
}  // namespace tim::binary
