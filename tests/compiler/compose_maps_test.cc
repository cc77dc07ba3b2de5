// Operators that only move elements, one after the other: how many steps they
// are, and that these do the same.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <random>

#include "runtime/device_pool.h"
#include "tests/support/plans/plan_steps.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/context_impl.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

using vx::DataType;
using vx::TensorAttribute;
using Counts = std::vector<uint32_t>;
using Ints = std::vector<int32_t>;
using TensorPtr = std::shared_ptr<vx::Tensor>;

// The type of a tensor's elements.
struct Element {
  DataType type = DataType::FLOAT32;
  vx::Quantization quantization = {};
};
const Element kFloats = {};
Element Codes(float scale, int zero_point) {
  return {DataType::UINT8,
          vx::Quantization(vx::QuantType::ASYMMETRIC, scale, zero_point)};
}

size_t CountOf(const vx::ShapeType& shape) {
  return std::accumulate(shape.begin(), shape.end(), size_t{1},
                         std::multiplies<>());
}

// A graph of operators one after the other.
class Sequence {
 public:
  Sequence(vx::Context& context, const Element& element,
           const vx::ShapeType& input)
      : graph_(context.CreateGraph()), element_(element) {
    last_ = input_ = Make(input, TensorAttribute::INPUT);
  }

  template <typename Op, typename... Args>
  Sequence& Then(const Args&... args) {
    const TensorPtr next = Make({}, TensorAttribute::TRANSIENT);
    return Add<Op>(next, args...);
  }
  // The results of `Then` are of this type from here on.
  Sequence& As(const Element& element) {
    element_ = element;
    return *this;
  }
  template <typename Op, typename... Args>
  Sequence& ThenOutput(const vx::ShapeType& shape, const Args&... args) {
    output_ = Make(shape, TensorAttribute::OUTPUT);
    return Add<Op>(output_, args...);
  }
  // The last values also go elsewhere.
  template <typename Op, typename... Args>
  Sequence& Fork(const vx::ShapeType& shape, const Args&... args) {
    const TensorPtr output = Make(shape, TensorAttribute::OUTPUT);
    graph_->CreateOperation<Op>(args...)->BindInput(last_).BindOutput(output);
    return *this;
  }

  vx::Graph& graph() { return *graph_; }
  const TensorPtr& input() const { return input_; }
  const TensorPtr& output() const { return output_; }

 private:
  TensorPtr Make(const vx::ShapeType& shape, TensorAttribute attribute) {
    return graph_->CreateTensor(
        vx::TensorSpec(element_.type, shape, attribute, element_.quantization));
  }
  template <typename Op, typename... Args>
  Sequence& Add(const TensorPtr& next, const Args&... args) {
    graph_->CreateOperation<Op>(args...)->BindInput(last_).BindOutput(next);
    last_ = next;
    return *this;
  }

  std::shared_ptr<vx::Graph> graph_;
  Element element_;
  TensorPtr input_;
  TensorPtr last_;
  TensorPtr output_;
};

using Build = std::function<void(Sequence&)>;

template <typename T>
std::vector<T> RunOn(Sequence& made, size_t count) {
  std::mt19937 rng(7);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(rng() % 200);
  EXPECT_TRUE(made.graph().Compile()) << vx::LastError();
  Write(made.input(), values);
  EXPECT_TRUE(made.graph().Run()) << vx::LastError();
  return Read<T>(made.output());
}

// Steps of nodes that were several.
int ComposedSteps(Sequence& made) {
  int count = 0;
  for (const ir::Step& step : vx::CompiledPlan(made.graph())->steps) {
    count += step.label.find('+') != std::string::npos;
  }
  return count;
}

// Every operator by itself: those whose device is chosen stay as they are.
std::shared_ptr<vx::Context> PinnedContext() {
  auto devices = runtime::SelectDevices("host");
  EXPECT_TRUE(devices.ok());
  return vx::CreateContext(*devices,
                           {.placement = [](const ir::Node&) { return 0; }});
}

// The graph is `steps` steps on OpenCL, and its results are those of its
// operators by themselves.
template <typename T = float>
void ExpectSteps(size_t steps, const vx::ShapeType& input, const Build& build,
                 const Element& element = kFloats) {
  const size_t count = CountOf(input);
  Sequence reference(*PinnedContext(), element, input);
  build(reference);
  const std::vector<T> expected = RunOn<T>(reference, count);
  EXPECT_EQ(ComposedSteps(reference), 0);
  Sequence on_host(*HostContext(), element, input);
  build(on_host);
  EXPECT_EQ(RunOn<T>(on_host, count), expected);
  const auto context = ContextOn("opencl");
  if (context == nullptr) GTEST_SKIP() << "no OpenCL device";
  Sequence made(*context, element, input);
  build(made);
  EXPECT_EQ(RunOn<T>(made, count), expected);
  const ir::Plan& plan = *vx::CompiledPlan(made.graph());
  EXPECT_EQ(plan.steps.size(), steps) << ir::Dump(plan);
}

using vx::ops::Pad;
using vx::ops::Relu;
using vx::ops::Reshape;
using vx::ops::Reverse;
using vx::ops::Slice;
using vx::ops::Tile;
using vx::ops::Transpose;

// What is a view is no step, of a graph input neither.
TEST(ComposeMaps, DepthToSpaceOfThreeIsOneStep) {
  ExpectSteps(1, {5, 3, 8, 2}, [](Sequence& net) {
    net.Then<Reshape>(Counts{5, 3, 2, 2, 2, 2})
        .Then<Transpose>(Counts{2, 0, 3, 1, 4, 5})
        .ThenOutput<Reshape>({10, 6, 2, 2}, Counts{10, 6, 2, 2});
  });
}

TEST(ComposeMaps, DepthToSpaceAndBackIsNoStep) {
  ExpectSteps(2, {5, 3, 8, 2}, [](Sequence& net) {
    net.Then<Relu>()
        .Then<Reshape>(Counts{5, 3, 2, 2, 2, 2})
        .Then<Transpose>(Counts{3, 0, 4, 1, 2, 5})
        .Then<Reshape>(Counts{10, 6, 2, 2})
        .Then<vx::ops::SpaceToDepth>(Ints{2, 2})
        .ThenOutput<Relu>({5, 3, 8, 2});
  });
}

TEST(ComposeMaps, TransposesAreOneStep) {
  ExpectSteps(1, {17, 18, 19, 2}, [](Sequence& net) {
    net.Then<Transpose>(Counts{2, 0, 1, 3})
        .Then<Transpose>(Counts{0, 3, 1, 2})
        .ThenOutput<Transpose>({17, 19, 18, 2}, Counts{2, 0, 3, 1});
  });
}

TEST(ComposeMaps, ATransposedMatrixIsMovedInTiles) {
  const auto context = ContextOn("opencl");
  if (context == nullptr) GTEST_SKIP() << "no OpenCL device";
  Sequence net(*context, kFloats, {17, 18, 19, 2});
  net.Then<Transpose>(Counts{2, 0, 1, 3})
      .ThenOutput<Transpose>({17, 19, 2, 18}, Counts{1, 0, 3, 2});
  ASSERT_TRUE(net.graph().Compile()) << vx::LastError();
  const ir::Plan& plan = *vx::CompiledPlan(net.graph());
  EXPECT_EQ(CountSource(plan, "ops/movement/index_map.cl"), 1);
  Sequence tiles(*context, kFloats, {17, 18, 19, 2});
  tiles.Then<Transpose>(Counts{2, 0, 1, 3})
      .ThenOutput<Transpose>({18, 17, 19, 2}, Counts{2, 1, 0, 3});
  ASSERT_TRUE(tiles.graph().Compile()) << vx::LastError();
  const ir::Plan& tiled = *vx::CompiledPlan(tiles.graph());
  EXPECT_EQ(CountSource(tiled, "ops/movement/transpose.cl"), 1);
  EXPECT_EQ(tiled.steps.size(), 1u);
}

TEST(ComposeMaps, ThereAndBackIsNoStep) {
  ExpectSteps(2, {7, 5, 3}, [](Sequence& net) {
    net.Then<Relu>()
        .Then<Transpose>(Counts{2, 0, 1})
        .Then<Transpose>(Counts{1, 2, 0})
        .ThenOutput<Relu>({7, 5, 3});
  });
  ExpectSteps(2, {7, 5, 3}, [](Sequence& net) {
    net.Then<Transpose>(Counts{2, 0, 1})
        .Then<Relu>()
        .Then<Reverse>(Ints{0, 1})
        .ThenOutput<Reverse>({3, 7, 5}, Ints{1, 0});
  });
}

TEST(ComposeMaps, ThereAndBackToTheOutputIsACopy) {
  ExpectSteps(1, {7, 5, 3}, [](Sequence& net) {
    net.Then<Transpose>(Counts{2, 0, 1})
        .ThenOutput<Transpose>({7, 5, 3}, Counts{1, 2, 0});
  });
}

TEST(ComposeMaps, PartsAndRepetitionsAreOneStep) {
  ExpectSteps(1, {40, 6}, [](Sequence& net) {
    net.Then<Slice>(2, Ints{3, 1}, Ints{17, 4})
        .ThenOutput<Tile>({34, 12}, Ints{2, 3});
  });
  ExpectSteps(1, {40, 6}, [](Sequence& net) {
    net.Then<Transpose>(Counts{1, 0})
        .ThenOutput<Slice>({4, 17}, 2, Ints{1, 3}, Ints{4, 17});
  });
  ExpectSteps(1, {40, 6}, [](Sequence& net) {
    net.Then<Reverse>(Ints{0})
        .Then<Slice>(2, Ints{0, 2}, Ints{30, 3})
        .ThenOutput<Reverse>({30, 3}, Ints{1});
  });
}

TEST(ComposeMaps, ZerosAroundAreOneStep) {
  ExpectSteps(1, {9, 6}, [](Sequence& net) {
    net.Then<Pad>(Counts{1, 2}, Counts{0, 3}, 0)
        .ThenOutput<Transpose>({11, 10}, Counts{1, 0});
  });
  ExpectSteps(1, {9, 6}, [](Sequence& net) {
    net.Then<Transpose>(Counts{1, 0})
        .ThenOutput<Pad>({9, 12}, Counts{1, 2}, Counts{2, 1}, 0);
  });
}

TEST(ComposeMaps, OtherPadsStay) {
  ExpectSteps(2, {9, 6}, [](Sequence& net) {
    net.Then<Pad>(Counts{1, 2}, Counts{0, 3}, 1)
        .ThenOutput<Transpose>({11, 10}, Counts{1, 0});
  });
  ExpectSteps(2, {9, 6}, [](Sequence& net) {
    net.Then<Pad>(Counts{1, 2}, Counts{0, 3}, 0, Pad::PAD_MODE_EDGE)
        .ThenOutput<Transpose>({11, 10}, Counts{1, 0});
  });
}

// What is repeated is brought together once.
TEST(ComposeMaps, ScatteredElementsAreNotRepeated) {
  ExpectSteps(2, {40, 30}, [](Sequence& net) {
    net.Then<Transpose>(Counts{1, 0}).ThenOutput<Tile>({30, 400}, Ints{1, 10});
  });
}

// A row of 12 is no row of [3, 4], which stand in another order.
TEST(ComposeMaps, WhatCarriesStays) {
  ExpectSteps(2, {4, 3}, [](Sequence& net) {
    net.Then<Transpose>(Counts{1, 0})
        .Then<Reshape>(Counts{12})
        .ThenOutput<Slice>({5}, 1, Ints{1}, Ints{5});
  });
}

TEST(ComposeMaps, OneStepBetweenViewsStays) {
  const auto context = ContextOn("opencl");
  if (context == nullptr) GTEST_SKIP() << "no OpenCL device";
  Sequence net(*context, kFloats, {6, 4, 5});
  net.Then<Reshape>(Counts{24, 5})
      .Then<Transpose>(Counts{1, 0})
      .ThenOutput<Reshape>({20, 6}, Counts{20, 6});
  ASSERT_TRUE(net.graph().Compile()) << vx::LastError();
  EXPECT_EQ(vx::CompiledPlan(net.graph())->steps.size(), 1u);
  EXPECT_EQ(ComposedSteps(net), 0);
}

TEST(ComposeMaps, WhatOthersReadStays) {
  ExpectSteps(3, {7, 5, 3}, [](Sequence& net) {
    net.Then<Transpose>(Counts{2, 0, 1})
        .Fork<Relu>({3, 7, 5})
        .ThenOutput<Transpose>({5, 3, 7}, Counts{2, 0, 1});
  });
  ExpectSteps(2, {7, 5, 3}, [](Sequence& net) {
    net.ThenOutput<Transpose>({3, 7, 5}, Counts{2, 0, 1})
        .ThenOutput<Transpose>({5, 3, 7}, Counts{2, 0, 1});
  });
}

TEST(ComposeMaps, TheLastMayConvert) {
  const Element codes = Codes(0.5f, 9);
  const Build build = [](Sequence& net) {
    net.Then<Transpose>(Counts{2, 0, 1})
        .Then<Reverse>(Ints{0})
        .As(Codes(0.3f, 20))
        .ThenOutput<Transpose>({5, 3, 7}, Counts{2, 0, 1});
  };
  ExpectSteps<uint8_t>(1, {7, 5, 3}, build, codes);
}

TEST(ComposeMaps, WhatConvertsBeforeStays) {
  const Build build = [](Sequence& net) {
    net.As(Codes(0.3f, 20))
        .Then<Transpose>(Counts{2, 0, 1})
        .As(Codes(0.7f, 2))
        .ThenOutput<Transpose>({5, 3, 7}, Counts{2, 0, 1});
  };
  ExpectSteps<uint8_t>(2, {7, 5, 3}, build, Codes(0.5f, 9));
}

// A zero that is no code of the middle has another value there.
TEST(ComposeMaps, ZerosThatAreConvertedStay) {
  const Build build = [](Sequence& net) {
    net.Then<Pad>(Counts{1, 2}, Counts{0, 3}, 0)
        .As(Codes(0.3f, 20))
        .ThenOutput<Transpose>({11, 10}, Counts{1, 0});
  };
  ExpectSteps<uint8_t>(2, {9, 6}, build, Codes(0.5f, 9));
}

TEST(ComposeMaps, CodesKeepTheirZeros) {
  const Build build = [](Sequence& net) {
    net.Then<Pad>(Counts{1, 2}, Counts{0, 3}, 0)
        .ThenOutput<Transpose>({11, 10}, Counts{1, 0});
  };
  ExpectSteps<uint8_t>(1, {9, 6}, build, Codes(0.5f, 9));
}

}  // namespace
}  // namespace tim::testing
