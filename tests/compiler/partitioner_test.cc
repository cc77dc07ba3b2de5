#include "compiler/partitioner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ir/op_schema.h"

namespace tim::compiler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::vector<size_t>> NodesOf(const std::vector<Part>& parts) {
  std::vector<std::vector<size_t>> nodes;
  for (const Part& part : parts) nodes.push_back(part.nodes);
  return nodes;
}

std::vector<Part> Divide(const PartitionInput& input,
                         const PartitionLimits& limits = {}) {
  Result<std::vector<Part>> parts = PartitionNodes(input, limits);
  EXPECT_TRUE(parts.ok()) << parts.status().ToString();
  return parts.ok() ? *parts : std::vector<Part>();
}

TEST(Partitioner, JoinsAChain) {
  const PartitionInput chain = {.producers = {{}, {0}, {1}},
                                .labels = {0, 0, 0}};
  EXPECT_THAT(NodesOf(Divide(chain)), ElementsAre(ElementsAre(0, 1, 2)));
}

TEST(Partitioner, TakesNodesInAnyOrderOfAdding) {
  const PartitionInput chain = {.producers = {{1}, {2}, {}, {0}},
                                .labels = {0, 0, 0, 0}};
  EXPECT_THAT(NodesOf(Divide(chain)), ElementsAre(ElementsAre(2, 1, 0, 3)));
}

TEST(Partitioner, LeavesAPathThroughAThirdPartOutside) {
  // 0 -> 1 (alone) -> 2, and 0 -> 2.
  const PartitionInput input = {.producers = {{}, {0}, {0, 1}},
                                .labels = {0, kAlone, 0}};
  EXPECT_THAT(NodesOf(Divide(input)),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)));
}

TEST(Partitioner, JoinsWhatIsNotConnectedNowhere) {
  const PartitionInput input = {.producers = {{}, {}, {0}},
                                .labels = {0, 0, 0}};
  EXPECT_THAT(NodesOf(Divide(input)),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1)));
}

TEST(Partitioner, JoinsEqualLabelsOnly) {
  const PartitionInput input = {.producers = {{}, {0}, {1}, {2}},
                                .labels = {1, 1, 2, 1}};
  const std::vector<Part> parts = Divide(input);
  EXPECT_THAT(NodesOf(parts),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2), ElementsAre(3)));
  EXPECT_EQ(parts[1].label, 2);
}

TEST(Partitioner, CountsAnchors) {
  // conv, bias, relu, conv, relu
  const PartitionInput input = {.producers = {{}, {0}, {1}, {2}, {3}},
                                .labels = {0, 0, 0, 0, 0},
                                .anchors = {true, false, false, true, false}};
  EXPECT_THAT(NodesOf(Divide(input, {.max_anchors = 1})),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4)));
}

TEST(Partitioner, DissolvesSmallParts) {
  const PartitionInput input = {.producers = {{}, {0}, {1}, {2}, {3}},
                                .labels = {0, kAlone, 0, 0, 0}};
  const std::vector<Part> parts = Divide(input, {.min_ops = 2});
  EXPECT_THAT(NodesOf(parts), ElementsAre(ElementsAre(0), ElementsAre(1),
                                          ElementsAre(2, 3, 4)));
  EXPECT_EQ(parts[0].label, kAlone);
  EXPECT_EQ(parts[2].label, 0);
}

TEST(Partitioner, JoinsAgainWhereADissolvedPartStoodBetween) {
  // The part {1, 2} uses 0 and is used by 3, but no path leads through it.
  const PartitionInput input = {.producers = {{}, {0}, {1}, {0}, {3, 2}},
                                .labels = {0, 1, 1, 0, 0},
                                .costs = {5, 1, 1, 5, 5}};
  const PartitionInput apart = {.producers = {{}, {}, {0, 1}, {1}, {0, 3}},
                                .labels = {0, 1, 1, 1, 0},
                                .costs = {5, 1, 1, 1, 5}};
  EXPECT_THAT(
      NodesOf(Divide(input)),
      ElementsAre(ElementsAre(0, 3), ElementsAre(1, 2), ElementsAre(4)));
  EXPECT_THAT(
      NodesOf(Divide(apart)),
      ElementsAre(ElementsAre(0), ElementsAre(1, 2, 3), ElementsAre(4)));
  const std::vector<Part> parts = Divide(apart, {.max_partitions = 2});
  EXPECT_THAT(NodesOf(parts), ElementsAre(ElementsAre(1), ElementsAre(3),
                                          ElementsAre(0, 4), ElementsAre(2)));
}

TEST(Partitioner, KeepsTheDearestParts) {
  const PartitionInput input = {.producers = {{}, {}, {1}, {}},
                                .labels = {0, 0, 0, 0}};
  std::vector<Part> parts = Divide(input, {.max_partitions = 2});
  EXPECT_EQ(parts[0].label, 0);  // of two equal ones the earlier
  EXPECT_EQ(parts[1].label, 0);
  EXPECT_EQ(parts[2].label, kAlone);
  PartitionInput dear = input;
  dear.costs = {1, 2, 3, 9};
  parts = Divide(dear, {.max_partitions = 1});
  EXPECT_EQ(parts.back().label, 0);
  EXPECT_THAT(parts.back().nodes, ElementsAre(3));
}

TEST(Partitioner, RefusesWhatItCannotDivide) {
  const auto message = [](const PartitionInput& input,
                          const PartitionLimits& limits) {
    return PartitionNodes(input, limits).status().message();
  };
  EXPECT_THAT(message({}, {.max_ops = 2, .min_ops = 3}),
              HasSubstr("min_ops 3 is more than max_ops 2"));
  EXPECT_THAT(message({.producers = {{1}, {0}}, .labels = {0, 0}}, {}),
              HasSubstr("cycle"));
  EXPECT_THAT(message({.producers = {{0}}, .labels = {0}}, {}),
              HasSubstr("cycle"));
  EXPECT_THAT(message({.producers = {{7}}, .labels = {0}}, {}),
              HasSubstr("node 7 of 1"));
  EXPECT_THAT(message({.producers = {{}}, .labels = {}}, {}),
              HasSubstr("0 labels"));
  EXPECT_TRUE(Divide({}).empty());
}

TEST(Partitioner, DividesInnerGraphs) {
  ir::Graph graph("g");
  const auto value = [&graph] { return graph.AddValue(ir::TensorDesc()); };
  const auto add = [&graph](const char* name, std::vector<ir::ValueId> inputs,
                            ir::ValueId output) {
    ir::Node node;
    node.name = name;
    node.inputs = std::move(inputs);
    node.outputs = {output};
    return graph.AddNode(std::move(node));
  };
  const ir::ValueId a = value(), b = value(), c = value(), d = value();
  const ir::NodeId gone = add("x", {}, value());
  const ir::NodeId last = add("x", {c, ir::kNone}, d);
  const ir::NodeId first = add("x", {a}, b);
  const ir::NodeId middle = add("y", {b}, c);
  graph.RemoveNode(gone);
  const auto parts = PartitionGraph(
      graph, [](const ir::Node& node) { return node.name == "x" ? 3 : kAlone; },
      {});
  ASSERT_TRUE(parts.ok()) << parts.status().ToString();
  ASSERT_EQ(parts->size(), 3u);
  EXPECT_THAT((*parts)[0].nodes, ElementsAre(first));
  EXPECT_THAT((*parts)[1].nodes, ElementsAre(middle));
  EXPECT_EQ((*parts)[1].label, kAlone);
  EXPECT_THAT((*parts)[2].nodes, ElementsAre(last));
  EXPECT_EQ((*parts)[2].label, 3);
}

// x -> first ... second -> y, and x -> y: what is between them has an order.
TEST(Partitioner, DividesWhereEffectsAreOrdered) {
  for (const bool ordered : {false, true}) {
    ir::OpSchema schema;
    schema.effects.ordered = ordered;
    ir::Graph graph;
    const auto add = [&](std::vector<ir::ValueId> inputs, bool effect) {
      ir::Node node;
      if (effect) node.schema = &schema;
      node.inputs = std::move(inputs);
      node.outputs = {graph.AddValue(ir::TensorDesc())};
      graph.AddNode(node);
      return node.outputs[0];
    };
    const ir::ValueId x = add({}, false);
    add({x}, true);
    add({x, add({}, true)}, false);
    const auto parts =
        PartitionGraph(graph,
                       [](const ir::Node& node) {
                         return node.schema == nullptr ? 0 : kAlone;
                       },
                       {});
    ASSERT_TRUE(parts.ok()) << parts.status().ToString();
    EXPECT_EQ(parts->size(), ordered ? 4u : 3u);
  }
}

// Everything below is judged by a matrix of paths, not by the partitioner.
class Judge {
 public:
  Judge(const PartitionInput& input, const std::vector<Part>& parts)
      : input_(input), parts_(parts), part_of_(input.labels.size(), kNone) {
    for (size_t i = 0; i < parts.size(); ++i) {
      for (const size_t node : parts[i].nodes) {
        EXPECT_EQ(part_of_.at(node), kNone) << "node " << node << " twice";
        part_of_[node] = i;
      }
    }
    edges_.assign(parts.size(), std::vector<bool>(parts.size()));
    for (size_t node = 0; node < part_of_.size(); ++node) {
      EXPECT_NE(part_of_[node], kNone) << "node " << node << " is nowhere";
      for (const size_t producer : input.producers[node]) {
        edges_[part_of_[producer]][part_of_[node]] = true;
      }
    }
    paths_ = edges_;
    for (size_t k = 0; k < parts.size(); ++k) {
      for (size_t i = 0; i < parts.size(); ++i) {
        if (!paths_[i][k]) continue;
        for (size_t j = 0; j < parts.size(); ++j) {
          if (paths_[k][j]) paths_[i][j] = true;
        }
      }
    }
  }

  // Producers before users within and between parts: so there is no cycle.
  void CheckOrder() const {
    for (size_t i = 0; i < parts_.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        EXPECT_FALSE(edges_[i][j]) << "part " << i << " before " << j;
      }
      for (size_t k = 0; k < parts_[i].nodes.size(); ++k) {
        for (const size_t producer : input_.producers[parts_[i].nodes[k]]) {
          if (part_of_[producer] != i) continue;
          const auto& nodes = parts_[i].nodes;
          EXPECT_LT(
              std::find(nodes.begin(), nodes.end(), producer) - nodes.begin(),
              static_cast<std::ptrdiff_t>(k));
        }
      }
    }
  }

  void CheckConnected() const {
    for (size_t i = 0; i < parts_.size(); ++i) {
      std::vector<size_t> seen = {parts_[i].nodes[0]};
      const auto visit = [&](size_t node) {
        if (part_of_[node] == i &&
            std::find(seen.begin(), seen.end(), node) == seen.end()) {
          seen.push_back(node);
        }
      };
      for (size_t k = 0; k < seen.size(); ++k) {
        for (const size_t producer : input_.producers[seen[k]]) {
          visit(producer);
        }
        for (const size_t node : parts_[i].nodes) {
          for (const size_t producer : input_.producers[node]) {
            if (producer == seen[k]) visit(node);
          }
        }
      }
      EXPECT_EQ(seen.size(), parts_[i].nodes.size()) << "part " << i;
    }
  }

  void CheckLimits(const PartitionLimits& limits) const {
    size_t supported = 0;
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i].label == kAlone) {
        EXPECT_EQ(parts_[i].nodes.size(), 1u);
        continue;
      }
      ++supported;
      for (const size_t node : parts_[i].nodes) {
        EXPECT_EQ(input_.labels[node], parts_[i].label);
      }
      EXPECT_GE(parts_[i].nodes.size(), limits.min_ops);
      if (limits.max_ops != 0) {
        EXPECT_LE(parts_[i].nodes.size(), limits.max_ops);
      }
      if (limits.max_anchors != 0) {
        EXPECT_LE(AnchorsOf(i), std::max<size_t>(limits.max_anchors, 1));
      }
    }
    if (limits.max_partitions != 0) {
      EXPECT_LE(supported, limits.max_partitions);
    }
  }

  void CheckMaximal(const PartitionLimits& limits) const {
    for (size_t i = 0; i < parts_.size(); ++i) {
      for (size_t j = i + 1; j < parts_.size(); ++j) {
        if (!edges_[i][j] || parts_[i].label == kAlone ||
            parts_[i].label != parts_[j].label) {
          continue;
        }
        bool allowed = true;
        for (size_t k = 0; k < parts_.size(); ++k) {
          if (k != i && k != j && paths_[i][k] && paths_[k][j]) allowed = false;
        }
        const size_t size = parts_[i].nodes.size() + parts_[j].nodes.size();
        if (limits.max_ops != 0 && size > limits.max_ops) allowed = false;
        if (limits.max_anchors != 0 &&
            AnchorsOf(i) + AnchorsOf(j) > limits.max_anchors) {
          allowed = false;
        }
        EXPECT_FALSE(allowed) << "parts " << i << " and " << j;
      }
    }
  }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  size_t AnchorsOf(size_t part) const {
    size_t anchors = 0;
    for (const size_t node : parts_[part].nodes)
      anchors += input_.anchors[node];
    return anchors;
  }

  const PartitionInput& input_;
  const std::vector<Part>& parts_;
  std::vector<size_t> part_of_;
  std::vector<std::vector<bool>> edges_, paths_;
};

class Random {
 public:
  explicit Random(uint32_t seed) : generator_(seed) {}
  // From 0 to `most`.
  size_t operator()(size_t most) { return generator_() % (most + 1); }

 private:
  std::mt19937 generator_;
};

// Nodes are numbered in a random order, not in a topological one.
PartitionInput RandomInput(Random& random) {
  const size_t count = 1 + random(59);
  const size_t alone = random(4), labels = random(2), reach = 1 + random(20);
  std::vector<size_t> number(count);
  for (size_t i = 0; i < count; ++i) number[i] = i;
  for (size_t i = count - 1; i > 0; --i)
    std::swap(number[i], number[random(i)]);
  PartitionInput input;
  input.producers.resize(count);
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = random(3); i > 0 && k > 0; --k) {
      const size_t back = 1 + random(std::min(reach, i) - 1);
      input.producers[number[i]].push_back(number[i - back]);
    }
    input.labels.push_back(
        random(9) < alone ? kAlone : static_cast<int>(random(labels)));
    input.anchors.push_back(random(3) == 0);
    input.costs.push_back(static_cast<double>(random(50)));
  }
  return input;
}

TEST(Partitioner, HoldsItsPromisesForRandomGraphs) {
  for (uint32_t seed = 1; seed <= 5000 && !::testing::Test::HasFailure();
       ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const PartitionInput input = RandomInput(random);
    PartitionLimits limits;
    if (seed % 2 == 0) {
      limits.max_ops = random(1) * (3 + random(9));
      limits.min_ops = 1 + random(2);
      limits.max_partitions = random(1) * (1 + random(6));
      limits.max_anchors = random(3);
    }
    const std::vector<Part> parts = Divide(input, limits);
    const Judge judge(input, parts);
    judge.CheckOrder();
    judge.CheckConnected();
    judge.CheckLimits(limits);
    judge.CheckMaximal(limits);
    EXPECT_EQ(NodesOf(parts), NodesOf(Divide(input, limits)));
  }
}

double SecondsOf(const PartitionInput& input) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(Divide(input).empty());
  const std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  return seconds.count();
}

constexpr size_t kMany = 10'000;

TEST(Partitioner, DividesALongChainAtOnce) {
  PartitionInput input = {.producers = {{}}, .labels = {0}};
  for (size_t i = 1; i < kMany; ++i) {
    input.producers.push_back({i - 1});
    input.labels.push_back(0);
  }
  EXPECT_LT(SecondsOf(input), 1.0);
  EXPECT_EQ(Divide(input).size(), 1u);
}

TEST(Partitioner, DividesALongLadderAtOnce) {
  // Two rails, each node of which also uses the other rail's last one.
  PartitionInput input = {.producers = {{}, {}}, .labels = {0, 0}};
  for (size_t i = 2; i < kMany; ++i) {
    input.producers.push_back({i - 2, i - 1 - 2 * (i % 2)});
    input.labels.push_back(0);
  }
  EXPECT_LT(SecondsOf(input), 1.0);
  EXPECT_EQ(Divide(input).size(), 1u);
  for (size_t i = 0; i < kMany; i += 7) input.labels[i] = kAlone;
  EXPECT_LT(SecondsOf(input), 1.0);
}

TEST(Partitioner, DividesWideAndTangledGraphsAtOnce) {
  // One root, 100 rails added level by level, some nodes of which stay alone.
  PartitionInput wide = {.producers = {{}}, .labels = {0}};
  for (size_t i = 1; i < kMany; ++i) {
    wide.producers.push_back({i <= 100 ? 0 : i - 100});
    wide.labels.push_back(i % 211 == 0 ? kAlone : 0);
  }
  EXPECT_LT(SecondsOf(wide), 1.0);
  for (const size_t reach : {size_t{50}, kMany}) {
    Random random(7);
    PartitionInput tangled;
    for (size_t i = 0; i < kMany; ++i) {
      std::vector<size_t>& producers = tangled.producers.emplace_back();
      for (size_t k = 0; i > 0 && k < 3; ++k) {
        producers.push_back(i - 1 - random(std::min(reach, i) - 1));
      }
      tangled.labels.push_back(random(9) == 0 ? kAlone : 0);
    }
    EXPECT_LT(SecondsOf(tangled), 1.0);
  }
}

}  // namespace
}  // namespace tim::compiler
