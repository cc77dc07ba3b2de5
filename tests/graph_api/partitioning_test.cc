#include "graph_api/partitioning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "graph_api/op_def.h"
#include "tests/graph_api/partition_support.h"
#include "tim/graph/extension.hpp"

namespace tim::graph {
namespace {

using testing::Described;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::HostEngine;

// Records of this test: what is joined depends on no family.
class Partitioning : public ::testing::Test {
 protected:
  Partitioning() {
    conv_.name = "Convolution";
    conv_.anchor = true;
    conv_.lower = [](const Op&, Lowering&) { return OkStatus(); };
    relu_ = conv_;
    relu_.name = "ReLU";
    relu_.anchor = false;
    wildcard_.name = "Wildcard";
    picky_ = relu_;
    picky_.supports = [](const Op&) { return Unimplemented("not today"); };
  }

  // `tensors`: ids of inputs and outputs, all of {2, 3}.
  void Add(const OpDef& def, const std::vector<size_t>& inputs,
           const std::vector<size_t>& outputs) {
    Op op;
    op.id = 100 + ops_.size();
    op.name = StrCat(def.name, "_", op.id);
    op.def = &def;
    for (const size_t id : inputs) op.inputs.push_back(Described(id, {2, 3}));
    for (const size_t id : outputs) op.outputs.push_back(Described(id, {2, 3}));
    ops_.push_back(std::move(op));
  }

  Partitions Make(const PartitionOptions& options = {}) {
    auto made = MakePartitions(ops_, {.kind = tim_graph_cpu}, options);
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    return made.ok() ? *made : Partitions();
  }

  static std::vector<size_t> OpsOf(const Partition& partition) {
    std::vector<size_t> ids;
    for (const Op& op : partition.ops()) ids.push_back(op.id);
    return ids;
  }
  static std::vector<size_t> IdsOf(const std::vector<LogicalTensor>& tensors) {
    std::vector<size_t> ids;
    for (const LogicalTensor& tensor : tensors) ids.push_back(tensor.id);
    return ids;
  }

  OpDef conv_, relu_, wildcard_, picky_;
  std::vector<Op> ops_;
};

TEST_F(Partitioning, PolicyDebugLeavesEachOpAlone) {
  Add(conv_, {1, 2}, {3});
  Add(relu_, {3}, {4});
  Add(relu_, {4}, {5});
  EXPECT_EQ(Make().size(), 1u);
  const Partitions alone = Make({.policy = tim_graph_partition_policy_debug});
  ASSERT_EQ(alone.size(), 3u);
  EXPECT_LT(alone[0]->id(), alone[1]->id());
  EXPECT_LT(alone[1]->id(), alone[2]->id());
  EXPECT_EQ(Make().size(), 1u);
}

TEST_F(Partitioning, CutsBetweenAnchors) {
  Add(conv_, {1, 2}, {3});
  Add(relu_, {3}, {4});
  Add(conv_, {4, 5}, {6});
  const Partitions cut = Make({.max_anchors = 1});
  ASSERT_EQ(cut.size(), 2u);
  EXPECT_THAT(OpsOf(*cut[0]), ElementsAre(100, 101));
  EXPECT_THAT(OpsOf(*cut[1]), ElementsAre(102));
  const Partitions whole = Make();
  ASSERT_EQ(whole.size(), 1u);
  EXPECT_THAT(OpsOf(*whole[0]), ElementsAre(100, 101, 102));
}

TEST_F(Partitioning, LeavesUnsupportedOpsAloneAndCompileRefusesThem) {
  Add(relu_, {1}, {2});
  Add(wildcard_, {2}, {3});
  Add(relu_, {3}, {4});
  Add(picky_, {4}, {5});
  const Partitions parts = Make();
  ASSERT_EQ(parts.size(), 4u);
  EXPECT_TRUE(parts[0]->supported());
  EXPECT_FALSE(parts[1]->supported());
  EXPECT_TRUE(parts[2]->supported());
  EXPECT_FALSE(parts[3]->supported());
  EXPECT_EQ(Compile(parts[1]->source(), parts[1]->ports().inputs,
                    parts[1]->ports().outputs, HostEngine())
                .code,
            tim_graph_invalid_arguments);
  EXPECT_THAT(CheckSupported(ops_[3]).message(),
              HasSubstr("ReLU 'ReLU_103': not today"));
}

TEST_F(Partitioning, RefusesRanksBeyondThoseOfTheCompiler) {
  Add(relu_, {1}, {2});
  ops_[0].outputs[0].ndims = 9;
  EXPECT_THAT(CheckSupported(ops_[0]).message(),
              HasSubstr("output 0 has rank 9, at most 8"));
  EXPECT_FALSE(Make()[0]->supported());
}

TEST_F(Partitioning, ListsEachPortOnce) {
  Add(relu_, {7, 7, 1}, {2, 9});
  Add(relu_, {2, 7, 3}, {4});
  Add(wildcard_, {2, 4}, {});
  const Partitions parts = Make();
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_THAT(IdsOf(parts[0]->ports().inputs), ElementsAre(7, 1, 3));
  // 2 is read inside and outside, 9 by nobody.
  EXPECT_THAT(IdsOf(parts[0]->ports().outputs), ElementsAre(2, 9, 4));
  EXPECT_THAT(IdsOf(parts[1]->ports().inputs), ElementsAre(2, 4));
  EXPECT_TRUE(parts[1]->ports().outputs.empty());
}

TEST_F(Partitioning, MakesAPartitionOfOneOp) {
  Add(wildcard_, {1}, {2});
  const auto alone = PartitionOfOp(ops_[0], tim_graph_gpu);
  EXPECT_FALSE(alone->supported());
  EXPECT_EQ(alone->traits().kind, tim_graph_gpu);
  EXPECT_THAT(IdsOf(alone->ports().outputs), ElementsAre(2));
}

TEST_F(Partitioning, RefusesOptionsThatContradictOneAnother) {
  Add(relu_, {1}, {2});
  const auto message = [this](const PartitionOptions& options) {
    const auto made = MakePartitions(ops_, {}, options);
    EXPECT_EQ(made.status().code(), StatusCode::kInvalidArgument);
    return made.status().message();
  };
  EXPECT_THAT(message({.max_ops = 2, .min_ops = 3}), HasSubstr("max_ops 2"));
  EXPECT_THAT(
      message({.policy = tim_graph_partition_policy_debug, .min_ops = 2}),
      HasSubstr("policy debug"));
  EXPECT_THAT(message({.policy = static_cast<tim_graph_partition_policy_t>(7)}),
              HasSubstr("no partition policy 7"));
}

TEST_F(Partitioning, ReadsAPartitionOfTheBoundary) {
  Add(conv_, {1, 2}, {3});
  Add(relu_, {3}, {4});
  tim_graph_partition held = {.partition = Make()[0]};
  size_t number = 0;
  EXPECT_EQ(tim_graph_partition_get_op_num(&held, &number), tim_graph_success);
  EXPECT_EQ(number, 2u);
  size_t ids[2] = {};
  EXPECT_EQ(tim_graph_partition_get_ops(&held, 2, ids), tim_graph_success);
  EXPECT_THAT(ids, ElementsAre(100, 101));
  EXPECT_EQ(tim_graph_partition_get_ops(&held, 1, ids),
            tim_graph_invalid_arguments);
  EXPECT_EQ(tim_graph_partition_get_ops(&held, 2, nullptr),
            tim_graph_invalid_arguments);
  EXPECT_EQ(tim_graph_partition_get_input_ports_num(&held, &number),
            tim_graph_success);
  EXPECT_EQ(number, 2u);
  LogicalTensor ports[2];
  EXPECT_EQ(tim_graph_partition_get_input_ports(&held, 2, ports),
            tim_graph_success);
  EXPECT_EQ(ports[1].id, 2u);
  EXPECT_EQ(tim_graph_partition_get_output_ports_num(&held, &number),
            tim_graph_success);
  EXPECT_EQ(number, 1u);
  EXPECT_EQ(tim_graph_partition_get_output_ports(&held, 1, ports),
            tim_graph_success);
  EXPECT_EQ(ports[0].id, 4u);
  uint8_t supported = 0;
  EXPECT_EQ(tim_graph_partition_is_supported(&held, &supported),
            tim_graph_success);
  EXPECT_EQ(supported, 1);
  tim_graph_engine_kind_t kind = tim_graph_any_engine;
  EXPECT_EQ(tim_graph_partition_get_engine_kind(&held, &kind),
            tim_graph_success);
  EXPECT_EQ(kind, tim_graph_cpu);
  EXPECT_EQ(tim_graph_partition_get_id(&held, &number), tim_graph_success);
  EXPECT_EQ(number, held.partition->id());
  EXPECT_EQ(tim_graph_partition_get_id(nullptr, &number),
            tim_graph_invalid_arguments);
  EXPECT_EQ(tim_graph_partition_get_id(&held, nullptr),
            tim_graph_invalid_arguments);
}

TEST(PartitionOptions, OfAClientLimitAndContradict) {
  graph g(engine::kind::cpu);
  for (size_t i = 0; i < 4; ++i) {
    const auto value = [](size_t id) {
      return logical_tensor(id, logical_tensor::data_type::f32,
                            logical_tensor::dims{2},
                            logical_tensor::layout_type::strided);
    };
    g.add_op(op(i, op::kind::ReLU, {value(i)}, {value(i + 1)}));
  }
  g.finalize();
  partition_options options;
  EXPECT_EQ(g.get_partitions(options).size(), 1u);
  options.max_ops = 2;
  EXPECT_EQ(g.get_partitions(options).size(), 2u);
  options.min_ops = 3;
  EXPECT_THROW(g.get_partitions(options), error);
  options = partition_options();
  options.policy = partition::policy::debug;
  EXPECT_EQ(g.get_partitions(options).size(), 4u);
  EXPECT_EQ(tim_graph_graph_filter_with_options(g.get(), nullptr),
            tim_graph_invalid_arguments);
}

}  // namespace
}  // namespace tim::graph
