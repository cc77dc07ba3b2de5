// Bytes that are no graph: errors that say so, in bounded time and memory.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "binary/graph_file.h"
#include "binary/graph_generated.h"
#include "binary/table_file.h"
#include "tests/support/status_macros.h"
#include "tests/support/toy_ops.h"

namespace tim::binary {
namespace {

using testing::ToyGraph;
using testing::ToyOperators;

std::shared_ptr<const ir::Composite> TwiceOf(int inputs) {
  ToyGraph body("body");
  for (int i = 0; i < inputs; ++i) body.Input({4});
  body.Output(body.Op("Twice", {body.graph().inputs()[0]}));
  return std::make_shared<ir::Composite>(
      ir::Composite{.name = "user.Whole", .body = body.graph()});
}

// x + 1 of a constant, then a composite.
ToyGraph Small() {
  ToyGraph toy("small");
  const ir::ValueId sum = toy.Op("Sum", {toy.Input({4}), toy.Constant({4}, 1)});
  const ir::ValueId out = toy.graph().AddValue({}, {}, "out");
  ir::Node whole;
  whole.name = "whole";
  whole.inputs = {sum};
  whole.outputs = {out};
  whole.composite = TwiceOf(1);
  toy.graph().AddNode(whole);
  toy.Output(out);
  return toy;
}

std::vector<std::byte> Bytes(const ir::Graph& graph) {
  auto bytes = WriteGraph(graph);
  EXPECT_OK(bytes);
  return bytes.ok() ? *bytes : std::vector<std::byte>();
}

// The writer does not check what it writes.
using Break = std::function<void(ir::Graph&)>;

void ExpectRefused(const Break& damage, const std::string& why) {
  ToyGraph toy = Small();
  ASSERT_OK(ReadGraph(Bytes(toy.graph()), ToyOperators()));
  damage(toy.graph());
  const auto read = ReadGraph(Bytes(toy.graph()), ToyOperators());
  EXPECT_EQ(read.status().code(), StatusCode::kInvalidArgument);
  EXPECT_ERROR(read, "binary graph: ");
  EXPECT_ERROR(read, why);
}

TEST(HostileGraph, DescsAreChecked) {
  const auto with = [](const std::function<void(ir::TensorDesc&)>& change) {
    return [change](ir::Graph& graph) { change(graph.value(0).desc); };
  };
  using ir::Shape;
  ExpectRefused(with([](auto& d) { d.shape = Shape{4, 0}; }), "extent is 0");
  ExpectRefused(with([](auto& d) { d.shape = Shape{-2}; }), "extent is -2");
  ExpectRefused(with([](auto& d) { d.shape = Shape{int64_t{1} << 41}; }),
                "extent is 2199023255552");
  ExpectRefused(with([](auto& d) { d.shape = Shape::OfRank(9); }), "rank is 9");
  ExpectRefused(with([](auto& d) {
                  d.shape = Shape{int64_t{1} << 25, int64_t{1} << 24};
                }),
                "too large");
  ExpectRefused(with([](auto& d) { d.type = static_cast<ir::DataType>(16); }),
                "data type 16");
  ExpectRefused(with([](auto& d) {
                  d.quantization.kind = static_cast<ir::QuantizationKind>(4);
                }),
                "quantization 4");
  ExpectRefused(with([](auto& d) { d.quantization.axis = 8; }), "axis 8");
  ExpectRefused(with([](auto& d) { d.layout = ir::Layout::Blocked(1, 4); }),
                "layout is blocked");
  ExpectRefused(with([](auto& d) { d.layout = ir::Layout::Blocked(0, 0); }),
                "layout is blocked");
  ExpectRefused(
      with([](auto& d) { d.layout.kind = static_cast<ir::LayoutKind>(9); }),
      "layout 9");
}

TEST(HostileGraph, ValuesAreChecked) {
  ExpectRefused(
      [](ir::Graph& g) { g.value(0).role = static_cast<ir::Role>(4); },
      "tensor 0: unknown role 4");
  ExpectRefused([](ir::Graph& g) { g.value(1).constant = nullptr; },
                "without data");
  ExpectRefused([](ir::Graph& g) { g.value(1).desc.shape = {5}; },
                "16 bytes of data");
  ExpectRefused([](ir::Graph& g) { g.value(1).desc.shape = {}; },
                "not completely known");
}

TEST(HostileGraph, NodesAreChecked) {
  ExpectRefused([](ir::Graph& g) { g.node(0).outputs[0] = 0; },
                "which something else makes");
  ExpectRefused([](ir::Graph& g) { g.node(1).outputs[0] = 2; },
                "operation 'whole': output 0 is tensor");
  ExpectRefused([](ir::Graph& g) { g.node(1).composite = TwiceOf(2); },
                "its body has 2 inputs, the operation 1");
  ExpectRefused([](ir::Graph& g) { g.node(1).outputs.push_back(ir::kNone); },
                "its body has 1 outputs, the operation 2");
  ExpectRefused([](ir::Graph& g) { g.node(0).inputs.pop_back(); },
                "1 inputs are bound");
  ExpectRefused([](ir::Graph& g) { g.node(0).inputs[1] = ir::kNone; },
                "input 1 is required");
  ExpectRefused([](ir::Graph& g) { g.node(0).attributes.Set("odd", true); },
                "no attribute 'odd'");
  ExpectRefused(
      [](ir::Graph& g) { g.node(0).attributes.Set("round_type", true); },
      "'round_type' is of type bool");
  ExpectRefused([](ir::Graph& g) { g.node(0).inputs[0] = 3; }, "cycle");
  ExpectRefused(
      [](ir::Graph& g) {
        ir::Composite body = *g.node(1).composite;
        body.body.node(0).outputs[0] = ir::kNone;
        g.node(1).composite = std::make_shared<ir::Composite>(body);
      },
      "output 0 is required");
  ExpectRefused(
      [](ir::Graph& g) {
        ir::Composite body = *g.node(1).composite;
        body.body.RemoveNode(0);
        g.node(1).composite = std::make_shared<ir::Composite>(body);
      },
      "does not make output 0");
}

TEST(HostileGraph, EndsAreChecked) {
  ExpectRefused([](ir::Graph& g) { g.AddInput(1); }, "is no input");
  ExpectRefused([](ir::Graph& g) { g.AddInput(0); }, "twice an input");
  ExpectRefused([](ir::Graph& g) { g.AddStateUpdate(0, 2); }, "state update 0");
}

// Every place that holds an index, by what its vector is.
TEST(HostileGraph, IndicesAreChecked) {
  const auto refused = [](const std::function<void(fbs::GraphFile&)>& damage,
                          const std::string& why) {
    std::vector<std::byte> bytes = Bytes(Small().graph());
    auto* file = flatbuffers::GetMutableRoot<fbs::GraphFile>(
        bytes.data() + sizeof(TableFileHeader));
    damage(*file);
    EXPECT_ERROR(ReadGraph(bytes, ToyOperators()), why);
  };
  const auto change = [](const flatbuffers::Vector<int32_t>* list,
                         int32_t value) {
    const_cast<flatbuffers::Vector<int32_t>*>(list)->Mutate(0, value);
  };
  using File = fbs::GraphFile;
  refused([&](File& f) { change(f.graph()->inputs(), 99); }, "tensor 99 of 4");
  refused([&](File& f) { change(f.graph()->outputs(), -2); }, "tensor -2 of 4");
  refused([&](File& f) { change(f.graph()->nodes()->Get(0)->inputs(), 4); },
          "tensor 4 of 4");
  refused([&](File& f) { change(f.graph()->nodes()->Get(1)->outputs(), 77); },
          "tensor 77 of 4");
  const auto extent = [](File& f) {
    auto* data = const_cast<fbs::Extent*>(f.data()->Get(0));
    return reinterpret_cast<uint64_t*>(data);
  };
  refused([&](File& f) { extent(f)[0] = 64; }, "outside of its file");
  refused([&](File& f) { extent(f)[0] = 8; }, "outside of its file");
  refused([&](File& f) { extent(f)[0] = ~uint64_t{63}; }, "outside");
  refused([&](File& f) { extent(f)[1] = ~uint64_t{0}; }, "outside");
  refused([&](File& f) { extent(f)[1] = 12; }, "12 bytes of data");
}

TEST(HostileGraph, HeadersAreChecked) {
  const std::vector<std::byte> good = Bytes(Small().graph());
  const auto refused = [&](size_t field, uint64_t value,
                           const std::string& why) {
    std::vector<std::byte> bytes = good;
    std::memcpy(bytes.data() + 8 * field, &value, 8);
    EXPECT_ERROR(ReadGraph(bytes, ToyOperators()), why);
  };
  refused(0, good.size(), "bytes of tables");
  refused(0, ~uint64_t{0}, "bytes of tables");
  refused(0, 0, "damaged");
  refused(1, 64, "bytes of data at 64");
  refused(1, ~uint64_t{63}, "bytes of data at");
  refused(2, 1, "1 bytes of data");
}

TEST(HostileGraph, EveryTruncationIsAnError) {
  const std::vector<std::byte> good = Bytes(Small().graph());
  for (size_t size = 0; size < good.size(); ++size) {
    // Exactly as many bytes, so that a sanitizer sees reads behind them.
    const std::vector<std::byte> cut(good.begin(),
                                     good.begin() + static_cast<long>(size));
    EXPECT_FALSE(ReadGraph(cut, ToyOperators()).ok()) << size;
  }
}

// A flipped bit can give another graph; what matters is that nothing crashes,
// and that what is read can be written.
TEST(HostileGraph, EveryFlippedBitIsSurvived) {
  const std::vector<std::byte> good = Bytes(Small().graph());
  int refused = 0;
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::vector<std::byte> bytes = good;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    const auto read = ReadGraph(bytes, ToyOperators());
    if (!read.ok()) {
      ++refused;
      continue;
    }
    EXPECT_OK(read->CheckChains());
    EXPECT_OK(WriteGraph(*read));
  }
  EXPECT_GT(refused, 1000);
}

std::vector<std::byte> FileOf(
    const std::function<flatbuffers::Offset<fbs::Graph>(
        flatbuffers::FlatBufferBuilder&)>& make) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fbs::CreateGraphFile(builder, make(builder)));
  return Encoding({builder.GetBufferPointer(), builder.GetSize()}, {})
      .ToBytes();
}

// 20,000 tensors with one name of a megabyte would take 20 GB.
TEST(HostileGraph, SharedTextsTakeNoMemory) {
  const auto bytes = FileOf([](flatbuffers::FlatBufferBuilder& builder) {
    const auto name = builder.CreateString(std::string(1 << 20, 'x'));
    std::vector<flatbuffers::Offset<fbs::Value>> values;
    for (int i = 0; i < 20000; ++i) {
      values.push_back(fbs::CreateValue(builder, name));
    }
    return fbs::CreateGraph(builder, 0, builder.CreateVector(values));
  });
  EXPECT_ERROR(ReadGraph(bytes, ToyOperators()), "far more than a file");
}

// 2^30 tables, if each reference were followed.
TEST(HostileGraph, SharedTablesTakeNoTime) {
  const auto bytes = FileOf([](flatbuffers::FlatBufferBuilder& builder) {
    auto graph = fbs::CreateGraph(builder);
    for (int depth = 0; depth < 30; ++depth) {
      const auto composite = fbs::CreateComposite(builder, 0, graph);
      const auto node = fbs::CreateNode(builder, 0, 0, 0, 0, 0, composite);
      const std::vector<flatbuffers::Offset<fbs::Node>> nodes = {node, node};
      graph = fbs::CreateGraph(builder, 0, 0, builder.CreateVector(nodes));
    }
    return graph;
  });
  EXPECT_ERROR(ReadGraph(bytes, ToyOperators()), "tables are damaged");
}

TEST(HostileGraph, DeepGraphsTakeNoStack) {
  for (const int depths : {33, 100000}) {
    const auto bytes = FileOf([&](flatbuffers::FlatBufferBuilder& builder) {
      auto graph = fbs::CreateGraph(builder);
      for (int depth = 0; depth < depths; ++depth) {
        const auto attribute = fbs::CreateAttribute(
            builder, builder.CreateSharedString("graph"),
            fbs::AttributeType::Graph, 0, 0, 0, 0, 0, 0, -1, graph);
        const auto attributes = builder.CreateVector(&attribute, 1);
        const auto node = fbs::CreateNode(
            builder, 0, builder.CreateSharedString("toy.Twice@1"), attributes);
        graph = fbs::CreateGraph(builder, 0, 0, builder.CreateVector(&node, 1));
      }
      return graph;
    });
    EXPECT_ERROR(ReadGraph(bytes, ToyOperators()),
                 depths == 33 ? "nested deeper than 32" : "damaged");
  }
}

TEST(HostileGraph, WhatIsMissingIsTold) {
  const auto empty = FileOf([](flatbuffers::FlatBufferBuilder&) {
    return flatbuffers::Offset<fbs::Graph>();
  });
  EXPECT_ERROR(ReadGraph(empty, ToyOperators()), "it has no graph");
  const auto nameless = FileOf([](flatbuffers::FlatBufferBuilder& builder) {
    const auto node = fbs::CreateNode(builder);
    return fbs::CreateGraph(builder, 0, 0, builder.CreateVector(&node, 1));
  });
  EXPECT_ERROR(ReadGraph(nameless, ToyOperators()), "no operator ''");
}

}  // namespace
}  // namespace tim::binary
