#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
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
