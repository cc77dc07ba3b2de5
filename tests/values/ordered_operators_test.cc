// Operators whose effects are ordered, as plug-ins have them: every call of a
// graph is evaluated once per run, in the order of the program text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ir/op_schema.h"
#include "ops/registered.h"
#include "tests/values/fake_devices.h"
#include "tim/values/values.h"

namespace tim::values {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const bool g_on_host = [] {
  setenv("TIMCL_DEVICE", "host", 1);
  setenv("TIMCL_STRICT", "0", 1);
  return true;
}();

using Values = std::vector<Value>;
const Spec kOne(Type::kFloat32, {1});

Value One(float x) { return Value::Of<float>({1}, {x}); }

// Numbers that evaluations of acme.Append noted.
class Notes {
 public:
  static Notes& Get() {
    static auto* const notes = new Notes();
    return *notes;
  }
  void Add(int what) {
    const std::lock_guard<std::mutex> lock(mutex_);
    noted_.push_back(what);
  }
  std::vector<int> Take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(noted_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<int> noted_;
};

// acme.Append is the identity of one operand, as that of a plug-in has a fixed
// arity; acme.Next has no operand, and gives what it notes.
const bool g_registered = [] {
  ops::RegisterOperators("acme.Append", [](ir::OpRegistry& registry) {
    ir::OpSchema schema;
    schema.domain = "acme";
    schema.name = "Append";
    schema.inputs = {1, 1};
    schema.attributes = {{.name = "what", .type = ir::AttributeType::kInt}};
    schema.effects.ordered = true;
    schema.infer_shapes = [](ir::InferContext& context) {
      context.outputs[0].desc = *context.inputs[0].desc;
      return OkStatus();
    };
    schema.eval = [](const ir::EvalContext& context) {
      Notes::Get().Add(static_cast<int>(context.attributes().Int("what")));
      std::memcpy(context.outputs[0].data, context.inputs[0].data,
                  sizeof(float));
      return OkStatus();
    };
    schema.memory_estimate = [](const ir::NodeView&) { return int64_t{0}; };
    schema.compute_estimate = [](const ir::NodeView&) {
      return ir::ComputeEstimate();
    };
    registry.Add(schema);
    schema.name = "Next";
    schema.inputs = {0, 0};
    schema.infer_shapes = [](ir::InferContext& context) {
      context.outputs[0].desc.type = ir::DataType::kFloat32;
      context.outputs[0].desc.shape = ir::Shape{1};
      return OkStatus();
    };
    schema.eval = [](const ir::EvalContext& context) {
      const int64_t what = context.attributes().Int("what");
      Notes::Get().Add(static_cast<int>(what));
      *static_cast<float*>(context.outputs[0].data) = static_cast<float>(what);
      return OkStatus();
    };
    registry.Add(schema);
  });
  return true;
}();

Value Append(const Value& x, int what) {
  return Call("acme.Append", {x}, {{"what", what}});
}

Value Next(int what) { return Call("acme.Next", {}, {{"what", what}}); }

Pattern Appended(int what) {
  return Pattern::Op("acme.Append", {Pattern::Any("x")}, "append")
      .With("what", what);
}

Graph Captured(const Function& function, const std::string& name = "") {
  Graph graph = Graph::Capture(function, {kOne}, name);
  EXPECT_TRUE(graph.ok()) << graph.error();
  return graph;
}

// Runs the graph frozen, and as a part of another one.
void ExpectNotes(const Graph& graph, const std::vector<int>& wanted) {
  const Program program = graph.Compile();
  ASSERT_TRUE(program.ok()) << program.error();
  float unused = 0;
  const std::vector<void*> outputs(graph.OutputSpecs().size(), &unused);
  for (int i = 0; i < 2; ++i) {
    const Event event = program.RunInto({One(1)}, outputs);
    ASSERT_TRUE(event.Wait()) << event.error();
    EXPECT_EQ(Notes::Get().Take(), wanted);
  }
  const Graph outer = Captured([&](const Values& in) -> Values {
    graph.Call({Append(in[0], 0)});
    return {Append(in[0], 99)};
  });
  const Value y = outer.Compile().Run({One(1)})[0];
  ASSERT_TRUE(y.Wait()) << y.error();
  std::vector<int> within = wanted;
  within.insert(within.begin(), 0);
  within.push_back(99);
  EXPECT_EQ(Notes::Get().Take(), within);
  if (graph.OutputSpecs().empty()) return;
  EXPECT_TRUE(graph.Call({One(1)}).signal().Wait()) << LastError();
  EXPECT_EQ(Notes::Get().Take(), wanted);
}

TEST(OrderedOperators, KeepTheirOrderOnStreams) {
  const Fake fake({.max_delay_us = 300});
  // The operand of the second is there long before that of the first.
  const Graph graph = Captured([](const Values& in) -> Values {
    Value late = in[0];
    for (int i = 0; i < 4; ++i) late = late + 1.0f;
    const Value first = Append(late, 1);
    const Value second = Append(in[0] * 2.0f, 2);
    Next(3);
    return {first + second};
  });
  const Program program = fake.Compile(graph, "streams=2");
  ASSERT_TRUE(program.ok()) << program.error();
  Values results;
  for (int i = 0; i < 100; ++i) results.push_back(program.Run({One(1)})[0]);
  for (const Value& y : results) {
    ASSERT_THAT(y.ToVector<float>(), ElementsAre(7)) << y.error();
  }
  const std::vector<int> noted = Notes::Get().Take();
  ASSERT_EQ(noted.size(), 300u);
  for (size_t i = 0; i < noted.size(); ++i) {
    ASSERT_EQ(noted[i], static_cast<int>(i % 3) + 1) << i;
  }
}

TEST(OrderedOperators, AreEvaluatedOncePerCall) {
  ExpectNotes(Captured([](const Values& in) -> Values {
                Append(in[0], 7);
                Append(in[0], 7);
                Next(3);
                Next(3);
                return {in[0] * 2.0f};
              }),
              {7, 7, 3, 3});
}

// Results that nobody makes, and none at all.
TEST(OrderedOperators, RunWithoutResults) {
  ExpectNotes(Captured([](const Values& in) -> Values {
                Append(in[0], 1);
                Next(2);
                return {in[0]};
              }),
              {1, 2});
  ExpectNotes(Captured([](const Values& in) -> Values {
                Append(in[0], 1);
                return {};
              }),
              {1});
}

TEST(OrderedOperators, KeepTheirPlacesInCalledGraphs) {
  const Graph inner = Captured(
      [](const Values& in) -> Values {
        Append(in[0], 2);
        return {Append(in[0] + 1.0f, 3)};
      },
      "inner");
  const Graph block = Captured(
      [&](const Values& in) -> Values {
        inner.Call(in);
        Append(in[0], 4);
        return {inner.Call(in)};
      },
      "block");
  ExpectNotes(Captured([&](const Values& in) -> Values {
                Append(in[0], 1);
                block.Call(in);
                const Value y = Append(in[0], 5);
                inner.Call({One(3)});
                Append(in[0], 6);
                return {y};
              }),
              {1, 2, 3, 4, 2, 3, 5, 2, 3, 6});
}

TEST(OrderedOperators, KeepTheirPlacesInDecisionsAndLoops) {
  const auto part = [](int what) -> Function {
    return [what](const Values& in) -> Values { return {Append(in[0], what)}; };
  };
  ExpectNotes(
      Captured([&](const Values& in) -> Values {
        Append(in[0], 1);
        If(Greater(in[0], 0.0f), in, part(2), part(3));
        Append(in[0], 4);
        const Outputs end = While(
            in, [](const Values& x) { return Less(Append(x[0], 5), 3.0f); },
            [](const Values& x) -> Values { return {Append(x[0] + 1.0f, 6)}; });
        Append(in[0], 7);
        return {end};
      }),
      {1, 2, 4, 5, 6, 5, 6, 5, 7});
}

TEST(OrderedOperators, KeepTheirOrderAmongHolders) {
  const auto hold = [](const Value& x, int what) -> Value {
    Effects ordered;
    ordered.ordered = true;
    return Holder(
        "acme.Hold", {x}, {kOne},
        [what](const std::vector<Plain>& in, std::vector<Plain>* out,
               std::string*) {
          Notes::Get().Add(what);
          return (*out)[0] = in[0], true;
        },
        ordered);
  };
  ExpectNotes(Captured([&](const Values& in) -> Values {
                Append(in[0], 1);
                hold(in[0], 2);
                Next(3);
                Append(in[0], 4);
                hold(in[0], 5);
                return {in[0] + 1.0f};
              }),
              {1, 2, 3, 4, 5});
}

TEST(OrderedOperators, AreReplacedInTheirPlaces) {
  const Function function = [](const Values& in) -> Values {
    Append(in[0], 1);
    const Value y = Append(in[0] + 1.0f, 2);
    Append(in[0], 3);
    Append(in[0], 4);
    return {y};
  };
  const auto by = [](std::vector<int> whats) {
    return [whats](const Match& match) -> Values {
      Value x = match["x"];
      for (const int what : whats) x = Append(x, what);
      return {x};
    };
  };
  Graph graph = Captured(function);
  ASSERT_EQ(graph.Replace(Appended(2), by({5, 6})), 1) << LastError();
  ExpectNotes(graph, {1, 5, 6, 3, 4});
  ASSERT_EQ(graph.Replace(Appended(3), by({})), 1) << LastError();
  ExpectNotes(graph, {1, 5, 6, 4});
  ExpectNotes(graph.Specialize({kOne}), {1, 5, 6, 4});
  ASSERT_EQ(graph.Replace(Appended(5), by({7})), 1) << LastError();
  ExpectNotes(graph, {1, 7, 6, 4});
}

TEST(OrderedOperators, AreSavedWithTheirOrder) {
  const std::string path = ::testing::TempDir() + "/ordered.timvals";
  Graph graph = Captured([](const Values& in) -> Values {
    Append(in[0] + 1.0f, 1);
    Append(in[0], 2);
    return {Append(in[0], 3)};
  });
  ASSERT_EQ(graph.Replace(Appended(1),
                          [](const Match& match) -> Values {
                            return {Append(match["x"], 4)};
                          }),
            1)
      << LastError();
  ASSERT_TRUE(graph.Compile().Save(path)) << LastError();
  const Program loaded = Program::Load(path);
  Values results;
  for (int i = 0; i < 20; ++i) results.push_back(loaded.Run({One(1)})[0]);
  for (const Value& y : results) EXPECT_TRUE(y.Wait()) << y.error();
  const std::vector<int> noted = Notes::Get().Take();
  ASSERT_EQ(noted.size(), 60u);
  for (size_t i = 0; i < noted.size(); i += 3) {
    EXPECT_THAT(std::vector<int>(noted.begin() + static_cast<int>(i),
                                 noted.begin() + static_cast<int>(i) + 3),
                ElementsAre(4, 2, 3));
  }
}

TEST(OrderedOperators, FollowTokens) {
  const Graph graph = Captured([](const Values& in) -> Values {
    const Node node("acme.Append", {{"what", 1}});
    const Outputs first = node.Forward(in);
    EXPECT_TRUE(first.signal().ok());
    const Node second("acme.Append", {{"what", 2}});
    return {second.Forward(in, {first.signal()})};
  });
  ExpectNotes(graph, {1, 2});
}

// At once on two devices, of which one is late, and lazily.
TEST(OrderedOperators, RunInTheOrderOfCalls) {
  const Fake fake({.max_delay_us = 2000});
  const Value there = fake.front.Move(One(1));
  for (const Mode mode : {Mode::kEager, Mode::kLazy}) {
    const ModeScope scope(mode);
    std::vector<int> wanted;
    for (int i = 0; i < 10; ++i) {
      Append(there, 2 * i);
      Append(One(1), 2 * i + 1);
      wanted.push_back(2 * i);
      wanted.push_back(2 * i + 1);
    }
    EXPECT_EQ(Notes::Get().Take(), wanted);
  }
}

}  // namespace
}  // namespace tim::values
