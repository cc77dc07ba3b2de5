// FeedForward against its formula in double.
#include "custom_ops/feed_forward.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::custom_ops {
namespace {

using testing::Floats;

struct Block {
  uint32_t channels, hidden, batch;
  std::vector<float> x, w1, b1, w2, b2;

  Block(uint32_t c, uint32_t h, uint32_t n)
      : channels(c),
        hidden(h),
        batch(n),
        x(Values(c * n)),
        w1(Values(c * h)),
        b1(Values(h)),
        w2(Values(h * c)),
        b2(Values(c)) {}

  static std::vector<float> Values(size_t count) {
    static std::mt19937 rng(20261121);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> values(count);
    for (float& value : values) value = uniform(rng);
    return values;
  }

  std::vector<double> Reference() const {
    std::vector<double> y(x.begin(), x.end());
    for (uint32_t n = 0; n < batch; ++n) {
      for (uint32_t h = 0; h < hidden; ++h) {
        double sum = b1[h];
        for (uint32_t c = 0; c < channels; ++c) {
          sum += double{w1[h * channels + c]} * x[n * channels + c];
        }
        const double active = std::max(sum, 0.0);
        for (uint32_t c = 0; c < channels; ++c) {
          y[n * channels + c] += active * w2[c * hidden + h];
        }
      }
      for (uint32_t c = 0; c < channels; ++c) y[n * channels + c] += b2[c];
    }
    return y;
  }

  // Through a clone, which must be the same operator.
  std::vector<float> Run(std::shared_ptr<vx::Graph> graph) const {
    const auto in = graph->CreateTensor(Floats({channels, batch}, vx::INPUT));
    const auto out = graph->CreateTensor(Floats({channels, batch}, vx::OUTPUT));
    const auto constant = [&](const vx::ShapeType& shape, const float* data) {
      return graph->CreateTensor(Floats(shape, vx::CONSTANT), data);
    };
    testing::OpenClGraph()
        ->CreateOperation<FeedForward>()
        ->Clone(graph)
        ->BindInputs({in, constant({channels, hidden}, w1.data()),
                      constant({hidden}, b1.data()),
                      constant({hidden, channels}, w2.data()),
                      constant({channels}, b2.data())})
        .BindOutput(out);
    testing::Write(in, x);
    EXPECT_TRUE(graph->Run()) << vx::LastError();
    return testing::Read(out);
  }
};

TEST(FeedForward, EqualsItsFormulaOnEveryDevice) {
  for (const Block& block :
       {Block(1, 1, 1), Block(3, 7, 1), Block(16, 33, 5), Block(31, 4, 2)}) {
    const std::vector<double> expected = block.Reference();
    for (const auto& graph : {testing::OpenClGraph(), testing::HostGraph()}) {
      const std::vector<float> y = block.Run(graph);
      for (size_t i = 0; i < y.size(); ++i) {
        EXPECT_NEAR(y[i], expected[i], 2e-5) << "element " << i;
      }
    }
  }
}

TEST(FeedForward, ConsistsOfBuiltIns) {
  std::shared_ptr<vx::Graph> graph = testing::HostGraph();
  Block(2, 3, 1).Run(graph);
  std::vector<std::string> names;
  for (const auto& op : graph->OpVector()) names.push_back(op->Name());
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("user.FeedForward",
                                                     "FullyConnected", "Relu",
                                                     "FullyConnected", "Add"));
}

TEST(FeedForwardErrors, WeightsThatDoNotFitAreNamedWithTheBlock) {
  const auto graph = testing::HostGraph();
  const auto in = [&](const vx::ShapeType& shape) {
    return graph->CreateTensor(Floats(shape, vx::INPUT));
  };
  graph->CreateOperation<FeedForward>()
      ->BindInputs({in({4, 1}), in({5, 3}), in({3}), in({3, 4}), in({4})})
      .BindOutput(graph->CreateTensor(Floats({4, 1}, vx::OUTPUT)));
  EXPECT_TRUE(testing::CompileFailsWith(*graph, "user.FeedForward#1"));
  EXPECT_THAT(vx::LastError(), ::testing::HasSubstr("FullyConnected"));
}

}  // namespace
}  // namespace tim::custom_ops
