// Holders and their order: at once and in graphs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tim/values/values.h"

namespace tim::values {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const bool g_on_host = [] {
  setenv("TIMCL_DEVICE", "host", 1);
  return true;
}();

using Values = std::vector<Value>;

Value Floats(const Shape& shape, const std::vector<float>& data) {
  return Value::Of<float>(shape, data);
}

// Twice its input.
HolderFunction Twice() {
  return [](const std::vector<Plain>& in, std::vector<Plain>* out,
            std::string* error) {
    const float* x = in[0].As<float>();
    if (x == nullptr) return *error = "float32 only", false;
    std::vector<float> y(x, x + in[0].bytes / sizeof(float));
    for (float& element : y) element *= 2;
    (*out)[0] = MakePlain(Spec(Type::kFloat32, in[0].spec.shape), y.data());
    return true;
  };
}

Outputs Hold(const Value& x, const Spec& spec, HolderFunction function) {
  return Holder("acme.Twice", {x}, {spec}, std::move(function));
}

TEST(Holders, RunAtOnceAndInGraphs) {
  const Spec two(Type::kFloat32, {2});
  const Value y = Hold(Floats({2}, {1, 2}), Spec(), Twice());
  ASSERT_TRUE(y.ok()) << y.error();
  EXPECT_THAT((y + 1.0f).ToVector<float>(), ElementsAre(3, 5));
  const Graph graph = Graph::Capture(
      [&](const Values& in) -> Values {
        return {Relu(Value(Hold(in[0] - 1.0f, two, Twice())))};
      },
      {two});
  ASSERT_TRUE(graph.ok()) << graph.error();
  EXPECT_THAT(graph.Dump(), HasSubstr("acme.Twice"));
  EXPECT_THAT(graph.Dump(), Not(HasSubstr("order")));
  const Program program = graph.Compile();
  EXPECT_THAT(program.Run({Floats({2}, {0, 4})})[0].ToVector<float>(),
              ElementsAre(0, 6));
  EXPECT_THAT(Value(graph.Call({Floats({2}, {0, 5})})).ToVector<float>(),
              ElementsAre(0, 8));
}

TEST(Holders, FailByName) {
  const Spec two(Type::kFloat32, {2});
  const Value x = Floats({2}, {1, 2});
  const HolderFunction refuses = [](const std::vector<Plain>&,
                                    std::vector<Plain>*, std::string* error) {
    *error = "not today";
    return false;
  };
  const HolderFunction throws = [](const std::vector<Plain>&,
                                   std::vector<Plain>*, std::string*) -> bool {
    throw std::runtime_error("thrown");
  };
  const HolderFunction silent = [](const std::vector<Plain>&,
                                   std::vector<Plain>*,
                                   std::string*) { return true; };
  const HolderFunction wrong = [](const std::vector<Plain>&,
                                  std::vector<Plain>* out, std::string*) {
    const float data[3] = {};
    (*out)[0] = MakePlain(Spec(Type::kFloat32, {3}), data);
    return true;
  };
  const struct {
    HolderFunction function;
    const char* text;
  } cases[] = {{refuses, "holder acme.Twice: not today"},
               {throws, "thrown"},
               {silent, "holder acme.Twice: output 0 got no data"},
               {wrong, "holder acme.Twice: output 0: axis 0 is 2, not 3"}};
  for (const auto& one : cases) {
    EXPECT_THAT(Hold(x, two, one.function).error(), HasSubstr(one.text));
    const Program program = Graph::Capture(
                                [&](const Values& in) -> Values {
                                  return {Hold(in[0], two, one.function)};
                                },
                                {two})
                                .Compile();
    const Value y = program.Run({x})[0];
    EXPECT_FALSE(y.Wait());
    EXPECT_THAT(y.error(), HasSubstr(one.text));
  }
  const Graph empty = Graph::Capture(
      [&](const Values& in) -> Values { return {Hold(in[0], two, nullptr)}; },
      {two});
  EXPECT_TRUE(empty.ok());
  EXPECT_THAT(empty.Compile().error(),
              HasSubstr("holder acme.Twice#0 has no function"));
  EXPECT_THAT(Hold(x, two, nullptr).error(), HasSubstr("has no function"));
  EXPECT_FALSE(Holder("", {x}, {two}).ok());
  EXPECT_FALSE(Holder("a", {x}, {Spec(Type::kUnknown, {2})}).ok());
}

TEST(Holders, RunAsynchronously) {
  std::atomic<bool> open = false;
  const Spec one(Type::kFloat32, {1});
  const HolderFunction slow = [&](const std::vector<Plain>& in,
                                  std::vector<Plain>* out, std::string* error) {
    while (!open) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const float x = in[0].As<float>()[0];
    if (x == 2) return *error = "no twos", false;
    (*out)[0] = MakePlain(in[0].spec, &x);
    return true;
  };
  Program program = Graph::Capture(
                        [&](const Values& in) -> Values {
                          return {Holder("acme.Slow", {in[0]}, {one}, slow)};
                        },
                        {one})
                        .Compile();
  ASSERT_TRUE(program.Prepare({one})) << LastError();
  Values results;
  std::atomic<int> calls = 0;
  for (int i = 0; i < 3; ++i) {
    results.push_back(
        program.Run({Floats({1}, {static_cast<float>(i + 1)})})[0]);
    EXPECT_FALSE(results.back().ready());
    results.back().event().Then([&](bool) { ++calls; });
  }
  open = true;
  EXPECT_THAT(results[0].ToVector<float>(), ElementsAre(1));
  EXPECT_FALSE(results[1].Wait());
  EXPECT_THAT(results[1].error(), HasSubstr("no twos"));
  EXPECT_THAT((results[2] + 1.0f).ToVector<float>(), ElementsAre(4));
  for (int i = 0; i < 1000 && calls < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(calls, 3);
}

TEST(Holders, KeepTheirOrder) {
  std::mutex mutex;
  std::vector<int> seen;
  const Spec one(Type::kFloat32, {1});
  const auto note = [&](const Value& x, int what) -> Value {
    Effects ordered;
    ordered.ordered = true;
    return Holder(
        "acme.Note", {x}, {one},
        [&, what](const std::vector<Plain>& in, std::vector<Plain>* out,
                  std::string*) {
          const std::lock_guard<std::mutex> lock(mutex);
          seen.push_back(what);
          (*out)[0] = in[0];
          return true;
        },
        ordered);
  };
  const Graph graph = Graph::Capture(
      [&](const Values& in) -> Values {
        note(in[0], 1);
        note(in[0] + 1.0f, 2);
        return {in[0] * 2.0f};
      },
      {one});
  ASSERT_TRUE(graph.ok()) << graph.error();
  EXPECT_THAT(graph.Dump(), HasSubstr("order"));
  const Program program = graph.Compile();
  Values results;
  for (int i = 0; i < 50; ++i) {
    results.push_back(program.Run({Floats({1}, {1})})[0]);
  }
  for (const Value& y : results) EXPECT_TRUE(y.Wait()) << y.error();
  ASSERT_EQ(seen.size(), 100u);
  for (size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i], static_cast<int>(i % 2) + 1) << i;
  }
}

// Computes with values itself: one more than twice what is positive.
HolderFunction Computes() {
  return [](const std::vector<Plain>& in, std::vector<Plain>* out,
            std::string* error) {
    const Value x = Value::FromHost(in[0].spec, in[0].data.get());
    const ModeScope lazy(Mode::kLazy);
    (*out)[0] = (Relu(x * 2.0f) + 1.0f).ToPlain();
    if (!(*out)[0]) *error = LastError();
    return static_cast<bool>((*out)[0]);
  };
}

TEST(Holders, ComputeWithValues) {
  const Spec two(Type::kFloat32, {2});
  Effects ordered;
  ordered.ordered = true;
  for (const Effects& effects : {Effects(), ordered}) {
    const Graph inner = Graph::Capture(
        [&](const Values& in) -> Values {
          const Outputs held = Holder("acme.Computes", {in[0] + 1.0f}, {two},
                                      Computes(), effects);
          return {Value(held) - 1.0f};
        },
        {two}, "acme.Inner");
    const Graph outer = Graph::Capture(
        [&](const Values& in) -> Values {
          return {inner.Call({Value(inner.Call(in))})};
        },
        {two});
    ASSERT_TRUE(outer.ok()) << outer.error();
    const Value x = Floats({2}, {1, -3});
    const Value y = outer.Call({x});
    EXPECT_THAT(y.ToVector<float>(), ElementsAre(10, 2)) << y.error();
    EXPECT_THAT(outer.Compile().Run({x})[0].ToVector<float>(),
                ElementsAre(10, 2));
    const ModeScope lazy(Mode::kLazy);
    EXPECT_THAT(Value(outer.Call({x * 1.0f})).ToVector<float>(),
                ElementsAre(10, 2));
    // The operator of a node, as patterns give it.
    const Match found =
        inner.FindAll(Pattern::Op("acme.Computes", {}, "held")).at(0);
    EXPECT_THAT(Value(found.node("held").Forward({x})).ToVector<float>(),
                ElementsAre(3, 1));
  }
}

TEST(Holders, TakeOperandsOfRankZero) {
  const Graph graph = Graph::Capture(
      [](const Values& in) -> Values {
        const Value sum = ReduceSum(in[0], {0});
        return {Hold(sum, sum.spec(), Twice())};
      },
      {Spec(Type::kFloat32, {2})});
  const Value x = Floats({2}, {1, 2});
  for (const Value& y : {graph.Compile().Run({x})[0], Value(graph.Call({x}))}) {
    EXPECT_THAT(y.ToVector<float>(), ElementsAre(6)) << y.error();
    EXPECT_EQ(y.spec().shape.rank(), 0);
  }
}

}  // namespace
}  // namespace tim::values
