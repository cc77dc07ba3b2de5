#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph_api/graph.h"
#include "graph_api/op_def.h"
#include "graph_api/partitioning.h"
#include "tests/graph_api/partition_support.h"

namespace tim::graph {
namespace {

using testing::Described;
using ::testing::ElementsAre;
using testing::ExecuteOn;
using testing::HostEngine;

constexpr Dims::value_type kExtent = 4;

// Ops of the library, each from one tensor to the next: 0 -> 1 -> 2 ...
Graph ChainOf(const std::vector<tim_graph_op_kind_t>& kinds) {
  Graph graph(GraphTraits{.kind = tim_graph_cpu});
  for (size_t i = 0; i < kinds.size(); ++i) {
    Op op;
    op.id = i;
    op.kind = kinds[i];
    op.inputs = {Described(i, {kExtent})};
    op.outputs = {Described(i + 1, {kExtent})};
    const Status added = graph.AddOp(BuiltinOps(), std::move(op));
    EXPECT_TRUE(added.ok()) << added.ToString();
  }
  EXPECT_TRUE(graph.Finalize().ok());
  return graph;
}

// Values of each tensor, where every supported partition has run.
std::map<size_t, std::vector<float>> ValuesOf(const Partitions& partitions) {
  const auto engine = HostEngine();
  tim_graph_stream stream(engine, tim_graph_stream_default_flags);
  std::map<size_t, std::vector<float>> values;
  values[0] = {-2, -1, 1, 2};
  for (const auto& partition : partitions) {
    const Ports& ports = partition->ports();
    const size_t from = ports.inputs.at(0).id, to = ports.outputs.at(0).id;
    values[to].resize(kExtent);
    const CompileResult made =
        Compile(partition->source(), ports.inputs, ports.outputs, engine);
    EXPECT_EQ(made.code, partition->supported() ? tim_graph_success
                                                : tim_graph_invalid_arguments)
        << made.status.ToString();
    if (made.compiled == nullptr) {
      values[to] = values[from];
      continue;
    }
    const Status ran = ExecuteOn(*made.compiled, stream, {values[from].data()},
                                 {values[to].data()});
    EXPECT_TRUE(ran.ok()) << ran.ToString();
  }
  return values;
}

TEST(PartitionRuns, FusionAndDebugAgree) {
  Graph graph = ChainOf({tim_graph_op_abs, tim_graph_op_square,
                         tim_graph_op_sqrt, tim_graph_op_relu});
  ASSERT_TRUE(graph.Filter({}).ok());
  const Partitions fused = graph.partitions();
  ASSERT_EQ(fused.size(), 1u);
  ASSERT_TRUE(graph.Filter({.policy = tim_graph_partition_policy_debug}).ok());
  ASSERT_EQ(graph.partitions().size(), 4u);
  const std::vector<float> result = ValuesOf(fused)[4];
  EXPECT_THAT(result, ElementsAre(2, 1, 1, 2));
  EXPECT_THAT(ValuesOf(graph.partitions())[4],
              ::testing::Pointwise(::testing::FloatEq(), result));
}

// Codes of 4 bits, the first of two in the low half of a byte.
std::vector<uint8_t> Packed(const std::vector<int>& codes) {
  std::vector<uint8_t> bytes((codes.size() + 1) / 2);
  for (size_t i = 0; i < codes.size(); ++i) {
    bytes[i / 2] |= static_cast<uint8_t>((codes[i] & 15) << (i % 2 * 4));
  }
  return bytes;
}

// Rows of weights, scales and zero points have odd extents.
TEST(PartitionRuns, WeightsOfFourBitsAreDecompressed) {
  constexpr size_t kRows = 2, kDepth = 6, kColumns = 3;
  const auto constant = [](const LogicalTensor& tensor) {
    return testing::WithProperty(tensor, tim_graph_tensor_property_constant);
  };
  Op decompress, product;
  decompress.kind = tim_graph_op_dynamic_dequantize;
  decompress.inputs = {
      constant(Described(0, {kDepth, kColumns}, tim_graph_s4)),
      constant(Described(1, {kDepth / 2, kColumns})),
      constant(Described(2, {kDepth / 2, kColumns}, tim_graph_u4))};
  decompress.outputs = {Described(3, {kDepth, kColumns})};
  decompress.attributes = {{tim_graph_op_attr_qtype, std::string("per_group")},
                           {tim_graph_op_attr_group_shape, Dims{2, 1}}};
  product.id = 1;
  product.kind = tim_graph_op_matmul;
  product.inputs = {Described(4, {kRows, kDepth}), decompress.outputs[0]};
  product.outputs = {Described(5, {kRows, kColumns})};
  Graph graph(GraphTraits{.kind = tim_graph_cpu});
  ASSERT_TRUE(graph.AddOp(BuiltinOps(), decompress).ok());
  ASSERT_TRUE(graph.AddOp(BuiltinOps(), product).ok());
  ASSERT_TRUE(graph.Finalize().ok());
  ASSERT_TRUE(graph.Filter({}).ok());
  ASSERT_EQ(graph.partitions().size(), 1u);

  std::vector<int> codes, zeros;
  std::vector<float> scales, src;
  for (int i = 0; i < 18; ++i) codes.push_back(i * 5 % 16 - 8);
  for (int i = 0; i < 9; ++i) zeros.push_back(i);
  for (int i = 0; i < 9; ++i) scales.push_back(0.25f * static_cast<float>(i));
  for (int i = 0; i < 12; ++i) src.push_back(static_cast<float>(i - 6));
  std::vector<float> expected(kRows * kColumns, 0.0f);
  for (size_t i = 0; i < expected.size(); ++i) {
    for (size_t k = 0; k < kDepth; ++k) {
      const size_t weight = k * kColumns + i % kColumns;
      const size_t group = k / 2 * kColumns + i % kColumns;
      expected[i] += src[i / kColumns * kDepth + k] * scales[group] *
                     static_cast<float>(codes[weight] - zeros[group]);
    }
  }
  const std::vector<uint8_t> packed = Packed(codes),
                             packed_zeros = Packed(zeros);
  const std::map<size_t, const void*> memory = {{0, packed.data()},
                                                {1, scales.data()},
                                                {2, packed_zeros.data()},
                                                {4, src.data()}};
  const auto engine = HostEngine();
  const auto& partition = graph.partitions()[0];
  const Ports& ports = partition->ports();
  const CompileResult made =
      Compile(partition->source(), ports.inputs, ports.outputs, engine);
  ASSERT_TRUE(made.status.ok()) << made.status.ToString();
  tim_graph_stream stream(engine, tim_graph_stream_default_flags);
  std::vector<const void*> inputs;
  for (const LogicalTensor& port : ports.inputs) {
    inputs.push_back(memory.at(port.id));
  }
  for (int run = 0; run < 2; ++run) {
    std::vector<float> found(expected.size());
    const Status ran =
        ExecuteOn(*made.compiled, stream, inputs, {found.data()});
    ASSERT_TRUE(ran.ok()) << ran.ToString();
    EXPECT_THAT(found, ::testing::Pointwise(::testing::FloatEq(), expected));
  }
}

TEST(PartitionRuns, PartsAroundAnUnsupportedOpRun) {
  Graph graph =
      ChainOf({tim_graph_op_relu, tim_graph_op_wildcard, tim_graph_op_square});
  ASSERT_TRUE(graph.Filter({}).ok());
  ASSERT_EQ(graph.partitions().size(), 3u);
  EXPECT_FALSE(graph.partitions()[1]->supported());
  EXPECT_THAT(ValuesOf(graph.partitions())[3], ElementsAre(0, 0, 1, 4));
}

TEST(PartitionRuns, EndAndWildcardAreNotSupported) {
  Graph graph(GraphTraits{.kind = tim_graph_cpu});
  Op wildcard, end;
  wildcard.kind = tim_graph_op_wildcard;
  wildcard.outputs = {Described(1, {kExtent})};
  end.id = 1;
  end.kind = tim_graph_op_end;
  end.inputs = {Described(1, {kExtent})};
  ASSERT_TRUE(graph.AddOp(BuiltinOps(), wildcard).ok());
  ASSERT_TRUE(graph.AddOp(BuiltinOps(), end).ok());
  EXPECT_EQ(graph.Filter({}).code(), StatusCode::kFailedPrecondition);
  ASSERT_TRUE(graph.Finalize().ok());
  ASSERT_TRUE(graph.Filter({}).ok());
  ASSERT_EQ(graph.partitions().size(), 2u);
  for (const auto& partition : graph.partitions()) {
    EXPECT_FALSE(partition->supported());
  }
}

}  // namespace
}  // namespace tim::graph
