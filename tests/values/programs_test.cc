// Programs: plans for the shapes that come, runs, files and reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "tim/values/values.h"

namespace tim::values {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const bool g_on_host = [] {
  setenv("TIMCL_DEVICE", "host", 1);
  return true;
}();

using Values = std::vector<Value>;

Value Floats(const Shape& shape, const std::vector<float>& data) {
  return Value::Of<float>(shape, data);
}

// `count` numbers that differ.
std::vector<float> Numbers(size_t count, float first = 0.5f) {
  std::vector<float> data(count);
  std::iota(data.begin(), data.end(), first);
  for (float& x : data) x = x * 0.25f - static_cast<float>(count) / 8;
  return data;
}

Values Mlp(const Values& in) {
  const Value h = Relu(Matmul(in[0], in[1]));
  return {Softmax(Matmul(h, in[2]), 1.0f, 0)};
}

Values Weights() {
  return {Floats({3, 4}, Numbers(12)), Floats({2, 3}, Numbers(6))};
}

TEST(Programs, RunWithManyShapes) {
  Program program = Graph::Capture(Mlp, {Spec(), Spec(), Spec()}).Compile();
  ASSERT_TRUE(program.ok()) << program.error();
  const Values w = Weights();
  for (const int64_t rows : {1, 5, 2, 5}) {
    const Value x = Floats({4, rows}, Numbers(static_cast<size_t>(4 * rows)));
    const Values y = program.Run({x, w[0], w[1]});
    ASSERT_EQ(y.size(), 1u);
    ASSERT_TRUE(y[0].Wait()) << y[0].error();
    const Value eager = Mlp({x, w[0], w[1]})[0];
    EXPECT_THAT(y[0].ToVector<float>(),
                ElementsAreArray(eager.ToVector<float>()));
  }
  EXPECT_EQ(program.stats().plans, 3);
  EXPECT_EQ(program.stats().misses, 3);
  EXPECT_EQ(program.stats().hits, 1);
  EXPECT_THAT(program.Explain(), HasSubstr("Matmul#0"));
}

TEST(Programs, KeepFewPlans) {
  ProgramOptions options{.max_plans = 2};
  Program program =
      Graph::Capture([](const Values& in) -> Values { return {Relu(in[0])}; },
                     {Spec()})
          .Compile(options);
  for (int i = 0; i < 6; ++i) {
    const int64_t extent = i % 3 + 1;
    const Value x = Floats({extent}, std::vector<float>(extent, 2));
    EXPECT_THAT(program.Run({x})[0].ToVector<float>(),
                ElementsAreArray(std::vector<float>(extent, 2)));
  }
  EXPECT_EQ(program.stats().evictions, 4);
  EXPECT_EQ(program.stats().plans, 2);
  ASSERT_TRUE(program.Prepare({Spec(Type::kFloat32, {9})})) << LastError();
  const int64_t misses = program.stats().misses;
  program.Run({Floats({9}, Numbers(9))})[0].Wait();
  EXPECT_EQ(program.stats().misses, misses);
  EXPECT_FALSE(program.Prepare({Spec()}));
  EXPECT_THAT(LastError(), HasSubstr("input 0"));
  options.max_plans = 0;
  EXPECT_THAT(
      Graph::Capture(Mlp, {Spec(), Spec(), Spec()}).Compile(options).error(),
      HasSubstr("max_plans"));
  const ProgramOptions unknown{.policy = "streams=9"};
  EXPECT_THAT(
      Graph::Capture(Mlp, {Spec(), Spec(), Spec()}).Compile(unknown).error(),
      StartsWith("policy: streams='9'; expected"));
}

TEST(Programs, KeepPlansWhereOthersFail) {
  const ProgramOptions options{.max_plans = 1};
  const Function sum = [](const Values& in) { return Values{in[0] + in[1]}; };
  const Program program =
      Graph::Capture(sum, {Spec(), Spec()}).Compile(options);
  for (const int64_t extent : {2, 3, 2}) {
    const Value x = Floats({extent}, Numbers(static_cast<size_t>(extent)));
    EXPECT_EQ(program.Run({x, Floats({2}, {1, 2})})[0].ok(), extent == 2);
  }
  EXPECT_EQ(program.stats().hits, 1);
  EXPECT_EQ(program.stats().evictions, 0);
}

TEST(Programs, HoldBounds) {
  const Spec bounded(Type::kFloat32,
                     Shape({2, Shape::kUnknown}).SetBound(1, 64));
  const Graph graph = Graph::Capture(
      [](const Values& in) -> Values { return {ReduceSum(in[0] * 2.0f, {0})}; },
      {bounded});
  ASSERT_TRUE(graph.ok()) << graph.error();
  Program program = graph.Compile();
  for (const int64_t rows : {64, 3, 17}) {
    const Value x = Floats({2, rows}, std::vector<float>(2 * rows, 1));
    EXPECT_THAT(program.Run({x})[0].ToVector<float>(),
                ElementsAreArray(std::vector<float>(rows, 4)));
  }
  const Value y = program.Run({Floats({2, 65}, std::vector<float>(130, 1))})[0];
  EXPECT_THAT(y.error(), HasSubstr("axis 1: 65 is more than its bound 64"));
  EXPECT_TRUE(graph.EstimateCompute().bound);
  EXPECT_EQ(graph.EstimateMemory().inputs, 2 * 64 * 4);
}

// A part that is cut out of an open extent is known, whatever bounded that.
TEST(Programs, DecideOnPartsOfBoundedExtents) {
  const Spec bounded(Type::kFloat32,
                     Shape({2, Shape::kUnknown}).SetBound(1, 8));
  const Graph graph = Graph::Capture(
      [](const Values& in) -> Values {
        const Value part = Slice(in[0], {0, 1}, {2, 2});
        const Value y = If(
            Floats({1}, {1}), {part},
            [](const Values& x) -> Values { return {x[0] * 2.0f}; },
            [](const Values& x) -> Values { return {Relu(x[0])}; });
        return {While(
            {part, y},
            [](const Values& s) {
              return Less(ReduceSum(s[0], {0, 1}), 10.0f);
            },
            [](const Values& s) -> Values {
              return {s[0] + Floats({1, 1}, {1}), Relu(s[1])};
            })[0]};
      },
      {bounded});
  ASSERT_TRUE(graph.ok()) << graph.error();
  const Value y = graph.Compile().Run({Floats({2, 3}, Numbers(6))})[0];
  EXPECT_EQ(y.spec().shape, Shape({2, 2})) << y.error();
}

TEST(Programs, TellWhatIsWrong) {
  EXPECT_EQ(Program().error(), "no program");
  EXPECT_EQ(Program().Run({})[0].error(), "no program");
  EXPECT_THAT(Graph().Compile().error(), HasSubstr("has no output"));
  Program program = Graph::Capture(Mlp, {Spec(), Spec(), Spec()}).Compile();
  EXPECT_THAT(program.Run({})[0].error(), HasSubstr("takes 3 inputs, not 0"));
  EXPECT_EQ(program.Run({Value(), Value(), Value()})[0].error(), "no value");
  const Value ints = Value::Of<int32_t>({4, 1}, {1, 2, 3, 4});
  const Values w = Weights();
  EXPECT_THAT(program.Run({ints, w[0], w[1]})[0].error(),
              HasSubstr("input 0: is float32, not int32"));
  const Value wide = Floats({5, 1}, Numbers(5));
  EXPECT_THAT(program.Run({wide, w[0], w[1]})[0].error(),
              HasSubstr("Matmul#0"));
  ProgramOptions nowhere;
  nowhere.devices = "nowhere";
  EXPECT_THAT(
      Graph::Capture(Mlp, {Spec(), Spec(), Spec()}).Compile(nowhere).error(),
      HasSubstr("nowhere"));
}

TEST(Programs, PassValuesThrough) {
  const float two = 2;
  const Value constant = Value::Constant(Spec(Type::kFloat32, {1}), &two);
  const Graph graph = Graph::Capture(
      [&](const Values& in) -> Values {
        const Value y = in[0] + in[1];
        return {in[1], y, constant, y};
      },
      {Spec(), Spec()});
  Program program = graph.Compile();
  const Values y = program.Run({Floats({1}, {3}), Floats({1}, {4})});
  ASSERT_EQ(y.size(), 4u);
  EXPECT_EQ(y[0].ToVector<float>()[0], 4);
  EXPECT_EQ(y[1].ToVector<float>()[0], 7);
  EXPECT_EQ(y[2].ToVector<float>()[0], 2);
  EXPECT_EQ(y[3].ToVector<float>()[0], 7);
  float memory[4] = {};
  const Event event =
      program.RunInto({Floats({1}, {5}), Floats({1}, {6})},
                      {memory, memory + 1, memory + 2, memory + 3});
  ASSERT_TRUE(event.Wait()) << event.error();
  EXPECT_THAT(memory, ElementsAre(6, 11, 2, 11));
  EXPECT_THAT(program.RunInto({}, {}).error(), HasSubstr("has 4 outputs"));
}

TEST(Programs, TakeTheirOwnResults) {
  Program program =
      Graph::Capture([](const Values& in) -> Values { return {in[0] + 1.0f}; },
                     {Spec()})
          .Compile();
  Value x = Floats({3}, {0, 0, 0});
  for (int i = 0; i < 100; ++i) x = program.Run({x})[0];
  EXPECT_THAT((x + 0.5f).ToVector<float>(),
              ElementsAre(100.5f, 100.5f, 100.5f));
}

TEST(Programs, AreSavedAndLoaded) {
  const std::string path = ::testing::TempDir() + "/program.timvals";
  const Value outer = Floats({3, 4}, Numbers(12));
  Program program =
      Graph::Capture(
          [&](const Values& in) -> Values { return {Matmul(in[0], outer)}; },
          {Spec()})
          .Compile();
  ASSERT_TRUE(program.Save(path)) << LastError();
  Program loaded = Program::Load(path);
  ASSERT_TRUE(loaded.ok()) << loaded.error();
  for (const int64_t rows : {1, 3}) {
    const Value x = Floats({4, rows}, Numbers(static_cast<size_t>(4 * rows)));
    EXPECT_THAT(loaded.Run({x})[0].ToVector<float>(),
                ElementsAreArray(program.Run({x})[0].ToVector<float>()));
  }
  EXPECT_FALSE(Program::Load(path + ".not").ok());
  FILE* file = fopen(path.c_str(), "r+");
  ASSERT_NE(file, nullptr);
  fseek(file, 100, SEEK_SET);
  fputc('x', file);
  fclose(file);
  EXPECT_THAT(Program::Load(path).error(), HasSubstr("damaged"));
}

// All nodes are looked at, those of parts and called graphs too, and no others.
TEST(Programs, AreSavedWithoutHolders) {
  const std::string path = ::testing::TempDir() + "/holders.timvals";
  const Spec one(Type::kFloat32, {1});
  const Function held = [&](const Values& in) -> Values {
    return {Holder("acme.Held", in, {one},
                   [](const std::vector<Plain>& x, std::vector<Plain>* y,
                      std::string*) { return *y = x, true; })};
  };
  const Graph inner = Graph::Capture(held, {one}, "acme.Inner");
  Graph graph = inner;
  const Graph called = Graph::Capture(
      [&](const Values& in) -> Values { return {inner.Call(in)}; }, {one});
  const Graph decided = Graph::Capture(
      [&](const Values& in) -> Values {
        return {If(Greater(in[0], 0.0f), in, held,
                   [](const Values& x) -> Values { return x; })};
      },
      {one});
  for (const Graph& with : {graph, called, decided}) {
    ASSERT_TRUE(with.ok()) << with.error();
    EXPECT_FALSE(with.Compile().Save(path));
    EXPECT_THAT(LastError(), HasSubstr("node acme.Held#0, acme.Held, is of "
                                       "this process alone"));
  }
  ASSERT_EQ(graph.Replace(Pattern::Op("acme.Held", {Pattern::Any("x")}),
                          [](const Match& match) -> Values {
                            return {Relu(match["x"])};
                          }),
            1);
  ASSERT_TRUE(graph.Compile().Save(path)) << LastError();
  EXPECT_THAT(Program::Load(path).Run({Floats({1}, {-2})})[0].ToVector<float>(),
              ElementsAre(0));
}

TEST(Programs, ReportEveryNode) {
  const Values w = Weights();
  const Graph graph = Graph::Capture(
      Mlp, {Spec(Type::kFloat32, {4, 5}), w[0].spec(), w[1].spec()});
  const auto reports = graph.Report();
  ASSERT_EQ(reports.size(), 4u) << LastError();
  EXPECT_EQ(reports[0].name, "Matmul#0");
  EXPECT_EQ(reports[0].device, "host");
  EXPECT_EQ(reports[0].kernel, "eval");
  EXPECT_EQ(reports[0].compute.flops, 2 * 4 * 5 * 3);
  EXPECT_GT(graph.PredictMicroseconds(), 0);
  const auto measured =
      graph.Compile().Profile({Floats({4, 5}, Numbers(20)), w[0], w[1]}, 3);
  ASSERT_EQ(measured.size(), 4u) << LastError();
  EXPECT_EQ(measured[3].name, "Softmax#3");
  EXPECT_GT(measured[0].measured_us, 0);
  EXPECT_EQ(reports[0].measured_us, -1);
  EXPECT_EQ(graph.EstimateMemory().outputs, 4 * 2 * 5);
}

// One node for two: one report, with its kernel.
TEST(Programs, ReportRecognizedNodesOnce) {
  const auto swish = [](const Values& in) -> Values {
    return {in[0] * Sigmoid(in[0])};
  };
  const Graph graph = Graph::Capture(swish, {Spec(Type::kFloat32, {4, 5})});
  const auto reports = graph.Report();
  ASSERT_EQ(reports.size(), 1u) << LastError();
  EXPECT_EQ(reports[0].device, "host");
  EXPECT_EQ(reports[0].kernel, "eval");
  EXPECT_GT(reports[0].predicted_us, 0);
}

TEST(Programs, RunOnSeveralThreads) {
  const Program program =
      Graph::Capture(Mlp, {Spec(), Spec(), Spec()}).Compile();
  const Values w = Weights();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const Value x = Floats({4, 2}, Numbers(8, static_cast<float>(t)));
      const auto expected = Mlp({x, w[0], w[1]})[0].ToVector<float>();
      for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(program.Run({x, w[0], w[1]})[0].ToVector<float>(), expected);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tim::values
